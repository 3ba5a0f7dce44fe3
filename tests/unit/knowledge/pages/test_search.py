from duvet.knowledge.pages import search
from duvet.words import stem_word
from tests.unit.knowledge.pages.page_projects import index_of

FILES: dict[str, str | bytes] = {
    "docs/kettle.md": "---\ncreated: 2026-01-01\n---\n# Kettle\n\nWater boils. The TEAPOT is warm.\n",
    "docs/tea.md": "---\ncreated: 2026-01-02\ntitle: Tea pot\n---\nLeaves.\n",
    "docs/cups.md": "---\ncreated: 2026-01-03\n---\n# Cups\n\nOf pots and tea; warm is not the pot.\n",
    "docs/caf\u00e9.md": "---\ncreated: 2026-01-04\n---\n# Caf\u00e9\n\nCAFE\u0301 \u0130stanbul \u05e9\u05dc\u05d5\u05dd (warm-up)\n",
    "docs/green.md": "---\ncreated: 2025-01-04\naliases: Brewing tips\n---\n\u5148\u6e29\u676f\u58f6\u3002\n",
}
QUERIES = {
    **dict.fromkeys(("teapot", "TEAPOTS", "boil", "boiled", "boi"), "kettle"),
    "tea pot": "tea cups kettle",
    "pot of tea": "tea cups",
    "Kettle": "kettle",
    **dict.fromkeys(("caf\u00c9", "CAFE", "\uff43\uff41\uff46\uff45", "istanbul"), "caf\u00e9"),
    **dict.fromkeys(("\u6e29\u676f", "\u7528\u6e29\u676f\u5b50", "\u58f6", "brewing tips"), "green"),
    "(warm-": "caf\u00e9 kettle cups",
    **dict.fromkeys(("created", "???", "", "xyzzy"), ""),
    "the": "kettle cups",
    "When does the water boil?": "kettle",
    "Which cups?": "cups",
    "What about airplanes?": "",
}


def test_queries_find_pages() -> None:
    ##= man/spec/pages.md#search
    ##% `search` MUST find words regardless of case, accents, character width and grammatical form, and in text without
    ##% spaces between words.
    index = index_of(FILES)
    assert {query: " ".join(hit.slug for hit in search.search_pages(index, query).hits) for query in QUERIES} == QUERIES


def test_pages_are_ordered_by_relevance() -> None:
    ##= man/spec/pages.md#search
    ##% `search` MUST first list the pages whose name, title or alias equals the query, then, if the query has up to
    ##% three words, the pages that contain all of them, and then the other pages with any word of the query, best
    ##% first.
    for files, ranked in [
        (
            {
                "body": "---\ntitle: x\n---\nThe green kettle is hot.\n",
                "half": "# Green, green, green\n\nKettles\n",
                "heading": "text\n\n## Kettle\n\nof tea\n",
                "kettle": "---\ntitle: On heat\n---\n",
                "tagged": "---\ntags: [kettle]\n---\nOne of many. One of many. One of many.\n",
                "title": "# A kettle and more\n",
                "hot green": "kettle\n",
            },
            {
                "kettle": "kettle, title, heading, tagged, hot green, body, half",
                "Hot Green": "hot green, body, half",
                "hot green kettle": "hot green, body, half, kettle, title, heading, tagged",
            },
        ),
        # Text without blanks: a word may be a part of others, and particles are ignored, but not in a word.
        (
            {"茶": "x", "green": "绿茶", "red": "红茶好喝", "purpose": "这个的目的", "list": "目录"},
            {"茶": "茶, red, green", "目的": "purpose", "我的目录是什么": "list", "什么 目录": "list"},
        ),
        # Pages with all words are first for short queries.
        (
            {
                "all": f"{'filler ' * 500} red green blue grey {'filler ' * 500}\n",
                "grey": "grey blue green\n",
                "none": "nothing\n",
                "more": "nothing more\n",
            },
            {"grey blue red": "all, grey", "grey blue green red": "grey, all"},
        ),
        # An article is not joined with the next word.
        ({"along": "Walk along.\n", "long": "The walk was long.\n" + "x " * 50}, {"a long walk": "long, along"}),
        # Related words count less than the word itself.
        (
            {
                "a": "One bug.\n" + "issue problem error fault " * 30,
                "b": "A bug sits on a leaf. Another bug meets the bug.\n",
                "e": "rosemary and thyme, apple and date\n",
                "f": "rosemary and thyme, apple" + " day time" * 50,
            },
            {"bug": "b, a", "rosemary thyme apple date": "e, f"},
        ),
        # Names and titles are found in other forms.
        (
            {
                "graph view": "# Graph\n",
                "graphs": "view view view graph graph graph view graph view graph view\n",
                "graph": "nothing\n",
                "big": "# The local graph of views\n\nno\n",
            },
            {
                "view graphs": "graph view, big, graphs, graph",
                "graphs": "graphs, graph, graph view, big",
                "graph": "graph, graph view, graphs, big",
            },
        ),
    ]:
        index = index_of({f"docs/{slug}.md": text for slug, text in files.items()})
        assert {query: ", ".join(page.slug for page in index.rank(query)) for query in ranked} == ranked


