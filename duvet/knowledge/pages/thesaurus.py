"""Related words, and words that add little meaning to a question."""

from __future__ import annotations

import re
from functools import cache

from duvet.words import stem_word

# Words of computing and of notes that people use for one another, a group in each line.
_GROUPS = """
add insert append attach include
addon add-on plugin extension
app application program software
automatic automatically auto
back backup archive
begin start launch
bug issue problem error fault
build generate compile create produce
button click press
change edit modify update alter
check verify validate test
choose select pick
clean tidy
code source program script
collaborate collaboration together share team
colour color
combine merge join
command cli shell terminal console
compare comparison difference diff
config configuration setting settings option options preference preferences setup
connect connection link
convert conversion transform export import
copy duplicate
daily day today
date day time
delete remove erase
deploy publish host
diagram chart drawing flowchart graph
dictionary glossary
directory folder
disable off
display show view see
document doc file page note
download fetch
draw sketch drawing
embed include transclude
enable on
example sample
execute run
explain describe
fast quick speed performance
find search locate look query
fix repair correct
format style layout
forum community
graph network
guide tutorial manual howto
heading header title section
hidden hide invisible exclude ignore
history version revision
hotkey shortcut keybinding keyboard key
image picture photo screenshot
improve better
install setup
jump go navigate open
label tag category
language locale translation
latest new recent
latex math formula equation
list index overview
lock protect
login sign account
mail email
map visualise visualize visualization
member user people
metadata property properties frontmatter attribute field
mobile phone android iphone ios tablet
move rename
name title
object item element
offline local
online web internet
organise organize structure arrange
overview summary
parse read
password secret credential
paste clipboard
pay price cost billing subscription
pc computer desktop
plan roadmap
private privacy
print pdf paper
question faq
quote blockquote citation cite
reference refer mention
release version
remote server cloud
repeat recurring
replace substitute
repository repo git github
reset restore revert undo
safe secure security
save store keep
schedule calendar
script automation workflow
sidebar pane panel
size large big
snippet template boilerplate
sort order
split divide
spelling typo spell misspelling
stop cancel abort
style css theme appearance
sync synchronise synchronize
table grid column row
task todo checkbox checklist
text content
tool utility
typing write type
upgrade update migrate migration
upload
url link address
vault workspace
video media audio recording
website site webpage
word term
"""

# Words of wishes and questions, beyond the words that occur in almost every text.
_ASKING = """
    able already anything else find get gets got help instead let lets like make makes need needs please possible show
    somebody someone something still tell thing things use used using want wants way ways
"""
ASKING_WORDS = frozenset(_ASKING.split())
_ASKING_PARTS = (
    "什么 怎么样 怎么 怎样 如何 为什么 为何 哪些 哪个 哪里 有没有 能不能 可以 是不是 会不会 我们 我的 的 了 吗 呢 和 是 在 "
    "というのは とは です ます ください について どう どの なぜ なに"
)
_LEAST_RUN = 5


def remove_asking_words(query: str) -> str:
    """Remove Chinese and Japanese question words and particles; return the query unchanged if nothing else is left."""
    if query.isascii():
        return query
    parts = "|".join(sorted(_ASKING_PARTS.split(), key=len, reverse=True))
    # In a short run they are probably parts of words.
    found = re.sub(rf"\w{{{_LEAST_RUN},}}", lambda run: re.sub(parts, " ", run[0]), query)
    return re.sub(rf"\b(?:{parts})\b", " ", found).strip() or query


@cache
def load_related() -> dict[str, tuple[str, ...]]:
    """Return the stems of words with a similar meaning, by stem."""
    found: dict[str, dict[str, None]] = {}
    for line in _GROUPS.split("\n"):
        stems = [stem_word(word.replace("-", "")) for word in line.split()]
        for stem in stems:
            found.setdefault(stem, {}).update(dict.fromkeys(other for other in stems if other != stem))
    return {stem: tuple(others) for stem, others in found.items()}
