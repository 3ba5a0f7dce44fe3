"""From annotations to a trace."""

from __future__ import annotations

from duvet import rules
from duvet.model import Annotation, Locator, Problem, Specification
from duvet.progress import Progress
from duvet.sources.tree import Tree
from duvet.specs.library import Library, assign_ids
from duvet.specs.resolve import locator_key
from duvet.text import place_of
from duvet.trace.coverage import cover
from duvet.trace.link import link
from duvet.trace.records import Coverage, Match, Trace

