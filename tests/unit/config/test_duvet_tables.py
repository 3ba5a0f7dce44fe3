from duvet.config.duvet_tables import find_pattern_fault


def test_invalid_patterns_are_reported() -> None:
    ##= man/spec/trace.md#requirements-in-markdown
    ##% duvet MUST refuse an id pattern that can take exponential time to match.
    faults = {
        **dict.fromkeys((r"[A-Z]+-\d+", r"REQ_\d{1,4}[a-z]?", r"(?:FOO|BAR)-\d+"), ""),
        **dict.fromkeys((r"(a+)+b", r"(?:[A-Z]+-)*\d+"), "a repetition inside a repetition can take exponential time"),
        r"(a|aa)+b": "alternatives inside a repetition can take exponential time",
        r"(a)\1": "back-references, conditions, look-around and atomic groups are not supported",
        r"a*": "it matches the empty string",
        r"(?P<x>a)": "it has named groups",
        r"a+b+c+d+e+": "it has more than 4 repetitions of variable length",
        r"[a": "not a regular expression: unterminated character set at position 0",
    }
    assert {pattern: find_pattern_fault(pattern) for pattern in faults} == faults
