"""Names of sections and requirements: anchors, paths of headings, and ids such as `FR-001`."""

from __future__ import annotations

# ruff: noqa: RUF001
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import normalize

from msgspec.structs import replace

from duvet.model import NUMBER_SIGN, Format, NamedSection, RequirementForm, Section, Specification
from duvet.text import load_rapidfuzz

if TYPE_CHECKING:
    from typing import Protocol

    class _Sections(Protocol):
        @property
        def sections(self) -> Sequence[NamedSection]: ...

        @property
        def by_name(self) -> Mapping[str, tuple[int, ...]]: ...

    class _Section(Protocol):
        @property
        def id(self) -> str: ...

        @property
        def name(self) -> str: ...

        @property
        def title(self) -> str: ...


_SEPARATOR = re.compile(r"[^a-z0-9]+")


def make_anchor(text: str) -> str:
    if not text.isascii():
        text = "".join(map(_romanize, text))
    return _SEPARATOR.sub("-", text.lower()).strip("-")


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=") for pair in text.split())


_LETTERS = _table(
    # Latin signs, money, fractions
    "©=-c- ®=-r- ™=tm °=deg µ=u ß=ss æ=ae ø=o ¢=c- £=ps ¥=y- §=ss ×=x ə=- ₠=ecu ₡=cl ₣=ff ₥=mil ₪=ns ⅓=-1-3- ⅔=-2-3- "
    "⅕=-1-5- ⅖=-2-5- ⅗=-3-5- ⅘=-4-5- ⅙=-1-6- ⅚=-5-6- ⅛=-1-8- ⅜=-3-8- ⅝=-5-8- ⅞=-7-8- "
    # Greek
    "β=b η=e ή=e ξ=ks υ=u ύ=u ϋ=u ΰ=u φ=ph χ=kh "
    # Cyrillic
    "й=i ю=iu я=ia ё=io ї=yi Є=e ѓ=gj ћ=tsh ќ=kj ѐ=ie ъ= ґ=g- ғ=g- қ=k- ң=n- ұ=u- ҳ=kh- ҷ=ch- ә=- "
    # Hebrew and Arabic
    "א= ב=b ח=kh ך=k כ=k ף=p פ=p ק=q ש=sh ء= إ= "
    # Japanese
    "し=si じ=zi ち=ti ぢ=di っ=tu つ=tu づ=du ふ=hu ゐ=wi ゑ=we を=wo "
    "シ=si ジ=zi チ=ti ヂ=di ッ=tu ツ=tu ヅ=du フ=hu ヰ=wi ヱ=we ヲ=wo ヶ=ke ・= "
    # Circles
    "↷=v ↺=v ◯=o ◴=o ◵=o ◶=o ◷=o"
)

# An emoji has several names; deunicode takes the shortest.
_NAMES = _table(
    "✅=white-check-mark ❌=x ✨=sparkles 🚀=rocket 🎉=tada 💡=bulb 📦=package 🔧=wrench 🐛=bug 🔥=fire "
    "📝=memo 🚧=construction 👍=1 👎=1 🛑=stop-sign 📧=email 📱=iphone 🚗=car 📸=camera-flash 🐞=beetle "
    "✋=hand 🤗=hugs 🤷=shrug 🤦=facepalm 🏃=runner 👮=cop 🙋=raising-hand 🙅=no-good 🙇=bow ⛵=boat 🌔=moon "
    "🍳=egg 🍊=orange 🙄=roll-eyes 🧐=monocle-face 🤨=raised-eyebrow 🛍=shopping 👞=shoe 🏮=lantern "
    "🎞=film-strip 🏄=surfer 🏊=swimmer 🚶=walking 🚴=bicyclist"
)

# Each pair is a range of characters.
_SIGNS = (
    "\u200b\u200b \u2010\u2027 \u2032\u2049 \u2060\u206f \u2190\u21ff \u2500\u25a1 \u25aa\u25ab \u25b6\u25b6 "
    "\u25c0\u25c0 \u25fb\u25fe \u2753\u2755 \u2757\u2757 \u2795\u2797 \u2b50\u2b50 \u3001\u3002 \ufe00\ufe0f "
    "\U0001f31f\U0001f31f \U0001f4b2\U0001f4b2 \U0001f4b5\U0001f4b5 \U0001f7f0\U0001f7f0"
)
_SILENT = (
    "\u2071\u2071 \u2100\u2121 \u2123\u213f \u2400\u2426 \u2440\u244a \u2460\u24ea \ufffd\ufffd \U0001f3fb\U0001f3ff"
)
_SILENT_UNLESS_NAMED = "\u2600\u2613 \u2619\u2671 \u2701\u27be"
_SPACED = "\u4e00\u9fff \uf900\ufaff \U0001f000\U0001faff"

