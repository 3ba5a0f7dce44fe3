"""Decorators that declare functions as tools, resources and prompts of a pack."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from copy import deepcopy
from functools import partial
from types import ModuleType, NoneType
from typing import Annotated, Any, TypedDict, TypeVar, Unpack, get_args, get_origin, get_type_hints, overload

import msgspec

from duvet.tools.arguments import is_record
from duvet.tools.plugin_runner import PackContext
from duvet.tools.tool import ArgumentShortcut, ErrorCode, Pack, PackPrompt, PackResource, PartText, Scope, Tool

_MARK = "__duvet_part__"
_PARAMETER = re.compile(r"\s*(?::param\s+)?\*{0,2}(?P<name>\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>\S.*)")
_HEADING = re.compile(r"\s*(?:Args|Arguments|Parameters|Returns?|Raises|Examples?)\s*:?\s*\Z|\s*:returns?:")
Function = TypeVar("Function", bound=Callable[..., object])
TextFunction = TypeVar("TextFunction", bound=Callable[..., str | Awaitable[str]])


class PartOptions(TypedDict, total=False):
    name: str
    title: str


class ResourceOptions(PartOptions, total=False):
    mime_type: str


class ToolOptions(PartOptions, total=False):
    writes: bool
    is_idempotent: bool
    replaces: bool
    labels: Sequence[str]
    safety_notes: Sequence[str]
    invocation_hints: Sequence[str]
    time_limit: float | None
    aliases: Sequence[str]
    reads: bool | None
    shortcuts: Sequence[ArgumentShortcut]
    accountable: Sequence[str]
    failures: Sequence[ErrorCode]
    longest: int | None


@overload
def tool(function: Function, /, **options: Unpack[ToolOptions]) -> Function: ...
@overload
def tool(function: None = None, /, **options: Unpack[ToolOptions]) -> Callable[[Function], Function]: ...
def tool(function: Any = None, /, *, writes: bool = False, **options: Any) -> Any:
    """Declare a function as a tool; its types become schemas, and its docstring describes the tool and its arguments."""
    scope = Scope.MAINTAINER if writes else Scope.READER
    return _declare(function, _make_tool, {"scope": scope, "is_idempotent": not writes, **options})


@overload
def resource(function: Function, /, **options: Unpack[ResourceOptions]) -> Function: ...
@overload
def resource(function: None = None, /, **options: Unpack[ResourceOptions]) -> Callable[[Function], Function]: ...
def resource(function: Any = None, /, *, mime_type: str = "", **options: Any) -> Any:
    """Declare a function as a resource at `duvet:///packs/PACK/NAME`; a result that is not text is served as JSON."""

    def make(function: Callable[..., Any], **options: Any) -> PackResource:
        made = _make_tool(function, is_text=True, **options)
        if msgspec.structs.fields(made.input):
            raise TypeError(f"{made.name}: a resource takes no parameters except a PackContext")
        is_text = get_type_hints(function).get("return") is str
        return PackResource(made, mime_type or ("text/plain" if is_text else "application/json"))

    return _declare(function, make, options)


@overload
def prompt(function: TextFunction, /, **options: Unpack[PartOptions]) -> TextFunction: ...
@overload
def prompt(function: None = None, /, **options: Unpack[PartOptions]) -> Callable[[TextFunction], TextFunction]: ...
def prompt(function: Any = None, /, **options: Any) -> Any:
    """Declare a function as a prompt; the function takes strings and returns text."""

    def make(function: Callable[..., Any], **options: Any) -> PackPrompt:
        made = _make_tool(function, is_text=True, **options)
        if any(_strip_annotation(one.type) is not str for one in msgspec.structs.fields(made.input)):
            raise TypeError(f"{made.name}: the parameters of a prompt must be of type str")
        return PackPrompt(made)

    return _declare(function, make, options)


def _declare(function: Any, make: Callable[..., object], options: Mapping[str, Any]) -> Any:
    if function is None:
        return lambda function: _declare(function, make, options)
    setattr(function, _MARK, make(function, **options))
    return function


def _make_tool(
    function: Callable[..., Any], *, name: str = "", title: str = "", is_text: bool = False, **options: Any
) -> Tool:
    name, own_name = name or function.__name__, function.__name__
    words = re.sub(r"[_.-]+", " ", name).strip()
    title = title or words[:1].upper() + words[1:]
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    description, texts = _parse_docstring(function.__doc__ or "", parameters)
    fields, context = [], ""
    for key, parameter in parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{own_name}: the parameter {parameter} can't be passed by name")
        if key not in hints:
            raise TypeError(f"{own_name}: the parameter {key} has no type")
        kind, default = hints[key], parameter.default
        if _strip_annotation(kind) is PackContext:
            context = key
            continue
        _require_schema(f"{own_name}: the parameter {key}", kind)
        if key in texts and "description" not in str(get_args(kind)[1:]):
            kind = Annotated[kind, msgspec.Meta(description=texts[key])]
        if isinstance(default, list | dict | set):
            default = msgspec.field(default_factory=partial(deepcopy, default))
        fields.append((key, kind) if default is parameter.empty else (key, kind, default))
    record = msgspec.defstruct("Input", fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
    wrapper, output = (PartText, PartText) if is_text else _choose_output(name, hints.get("return", Any))
    return Tool(
        name=name,
        title=title,
        description=description or title,
        input=record,
        output=output,
        handler=_make_handler(function, context, wrapper),
        **options,
    )


def collect_pack(name: str, module: ModuleType) -> Pack | None:
    ##= man/spec/service.md#packs
    ##% A function in the file of a pack MUST become a tool, a resource or a prompt if it has one of duvet's decorators.
    # A function may have several names in its module.
    values = {id(value): value for value in vars(module).values()}.values()
    parts = [part for value in values if (part := getattr(value, _MARK, None)) is not None]
    if not parts:
        return None
    return Pack(
        name,
        tuple(part for part in parts if isinstance(part, Tool)),
        (module.__doc__ or "").strip().partition("\n")[0],
        str(getattr(module, "__version__", "")),
        resources=tuple(part for part in parts if isinstance(part, PackResource)),
        prompts=tuple(part for part in parts if isinstance(part, PackPrompt)),
    )


def _strip_annotation(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


def _require_schema(what: str, kind: Any) -> None:
    try:
        msgspec.json.schema_components([kind])
    except TypeError as error:
        raise TypeError(f"{what} has a type without a JSON Schema: {error}") from error


def _choose_output(name: str, answer: Any) -> tuple[type[msgspec.Struct] | None, Any]:
    kind = _strip_annotation(answer)
    if is_record(kind):
        return None, kind
    arguments = get_args(kind)
    if get_origin(kind) in (list, tuple, Sequence) and arguments and is_record(arguments[0]):
        return None, tuple[arguments[0], ...]  # type: ignore[valid-type]
    _require_schema(f"{name}: the result", answer)
    wrapper = msgspec.defstruct("Output", [("result", None if kind is NoneType else answer)], frozen=True)
    return wrapper, wrapper


def _make_handler(
    function: Callable[..., Any], context: str, wrapper: type[msgspec.Struct] | None
) -> Callable[[Any, Any], Any]:
    # `context` is the name of the parameter for the context, or empty.

    def call(request: Any, ctx: Any) -> Any:
        return function(**msgspec.structs.asdict(request), **({context: ctx} if context else {}))

    def wrap(result: Any) -> Any:
        if wrapper is PartText and not isinstance(result, str):
            result = msgspec.json.encode(result).decode()
        return result if wrapper is None else wrapper(result)

    async def handle_later(request: Any, ctx: Any) -> Any:
        return wrap(await call(request, ctx))

    return handle_later if inspect.iscoroutinefunction(function) else lambda request, ctx: wrap(call(request, ctx))


def _parse_docstring(text: str, parameters: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    described: list[str] = []
    texts: dict[str, str] = {}
    current, is_open = "", True
    for line in inspect.cleandoc(text).splitlines():
        match = _PARAMETER.match(line)
        if match and match["name"] in parameters:
            current = match["name"]
            texts[current], is_open = match["text"].strip(), False
        elif _HEADING.match(line):
            current, is_open = "", False
        elif current and line.startswith(" ") and line.strip():
            texts[current] += f" {line.strip()}"
        else:
            current = ""
            if is_open:
                described.append(line.strip())
    return " ".join(" ".join(described).split()), texts
