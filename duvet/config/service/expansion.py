"""Puts the values of environment variables where their names stand, and secrets out of sight."""

from __future__ import annotations

from typing import Any

from msgspec import inspect

from duvet import rules
from duvet.config.at import At
from duvet.config.fields import Option, options
from duvet.config.secret import Secret
from duvet.config.variables import VariableError, filled_in, is_variable
from duvet.model import Problem


class Expansion:
    """Goes through values beside the types that they should have, and notes what has no value."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def expanded(self, kind: inspect.Type, value: Any, at: At) -> Any:
        """The value with its variables filled in; what is of another type stays as it is."""
        for choice in options(kind):
            match choice.type, value:
                case inspect.StructType(fields=fields), dict():
                    kinds = {field.encode_name: field.type for field in fields}
                    return {
                        name: self.expanded(kinds[name], inner, at / name) if name in kinds else inner
                        for name, inner in value.items()
                    }
                case inspect.DictType(value_type=inner_kind), dict() if not choice.expands:
                    return {name: self.expanded(inner_kind, inner, at / name) for name, inner in value.items()}
                case inspect.VarTupleType(item_type=item), list():
                    return [self.expanded(item, inner, at / index) for index, inner in enumerate(value)]
                case inspect.CustomType(cls=kind_of), str() if kind_of is Secret:
                    return self._secret(value, at)
                case _ if choice.expands:
                    return self._free(value, choice, at)
        return value

    def _free(self, value: Any, choice: Option, at: At) -> Any:
        match value:
            case dict():
                return {name: self._free(inner, choice, at / name) for name, inner in value.items()}
            case list():
                return [self._free(inner, choice, at / index) for index, inner in enumerate(value)]
            case str():
                return self._text(value, choice, at)
        return value

    def _text(self, text: str, choice: Option, at: At) -> str:
        filled = self._filled(text, at)
        if filled != text:
            what = f"not {choice.wanted}" if choice.wanted else "blank"
            self._note(choice.refuses(filled), f"once its variables are filled in, this is {what}", at)
        return filled

    def _secret(self, text: str, at: At) -> Secret | str:
        """What isn't a variable stays what it is: that is a problem already."""
        if not is_variable(text):
            return text
        filled = self._filled(text, at)
        ##= man/spec/service.md#configuration
        ##% The value of a secret, or of a variable, MUST NOT be shown by any message, hint or excerpt.
        wrong = filled != text and not (filled.strip() and filled.isprintable())
        self._note(wrong, "the variable holds nothing, or characters that no key has", at)
        return Secret(filled)

    def _filled(self, text: str, at: At) -> str:
        try:
            return filled_in(text, at.environ)
        except VariableError as error:
            self.problems.append(at.problem(rules.CONFIG_BAD_TEMPLATE, error.message, error.hint))
            return text

    def _note(self, wrong: bool, message: str, at: At) -> None:
        if wrong:
            self.problems.append(at.problem(rules.CONFIG_BAD_VALUE, message, "set the variable to another value"))
