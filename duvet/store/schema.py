"""The tables of a store."""

from __future__ import annotations

from typing import Final

from duvet.store.records import Label, Relation

APPLICATION: Final = 0x64757665
"""What tells a store from other databases."""
SCHEMA: Final = 5
"""Counts on whenever a table, or what stands in it, becomes another."""
PAGE_SIZE: Final = 32768
"""Texts and vectors of files are some kilobytes each: on small pages every other byte would be wasted."""

STATE = "CREATE TABLE state(revision TEXT NOT NULL, next INTEGER NOT NULL, total INTEGER NOT NULL)"
ARTIFACT = """CREATE TABLE artifact(
id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, subsystem TEXT NOT NULL,
criticality TEXT NOT NULL, namespace TEXT NOT NULL, tags BLOB, digest BLOB NOT NULL, git_commit BLOB NOT NULL,
git_timestamp REAL, first INTEGER NOT NULL, count INTEGER NOT NULL, skipped TEXT NOT NULL)"""
TRAIT = (
    "CREATE TABLE trait(what INTEGER, value TEXT, artifact INTEGER, PRIMARY KEY(what, value, artifact)) WITHOUT ROWID"
)
PIECE = """CREATE TABLE piece(
number INTEGER PRIMARY KEY, artifact INTEGER NOT NULL, start INTEGER NOT NULL, end INTEGER NOT NULL,
line_start INTEGER NOT NULL, line_end INTEGER NOT NULL)"""
DICTIONARY = "CREATE TABLE dictionary(data BLOB NOT NULL)"
TEXT = "CREATE TABLE text(artifact INTEGER PRIMARY KEY, data BLOB NOT NULL)"
VECTORS = "CREATE TABLE vectors(artifact INTEGER PRIMARY KEY, rows BLOB NOT NULL)"
SYMBOL = """CREATE TABLE symbol(
artifact INTEGER, ordinal INTEGER, name TEXT, qualified_name TEXT NOT NULL, folded TEXT,
kind NOT NULL, language NOT NULL, line_start INTEGER NOT NULL, line_end INTEGER NOT NULL,
PRIMARY KEY(artifact, ordinal)) WITHOUT ROWID"""
SYMBOL_NAME = "CREATE INDEX symbol_name ON symbol(coalesce(folded, qualified_name))"
NODE = """CREATE TABLE node(
id INTEGER PRIMARY KEY, label INTEGER NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, folded TEXT,
properties BLOB, UNIQUE(label, key))"""
EDGE = """CREATE TABLE edge(
source INTEGER, relation INTEGER, target INTEGER, properties BLOB,
PRIMARY KEY(source, relation, target)) WITHOUT ROWID"""
EDGE_BACK = "CREATE INDEX edge_back ON edge(target, relation, source)"
RUN = "CREATE TABLE run(id INTEGER PRIMARY KEY, profile TEXT NOT NULL, data BLOB NOT NULL)"
REPORT = "CREATE TABLE report(id INTEGER PRIMARY KEY, name TEXT NOT NULL, run_id TEXT NOT NULL, data BLOB NOT NULL)"
KEPT = "CREATE TABLE kept(name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID"
# The texts stand in their own table. Which words stand in a piece is all that is kept of it here: how often they do, and
# whether in the title, is told by words of their own (see duvet.store.indexing).
FOUND = (
    "CREATE VIRTUAL TABLE found USING fts5(words, content='', columnsize=0, detail=none, tokenize='porter unicode61')"
)

STATEMENTS = (
    STATE, ARTIFACT, TRAIT, PIECE, DICTIONARY, TEXT, VECTORS, SYMBOL, SYMBOL_NAME, NODE, EDGE, EDGE_BACK, RUN, REPORT, KEPT, FOUND,
)  # fmt: skip
SHADOWS = frozenset({"found_data", "found_idx", "found_config"})
"""What FTS5 makes for itself."""

LABEL_NUMBERS: Final = {
    Label.SUBSYSTEM: 1,
    Label.SOURCE_FILE: 2,
    Label.TEST_CASE: 3,
    Label.DESIGN_DOC: 4,
    Label.CONFIG_FILE: 5,
    Label.ARTIFACT: 6,
    Label.SPECIFICATION: 7,
    Label.SECTION: 8,
    Label.REQUIREMENT: 9,
}
LABEL_OF: Final = {number: label for label, number in LABEL_NUMBERS.items()}
RELATION_NUMBERS: Final = {
    Relation.BELONGS_TO: 1,
    Relation.DESCRIBES: 2,
    Relation.VALIDATES: 3,
    Relation.DEPENDS_ON: 4,
    Relation.LINKS_TO: 5,
    Relation.CITES: 6,
    Relation.PART_OF: 7,
    Relation.WRITTEN_IN: 8,
}
RELATION_OF: Final = {number: relation for relation, number in RELATION_NUMBERS.items()}
SUBSYSTEM, NAMESPACE, TAG = 1, 2, 3
"""What a trait of a file is."""