_INITIALS, _VOWELS, _FINALS = (
    parts.split(" ")
    for parts in (
        "g gg n d dd r m b bb s ss  j jj c k t p h",
        "a ae ya yae eo e yeo ye o wa wae oe yo u weo we wi yu eu yi i",
        " g gg gs n nj nh d l lg lm lb ls lt lp lh m b bs s ss ng j c k t p h",
    )
)


@cache
def _romanize(char: str) -> str:
    if char.isascii():
        return char
    name = _NAMES.get(char)
    if name is not None:
        return f"{name} "
    if _is_in_ranges(char, _SILENT):
        return ""
    letter = _LETTERS.get(char, _LETTERS.get(char.lower()))
    if letter is not None:
        return letter
    if "가" <= char <= "힣":
        initial, rest = divmod(ord(char) - ord("가"), len(_VOWELS) * len(_FINALS))
        vowel, final = divmod(rest, len(_FINALS))
        return _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final]
    if _is_in_ranges(char, _SIGNS):
        return "-"
    letter = normalize("NFD", char)[0]
    if letter.isascii():
        return letter
    from anyascii import anyascii

    found = anyascii(char)
    if len(found) > 2 and found[0] == found[-1] == ":":
        return found.strip(":") + " "
    if _is_in_ranges(char, _SILENT_UNLESS_NAMED):
        return ""
    return f"{found} " if _is_in_ranges(char, _SPACED) else found


def _is_in_ranges(char: str, ranges: str) -> bool:
    return any(pair[0] <= char <= pair[1] for pair in ranges.split())


def is_url(text: str) -> bool:
    return "://" in text


def normalise_name(name: str) -> str:
    folded = name.strip().removeprefix("./").casefold()
    web = re.match(r"https?://(?:www\.)?", folded)
    return re.sub(r"(?:\.(?:txt|html?))?/?\Z", "", folded[web.end() :], count=1) if web else folded


_PREFIXES = re.compile(r"(?:section-)*(?:appendix-)*")
_NUMBERED = re.compile(rf"([^{NUMBER_SIGN}]+){NUMBER_SIGN}([1-9][0-9]{{0,8}})")
_NAMED = re.compile(r"\A(?:section|appendix|name)[-.]")
_MOST, _LIKENESS = 3, 70


def find_section_indexes(specification: _Sections, name: str, *, has_prefixes: bool) -> tuple[int, ...]:
    found = _find_by_name(specification, name, has_prefixes=has_prefixes)
    sections = specification.sections
    for index in found:
        # As in awslabs duvet, the second `pot` is `pot-1`, even if there is a heading `Pot 1`.
        if len(found) > 1 and sections[index].id == name != sections[index].anchors[-1]:
            return (index,)
    if not found and "/" in name:
        found = _find_by_path(specification, name, has_prefixes=has_prefixes)
    if found:
        return found
    ##= man/spec/trace.md#sections
    ##% duvet MUST number sections with the same path of headings, such as `notes~2` for the second.
    number, paths = find_numbered_sections(specification, name, has_prefixes=has_prefixes)
    return tuple([indexes[number - 1] for indexes in paths if 1 < len(indexes) >= number])


def find_numbered_sections(specification: _Sections, name: str, *, has_prefixes: bool) -> tuple[int, list[list[int]]]:
    numbered = _NUMBERED.fullmatch(name)
    if numbered is None:
        return 0, []
    equal: dict[tuple[str, ...], list[int]] = {}
    for index in find_section_indexes(specification, numbered[1], has_prefixes=has_prefixes):
        equal.setdefault(specification.sections[index].anchors, []).append(index)
    # Without paths of headings, as with awslabs duvet's schema, there are no numbers.
    return int(numbered[2]), [indexes for anchors, indexes in equal.items() if anchors]


def _find_by_name(specification: _Sections, name: str, *, has_prefixes: bool) -> tuple[int, ...]:
    by_name = specification.by_name
    found = by_name.get(name, ())
    # The id of a section in IETF text may lack its prefix or have a wrong one.
    if found or not has_prefixes:
        return found
    bare = _PREFIXES.sub("", name, count=1)
    return by_name.get(f"section-{bare}") or by_name.get(f"appendix-{bare}", ())


