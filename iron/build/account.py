"""Tells the build log and the record of decisions what happened to a recipe."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from . import log
from .decisions import Subject
from .recipe import Ref, Text

if TYPE_CHECKING:
    from .decisions import Decisions
    from .entry import Entry
    from .execute import Outcome
    from .keys import Keys
    from .recipe import Recipe


def subject(recipe: Recipe) -> Subject:
    """What a person means by this recipe, whatever its inputs hold at the moment."""
    first = recipe.inputs[0] if recipe.inputs else ""
    if isinstance(first, Text):
        first = first.name
    elif isinstance(first, Ref):
        first = first.recipe.describe()
    return Subject(recipe.kind, recipe.label or recipe.describe(), f"{first} {recipe.outputs[0]}")


def hit(keys: Keys, recipe: Recipe, entry: Entry, why: str) -> None:
    """A result was there."""
    log.record("hit", recipe.kind, entry.key, why=why, label=recipe.label)
    name, decisions = _name(keys, recipe), keys.memory.decisions
    if not decisions.told(recipe, name, cost(entry)):
        decisions.hit(
            subject(recipe), name, why, cost(entry), recipe.where, lambda: keys.parts(recipe)
        )


def hits_again(decisions: Decisions, found: Mapping[Recipe, Entry], saved: float) -> None:
    """Results were there that the record knows of; `saved`: seconds that making them took."""
    for recipe, entry in found.items() if log.NAMED_BY in os.environ else ():
        log.record("hit", recipe.kind, entry.key, why="in the store", label=recipe.label)
    decisions.count(len(found), saved)


def ran(
    keys: Keys, recipe: Recipe, key: str, argv: Sequence[str], outcome: Outcome, why: str
) -> None:
    """A command ran, and how it ended."""
    log.record(
        "run", recipe.kind, key, argv=argv, seconds=outcome.seconds, status=outcome.status,
        why=why, label=recipe.label,
    )  # fmt: skip
    event = "failed" if outcome.status else "run"
    keys.memory.decisions.add(
        event, subject(recipe), _name(keys, recipe), why, outcome.seconds, recipe.where,
        lambda: keys.parts(recipe),
    )  # fmt: skip


def cost(entry: Entry) -> float:
    """Seconds that making it took."""
    try:
        return float(entry.notes["seconds"][0])
    except (KeyError, IndexError, ValueError):
        return 0.0


def _name(keys: Keys, recipe: Recipe) -> str:
    from .keys import Unknown

    try:
        return keys.leaf(recipe)
    except Unknown:
        return keys.content(recipe)
