"""How often a client may ask."""

from __future__ import annotations

import pytest

from duvet.server.http.guards import TokenBuckets, find_client_address


class Clock:
    """Goes on when it is told to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_empties_and_fills() -> None:
    clock = Clock()
    buckets = TokenBuckets(2, 3, 10, clock)
    assert [buckets.wait("a") for _ in range(4)] == [0, 0, 0, 0.5]
    assert buckets.wait("b") == 0
    clock.now += 0.5
    assert [buckets.wait("a"), buckets.wait("a")] == [0, 0.5]
    clock.now += 60
    assert [buckets.wait("a") for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_batch_costs_more_but_never_too_much() -> None:
    buckets = TokenBuckets(1, 3, 10, Clock())
    assert [buckets.wait("a", 50), buckets.wait("a", 50)] == [0, 3]


def test_any_number() -> None:
    buckets = TokenBuckets(0, 0, 10, Clock())
    assert ([buckets.wait("a") for _ in range(100)], len(buckets)) == ([0] * 100, 0)


def test_clients_are_forgotten() -> None:
    buckets = TokenBuckets(1, 1, 2, Clock())
    assert [buckets.wait(one) for one in ("a", "b", "c", "b", "a")] == [0, 0, 0, 1, 0]
    assert len(buckets) == 2


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1:2:3:4", "2001:db8::"),
        ("fe80::1%eth0", "fe80::"),
        ("testclient", "testclient"),
    ],
)
def test_who_a_client_is(host: str, client: str) -> None:
    assert find_client_address({"client": (host, 1234)}) == client
