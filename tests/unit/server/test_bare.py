"""Bare arrays on the wire."""

from duvet.server.messages import unwrap_array, wrap_array


def test_an_array_goes_through_the_sdk_as_an_object_and_comes_out_bare() -> None:
    assert unwrap_array(wrap_array([{"id": "a"}])) == [{"id": "a"}]
    assert unwrap_array({**wrap_array([]), "resultType": "complete"}) == []


def test_an_object_stays_what_it_is() -> None:
    assert unwrap_array({"id": "a"}) == {"id": "a"}