def _find_by_path(specification: _Sections, name: str, *, has_prefixes: bool) -> tuple[int, ...]:
    *above, last = name.split("/")
    sections = specification.sections
    candidates = _find_by_name(specification, last, has_prefixes=has_prefixes)
    # Numbers in ids follow awslabs duvet, and are not part of a path.
    unnumbered = [
        index for index in candidates if not (sections[index].id == last and last not in sections[index].anchors[-1:])
    ]
    paths = {index: sections[index].anchors[:-1] for index in unnumbered}
    if not above[0]:
        return tuple([index for index, path in paths.items() if sections[index].anchors and [*path] == above[1:]])
    # Parts may be left out, so other headings may come between the headings of a path.
    rests = [(index, iter(path)) for index, path in paths.items()]
    return tuple([index for index, rest in rests if all(part in rest for part in above)])


def qualify_sections(sections: Sequence[Section]) -> tuple[Section, ...]:
    sharing = Counter(name for section in sections for name in {section.id, *section.anchors[-1:]})
    shared = Counter(section.anchors for section in sections if section.anchors and sharing[section.anchors[-1]] > 1)
    # A path consists of any of the parents' anchors and the section's own.
    taken = Counter(
        path
        for *above, last in shared
        for count in range(len(above) + 1)
        for path in {"/".join((*parts, last)) for parts in combinations(above, count)}
    )
    names: dict[tuple[str, ...], str] = {}
    for anchors, count in shared.items():
        ends = ("/".join(anchors[start:]) for start in range(len(anchors) - 1, -1, -1))
        own = (end for end in ends if taken[end] == 1 and sharing.get(end, count) == count)
        names[anchors] = next(own, f"/{'/'.join(anchors)}")
    numbers: Counter[tuple[str, ...]] = Counter()
    found = []
    for section in sections:
        anchors = section.anchors
        name = names.get(anchors, section.id)
        if shared[anchors] > 1:
            numbers[anchors] += 1
            name += f"{NUMBER_SIGN}{numbers[anchors]}"
        found.append(section if name == section.id else replace(section, qualified=name))
    return tuple(found)


def find_section_index(specification: Specification, name: str) -> int | None:
    found = find_section_indexes(specification, name, has_prefixes=specification.format is Format.IETF)
    return found[0] if len(found) == 1 else None


def map_title_ids(form: RequirementForm | None, sections: Sequence[_Section]) -> dict[str, int]:
    if form is None:
        return {}
    ids = compile_ids(form.ids)
    titled = [(ids.split(one.title, has_number=False), index) for index, one in enumerate(sections)]
    heads = [(head.name, index) for head, index in reversed(titled) if head]
    return {**{name.casefold(): index for name, index in heads}, **dict(heads)}


class SectionNames:
    def __init__(self, sections: Iterable[_Section], others: Iterable[str] = ()) -> None:
        sections = tuple(sections)
        named = [(section.name, _strip_id_prefix(section.id), make_anchor(section.title)) for section in sections]
        by_title = [(name, title) for name, bare, title in named if title != bare]
        by_path = [(name, name) for name, _, _ in named if "/" in name]
        further = [*by_title, *by_path, *((id, id.lower()) for id in others)]
        self._own = [name for name, _, _ in named] + [name for name, _ in further]
        self._names = [bare for _, bare, _ in named] + [words for _, words in further]
        self._titled: dict[str, list[str]] = {}
        for section in sections:
            if not section.title.isascii():
                self._titled.setdefault(_hyphenate(section.title), []).append(section.name)

    def find_nearest(self, name: str) -> list[str]:
        if not name.isascii():
            # Sites link to a heading by its own letters.
            if titled := self._titled.get(_hyphenate(name)):
                return titled[:_MOST]
            name = make_anchor(name)
        rapidfuzz = load_rapidfuzz()
        hits = rapidfuzz.process.extract(
            _strip_id_prefix(name),
            self._names,
            scorer=rapidfuzz.fuzz.ratio,
            processor=None,
            limit=2 * _MOST,
            score_cutoff=_LIKENESS,
        )
        return list(dict.fromkeys(self._own[index] for _, _, index in hits))[:_MOST]


def _hyphenate(title: str) -> str:
    return "-".join(title.casefold().split())


def _strip_id_prefix(id: str) -> str:
    return _NAMED.sub("", id.lower())


