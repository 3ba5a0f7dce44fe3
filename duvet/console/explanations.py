"""The topics of `duvet explain`: rules, states, levels and configuration keys."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from duvet.config.keys import ConfigurationKey, find_keys, list_keys, simplify_key
from duvet.errors import NotFoundError
from duvet.queries.gaps import STATES_BY_WORD, fold_word
from duvet.rules import list_rules
from duvet.templates import example_specification, load_level_pages, load_rule_page, load_state_pages
from duvet.text import join_names, quote_text, suggest_nearest

_MOST_NAMES = 10
_LIST_HINT = "run `duvet explain` to list all topics"


class Topic(Struct, frozen=True):
    """A row of the list of topics."""

    name: str
    kind: str
    summary: str


class RuleRow(Struct, frozen=True):
    """A row of the list of rules."""

    code: str
    name: str
    severity: str
    summary: str


def list_rule_rows() -> list[RuleRow]:
    return [
        RuleRow(rule.code, rule.name, rule.severity.value, load_rule_page(rule.code).summary)
        for rule in list_rules().values()
    ]


def list_topics() -> list[Topic]:
    """Return everything that can be explained: rules, states, levels, and the keys of both files."""
    pages = (("state", load_state_pages()), ("level", load_level_pages()))
    # If both files have the same key, list the project's.
    keys = {key.path: key.description for key in reversed(list_keys())}
    return [
        *(Topic(row.code, "rule", row.summary) for row in list_rule_rows()),
        *(
            Topic(name, kind, _join_lines(text.split("\n\n")[1]))
            for kind, found in pages
            for name, text in found.items()
        ),
        *(Topic(path, "key", description) for path, description in reversed(keys.items())),
    ]


def explain_topic(name: str) -> str:
    """Return the page of a rule, a state, a level or a key; raise NotFoundError with similar names."""
    ##= man/spec/problems.md#rules
    ##% `duvet explain` MUST print the page of a rule, a state, a level or a configuration key, and suggest similar
    ##% names for an unknown one.
    if page := find_short_page(name):
        return page
    keys = find_keys(name)
    if state := load_state_pages().get(_normalise_state(name)):
        # The state `not applicable` and the table `not-applicable` share their name.
        keys = tuple(key for key in keys if simplify_key(key.path) == simplify_key(name.replace(" ", "")))
        return "\n".join([state, *map(_render_key, keys)])
    paths = {simplify_key(key.path): key.path for key in keys}
    if len(paths) > 1:
        message = f"{len(paths)} keys end with {quote_text(name)}"
        raise NotFoundError(message, hint=f"available: {join_names(tuple(paths.values()), _MOST_NAMES)}")
    if keys:
        return "\n".join(map(_render_key, keys))
    if name.strip().isdigit() and _load_rule_page(code := f"DUV{name.strip():0>3}"):
        raise NotFoundError(f"no rule, state, level or key is named {quote_text(name)}", hint=f"did you mean {code}?")
    names = [*_list_rule_names(), *load_state_pages(), *(key.path for key in list_keys())]
    hint = suggest_nearest(name, names) or _LIST_HINT
    raise NotFoundError(f"no rule, state, level or key is named {quote_text(name)}", hint=hint)


def find_short_page(name: str) -> str:
    """Return the page of a rule or a level; empty if neither has this name."""
    return _load_rule_page(name) or load_level_pages().get(name.strip().upper(), "")


def is_topic(name: str) -> bool:
    """Return whether a rule, a state or a level has this name."""
    return bool(find_short_page(name)) or _normalise_state(name) in load_state_pages()


def _load_rule_page(name: str) -> str:
    key = name.strip().casefold()
    codes = [rule.code for rule in list_rules().values() if key in (rule.code.casefold(), rule.name)]
    text = load_rule_page(codes[0]).text if codes else ""
    ##= man/spec/problems.md#rules
    ##% `duvet explain` MUST show the specification that the examples of a rule page cite.
    if "spec.md#" in text and "```markdown spec.md" not in text:
        return text.replace("## Bad\n", f"{example_specification()}## Bad\n")
    return text


def _list_rule_names() -> list[str]:
    return [alias for rule in list_rules().values() for alias in (rule.code, rule.name)]


def _normalise_state(name: str) -> str:
    # Some former names mean several states; the most typical one comes first.
    states = STATES_BY_WORD.get(fold_word(name))
    return states[0].words if states else ""


def _join_lines(paragraph: str) -> str:
    return " ".join(paragraph.split())


def _render_key(key: ConfigurationKey) -> str:
    return "".join(f"{line}\n" for line in _list_key_lines(key))


def _list_key_lines(key: ConfigurationKey) -> Iterator[str]:
    yield from (f"# {key.path}", "", f"{key.description.rstrip('.')}." if key.description else "", "")
    facts = {
        "type": key.type,
        "default": f"`{key.default}`" if key.default else "" if key.below else "none",
        "keys": ", ".join(key.below),
        "file": key.file,
        "schema": key.schema,
    }
    yield from (f"- {name}: {value}" for name, value in facts.items() if value)
    if key.example:
        yield from ("", "Example, as TOML:", "", *(f"    {line}" for line in key.example.splitlines()))
