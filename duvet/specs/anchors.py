"""Anchors of headings, with characters outside ASCII transliterated as awslabs duvet does."""

from __future__ import annotations

# ruff: noqa: RUF001
import re
from unicodedata import normalize

_SEPARATOR = re.compile(r"[^a-z0-9]+")


def make_anchor(text: str) -> str:
    """ASCII letters and digits in lower case, joined by single dashes."""
    if not text.isascii():
        text = text.translate(_ROMANIZER)
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


class _Romanizer(dict[int, str]):
    """A table for `str.translate` that romanizes each character once."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _romanize(chr(code))
        return found


_ROMANIZER = _Romanizer()


def _romanize(char: str) -> str:
    if char.isascii():
        return char
    name = _NAMES.get(char)
    if name is not None:
        return f"{name} "
    if _within(char, _SILENT):
        return ""
    letter = _LETTERS.get(char, _LETTERS.get(char.lower()))
    if letter is not None:
        return letter
    if "가" <= char <= "힣":
        initial, rest = divmod(ord(char) - ord("가"), len(_VOWELS) * len(_FINALS))
        vowel, final = divmod(rest, len(_FINALS))
        return _INITIALS[initial] + _VOWELS[vowel] + _FINALS[final]
    if _within(char, _SIGNS):
        return "-"
    letter = normalize("NFD", char)[0]
    return letter if letter.isascii() else _from_anyascii(char)


def _within(char: str, ranges: str) -> bool:
    return any(pair[0] <= char <= pair[1] for pair in ranges.split())


def _from_anyascii(char: str) -> str:
    from anyascii import anyascii

    found = anyascii(char)
    if len(found) > 2 and found[0] == found[-1] == ":":
        return found.strip(":") + " "
    if _within(char, _SILENT_UNLESS_NAMED):
        return ""
    return f"{found} " if _within(char, _SPACED) else found
