"""Bare arrays on the wire."""

from duvet.server.bare import unwrapped, wrapped


def test_an_array_goes_through_the_sdk_as_an_object_and_comes_out_bare() -> None:
    assert unwrapped(wrapped([{"id": "a"}])) == [{"id": "a"}]
    assert unwrapped({**wrapped([]), "resultType": "complete"}) == []


def test_an_object_stays_what_it_is() -> None:
    assert unwrapped({"id": "a"}) == {"id": "a"}
