"""A reproducible tree of files: several subsystems, code in five languages, tests and documents."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

SUBSYSTEMS = ("billing", "catalog", "delivery", "gateway", "identity", "ledger", "pricing", "search")
_WORDS = [
    *("account", "address", "amount", "archive", "attempt", "balance", "batch", "buffer", "cache", "cancel"),
    *("carrier", "cart", "channel", "charge", "client", "codec", "column", "commit", "config", "contract", "cursor"),
    *("customer", "deadline", "delivery", "digest", "discount", "document", "driver", "error", "event", "exchange"),
    *("export", "factor", "failure", "field", "filter", "format", "frame", "gate", "grant", "handle", "header"),
    *("history", "import", "index", "invoice", "item", "journal", "key", "label", "lease", "ledger", "limit", "line"),
    *("lock", "log", "margin", "match", "message", "meter", "method", "model", "network", "node", "notice", "offer"),
    *("option", "order", "origin", "packet", "page", "parcel", "partner", "path", "payment", "period", "policy"),
    *("port", "price", "product", "profile", "queue", "quota", "range", "rate", "record", "refund", "region"),
    *("report", "request", "reserve", "result", "retry", "review", "role", "route", "rule", "sample", "scale"),
    *("schedule", "scope", "segment", "session", "shelf", "signal", "source", "stage", "state", "stock", "store"),
    *("stream", "supplier", "table", "task", "tax", "tenant", "ticket", "timeout", "token", "topic", "trace"),
    *("transfer", "unit", "update", "user", "value", "vendor", "version", "view", "volume", "wallet", "warehouse"),
    *("window", "zone"),
]
_LANGUAGES = {
    "py": (
        "class {c}:\n    def {f}(self, {a}: int) -> int:\n",
        "        # {s}\n        {a} += {n}\n",
        "        return {a}\n\n",
    ),
    "ts": (
        "export class {c} {{\n  {f}({a}: number): number {{\n",
        "    // {s}\n    {a} += {n};\n",
        "    return {a};\n  }}\n}}\n\n",
    ),
    "tsx": ("export function {c}({a}: Props) {{\n", "  // {s}\n  use({n});\n", "  return <p>{{{a}}}</p>;\n}}\n\n"),
    "js": ("export function {f}({a}) {{\n", "  // {s}\n  {a} += {n};\n", "  return {a};\n}}\n\n"),
    "go": ("func {c}({a} int) int {{\n", "\t// {s}\n\t{a} += {n}\n", "\treturn {a}\n}}\n\n"),
}
"""The beginning of a declaration, one of its lines, and its end."""
_LINES = 5
_CATALOGUE = """ledger:
  description: What was paid, and by whom
  criticality: critical
  owner: accounts
  tags: [money, audit]
  depends_on: [identity]
billing:
  description: Invoices
  criticality: high
  depends_on: [ledger, pricing]
"""
Say = Callable[[random.Random], str]


def sentence(made: random.Random) -> str:
    return f"The {' '.join(made.choices(_WORDS, k=made.randint(6, 14)))}."


def tree(count: int, pieces: int = 1, say: Say = sentence) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of about `count` files with about `pieces` chunks each."""
    made = random.Random(20_000)
    yield "subsystems.yaml", _CATALOGUE
    endings = [*_LANGUAGES]
    for number in range(count):
        name = SUBSYSTEMS[number % len(SUBSYSTEMS)]
        stem = f"{made.choice(_WORDS)}_{number}"
        if number % 10 == 0:
            yield f"docs/{name}/{stem}.md", _document(made, stem, pieces, say)
        elif number % 10 < 3:
            yield f"tests/{name}/test_{stem}.py", _code(made, "py", pieces, say)
        else:
            ending = endings[number % len(endings)]
            yield f"src/{name}/{stem}.{ending}", _code(made, ending, pieces, say)


def written_tree(folder: Path, count: int, pieces: int = 1, say: Say = sentence) -> Path:
    for path, text in tree(count, pieces, say):
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def _document(made: random.Random, stem: str, pieces: int, say: Say) -> str:
    parts = [f"# About {stem}\n\n"]
    for number in range(pieces):
        body = " ".join(say(made) for _ in range(10))
        parts.append(f"## Part {number}: {made.choice(_WORDS)}\n\n{body}\n\n")
    return "".join(parts)


def _code(made: random.Random, ending: str, pieces: int, say: Say) -> str:
    start, line, end = _LANGUAGES[ending]
    parts: list[str] = []
    size = 0
    while size < 800 * pieces:
        first, second = made.choices(_WORDS, k=2)
        names = {"c": f"{first.title()}{second.title()}{size}", "f": f"{first}_{second}", "a": second}
        lines = "".join(line.format(s=say(made), n=size, **names) for _ in range(made.randint(1, 2 * _LINES)))
        parts.append(f"{start.format(**names)}{lines}{end.format(**names)}")
        size += len(parts[-1])
    return "".join(parts)