NOTES: dict[str, str | bytes] = {
    "docs/dev-containers.md": "# Container\n\nEverything runs in Docker.\n",
    "docs/photo.md": "# Camera\n\nTakes a picture.\n",
    "docs/gallery.md": "# Gallery\n\nImages in a row.\n",
    "docs/\u82b1\u56ed.md": "\u6570\u5b57\u82b1\u56ed\u662f\u516c\u5f00\u7684\n",
    "docs/\u6253\u626b.md": "\u600e\u4e48\u6253\u626b\u623f\u95f4\n",
    **{f"docs/other/{number}.md": "nothing of this\n" for number in range(9)},
}
UNKNOWN_WORDS = {
    "devcontainers": "dev-containers",  # A compound of known words.
    "dokcer": "dev-containers",  # A misspelt word.
    "evrythign": "dev-containers",
    "dokter": "",
    "dock": "dev-containers",  # The beginning of a word.
    "kow": "",
    "zzaaaa zzbbbb zzcccc dokcer": "dev-containers",
    "zzaaaa zzbbbb zzcccc zzdddd dokcer": "",  # Other words are looked for only for the first unknown words.
    "screenshot": "photo gallery",  # A related word, because no page has this one.
    "picture": "photo",  # A page with a related word alone does not match.
    "picture row": "gallery photo",
    "\u600e\u4e48\u516c\u5f00\u82b1\u56ed": "\u82b1\u56ed",  # A question word does not count.
    "\u600e\u4e48": "\u6253\u626b",
    "want to use docker": "dev-containers",
}


def test_words_that_are_written_otherwise() -> None:
    index = index_of(NOTES)
    found = {query: {page.slug for page in index.rank(query)} for query in UNKNOWN_WORDS}
    assert found == {query: {*expected.split()} for query, expected in UNKNOWN_WORDS.items()}


def test_the_best_pages_are_shown_and_all_are_counted() -> None:
    ##= man/spec/pages.md#search
    ##% `search` MUST return the 20 best pages, each with an excerpt around its matches, and the total number of
    ##% matching pages.
    days = [number % 28 + 1 for number in range(60)]
    files = {f"docs/{number:03}.md": f"---\ncreated: 2026-01-{day:02}\n---\ntea\n" for number, day in enumerate(days)}
    found = search.search_pages(index_of(files), "tea")
    assert (len(found.hits), found.total) == (20, 60)
    # Of equal pages, the newest is first.
    assert [hit.slug for hit in found.hits[:3]] == ["027", "055", "026"]
    assert found.hits[0].excerpt == "tea\n"


BEFORE, AFTER = "b" * 60 + " ", "a" * 110
EXCERPTS = {
    "in the middle": (f"{BEFORE}Hit {AFTER}", "hit", f"...{'b' * 49} Hit {'a' * 96}..."),
    "at the beginning": (f"hit {AFTER}", "hit", f"hit {'a' * 96}..."),
    "at the end": (f"{BEFORE}hit", "hit", f"...{'b' * 49} hit"),
    "all of it": ("a hit", "hit", "a hit"),
    "in the title alone": ("x" * 160, "hit", f"{'x' * 150}..."),
    "most words": (f"two {'x' * 160} one two", "one two", f"...{'x' * 49} one two"),
    "nothing": ("", "hit", ""),
    "without words": ("abc", "", "abc"),
    "without blanks": ("\u5148\u6e29\u676f", "\u6e29\u676f", "\u5148\u6e29\u676f"),
    "composed otherwise": ("cafe\u0301", "caf\u00e9", "caf\u00e9"),
    "without accents": (f"{BEFORE}Caf\u00e9 {AFTER}", "cafe", f"...{'b' * 49} Caf\u00e9 {'a' * 95}..."),
}


def test_results_have_excerpts_and_the_passage_with_the_most_words() -> None:
    for name, (text, words, expected) in EXCERPTS.items():
        assert search.make_excerpt(text, search.extract_stems(words)) == expected, name
    assert search.extract_stems("Why do the retries of connections fail?") == ("retr", "connect", "fail")
    text = "one\n\ntwo\n\nthe kettle\n\nkettle of water\n" + "x" * 5000
    part, lines = search.find_passage(text, ("kettle", "water"))
    assert (part[:25], len(part), lines) == (text[:25], 1200, 0)
    assert search.find_passage("y" * 1300 + "\n\nkettle of water", ("kettle", "water")) == ("kettle of water", 2)
    assert search.find_passage("", ("a",)) == ("", 0)


STEMS = {
    "connect": "connects connected connecting connection connections connector",
    "migrat": "migrate migrates migrated migrating migration migrations",
    "retr": "retry retries retried retrying",
    "organ": "organise organised organize organized organizing organization",
    "run": "run runs running",
    "class": "class classes",
    "note": "note notes noted noting",
    "move": "move moves moved moving",
    "copy": "copy copies copied copying",
    "creat": "create creates created creating creation creator",
    "css": "css",
    "status": "status",
    "x86": "x86",
}


def test_forms_of_a_word_have_one_stem_and_other_words_have_others() -> None:
    assert {stem: {*map(stem_word, forms.split())} for stem, forms in STEMS.items()} == {stem: {stem} for stem in STEMS}
    pairs = "corn corner, broth brother, moth mother, pass passion, mill million, miss mission, verse version"
    for pair in f"{pairs}, prom promise".split(", "):
        first, second = map(stem_word, pair.split())
        assert first != second, pair