_LONGEST = 48  # Maximum length of an id, which limits the time that a pattern can take.
_ID = r"[A-Z][A-Z0-9]{0,15}(?:[-_.][A-Z0-9]{1,15}){0,4}?[-_]?\d{1,6}(?:\.\d{1,4}){0,3}(?:-?[A-Z]{1,3}\d{1,3})?[a-z]?"
_DOTTED_NUMBER = r"\d{1,4}(?:\.\d{1,4}){1,3}(?:-[A-Z]{1,3}\d{1,3})?"
_USUAL = r"(?:FR|NFR|REQ|AC|SC|US|UR|SR|BR|TR|IR|CR|DR|UC|SRS|SYS|RQ)(?:[-_.][A-Z0-9]+)*[-_]?\d|R\d+\.\d"
"""Ids that need no punctuation after them."""
_STANDARDS = (
    r"(?:UTF|UCS|ISO|IEC|RFC|BCP|STD|SHA|AES|DES|RSA|HMAC|ED|EC|MD|CRC|IEEE|CVE|CWE|PEP|ES|ECMA|HTTP|TLS|SSL|IPV|WCAG|ANSI|"
    r"PKCS|X|H|MP|BASE|UUID|GPT|WIN|CP|OAUTH|HTML|CSS|V|PR|GH)[-_.]?\d"
)
"""Names of standards and products that look like ids."""
_UNITS = r"(?:[kKMGTP]i?[Bb](?:ps|it)?|[kMGT]?Hz|[mk][VAWmg]|USD|EUR|CPU|x)\b|%"
_BEGINNING = r"\s+(?!(?:MUST|SHALL|SHOULD|MAY|REQUIRED|AND|OR)\b)(?:[A-Z`\"\u201c]|(?![\u306f\u304c\u3092\u306e\u306b\u3067\u3068\u3082\u3084])[\u3040-\u9fff\uac00-\ud7a3])"
"""The beginning of a sentence, which shows that the id before it is not a reference."""
_AFTER = r"\s*(?:[:\uff1a|]|[\u2014\u2013](?!\d)|-(?=\s)|\.(?=\s))\s*|\s+--\s+"
_QUALIFIER = r"\s*[(\[\uff08][^()\[\]\uff08\uff09]{1,60}[)\]\uff09](?=\s*[:\uff1a\u2014\u2013-])"
_BOXES = r"(?:(?:\d\ufe0f?\u20e3|[\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]\ufe0f?|\[[ xX~/*-]\](?=\s))\s*)*"
"""Check boxes, and emoji that show the state of a requirement, such as a green check mark."""
_BRACKETS = {"[": "]", "(": ")", "\u3010": "\u3011"}


class RequirementId(NamedTuple):
    name: str
    end: int  # The offset at which the text after the id begins.


class IdPattern:
    def __init__(self, pattern: str = "") -> None:
        further = f"(?P<own>{pattern})|" if pattern else "(?P<own>(?!))|"
        self._id = re.compile(rf"{further}{_ID}(?![A-Za-z0-9_])|{_DOTTED_NUMBER}(?![A-Za-z0-9_])")

    def split(self, text: str, marked: int = 0, *, has_number: bool = True) -> RequirementId | None:
        """`marked` is the end of any markup at the beginning of `text`."""
        ##= man/spec/trace.md#requirements-in-markdown
        ##% An id at the beginning of a list item, paragraph, table row or heading MUST be the name of the requirement
        ##% and not a part of its text.
        first = skip_boxes(text)
        closing = _BRACKETS.get(text[first : first + 1], "")
        first += bool(closing)
        found = self._id.match(text, first, min(len(text), first + _LONGEST))
        if found is None or not found[0] or not text.startswith(closing, found.end()):
            return None
        name, end, is_own = found[0], found.end() + bool(closing), found["own"] is not None
        if name[0].isdigit() and not is_own:
            # `1.5 GB` does not begin with an id, but `1.1 The` does.
            words = text[end:].lstrip(" .:\uff1a)")
            is_text = bool(words) and not re.match(_UNITS, words) and (words[0].isupper() or words[0] > "\x7f")
            return RequirementId(name, len(text) - len(words)) if is_text and has_number and not closing else None
        if not is_own and re.match(_STANDARDS, name):
            return None
        qualifier = re.compile(_QUALIFIER).match(text, end)
        after = re.compile(_AFTER).match(text, qualifier.end() if qualifier else end)
        rest = end if after is None else after.end()
        if after is None:
            is_alone = end >= len(text) or marked in (end, end + 1) or closing or is_own
            if end < len(text) and not text[end].isspace():
                return None
            if not (is_alone or (re.match(_USUAL, name) and re.compile(_BEGINNING).match(text, end))):
                return None
        while rest < len(text) and text[rest].isspace():
            rest += 1
        # `FR-001 - FR-005: …` and `FR-001, FR-002` refer to requirements.
        further = self._id.match(text, rest, min(len(text), rest + _LONGEST))
        is_range = further is not None and not further[0][0].isdigit() and after is not None and ":" not in after[0]
        return None if is_range else RequirementId(name, rest)

    def is_id(self, text: str) -> bool:
        found = self.split(text, len(text))
        return found is not None and found.end >= len(text)


def skip_boxes(text: str, start: int = 0) -> int:
    boxes = re.compile(_BOXES).match(text, start, start + _LONGEST)
    return boxes.end() if boxes else start


compile_ids = lru_cache(maxsize=32)(IdPattern)
