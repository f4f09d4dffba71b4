"""compile_commands.json from recipes: editors see the commands that really run.

An entry points at the user's file; a text kept in the store, at the stored copy. The options that
the build layer adds for itself (dependency file, path mapping) are left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import atomic, locks, make
from .recipe import Recipe, Ref

if TYPE_CHECKING:
    from pathlib import Path

    from .session import Session


def entries(session: Session, *recipes: Recipe) -> list[dict[str, Any]]:
    """The entries of all compiles among the recipes and what they refer to.

    Sources that are generated and not there yet have none. Raises FileNotFoundError for a
    missing tool.
    """
    out: list[dict[str, Any]] = []
    keys = session.keys()
    for recipe in _all(recipes):
        if not recipe.scan or any(
            isinstance(item, Ref) and keys.result(item.recipe) is None for item in recipe.inputs
        ):
            continue
        make.put_texts(keys, recipe)
        for position in range(len(recipe.inputs)):
            file = keys.input_path(recipe, position)
            directory = os.path.dirname(file)
            out.append(
                {
                    "directory": directory,
                    "file": file,
                    "arguments": make.command_line(keys, recipe, make.below(recipe, directory)),
                    "output": f"{directory}/{recipe.outputs[0]}",
                }
            )
    return out


def note(session: Session, recipes: Iterable[Recipe]) -> None:
    """Add the compiles to the database that IRON_COMPILE_COMMANDS names, if it names one: a file,
    or a directory for the file `compile_commands.json`. Only editors read it: a database that
    cannot be written is a warning."""
    path = os.environ.get("IRON_COMPILE_COMMANDS", "")
    if not path:
        return
    if os.path.isdir(path):
        path = os.path.join(path, "compile_commands.json")
    try:
        write(path, entries(session, *recipes))
    except OSError as problem:
        import logging

        logging.getLogger("iron.build").warning("iron: IRON_COMPILE_COMMANDS: %s", problem)


def _all(recipes: Iterable[Recipe]) -> list[Recipe]:
    seen: dict[Recipe, None] = {}
    todo = list(recipes)
    while todo:
        recipe = todo.pop(0)
        if recipe not in seen:
            seen[recipe] = None
            todo += [item.recipe for item in recipe.inputs if isinstance(item, Ref)]
    return list(seen)


def write(path: str | Path, added: Iterable[dict[str, Any]]) -> None:
    """Merge entries into a database; the files that are added lose the entries they had.

    One writer at a time, published by a rename; entries of files that are gone are dropped.
    """
    path = os.path.abspath(os.fspath(path))
    new = list(added)
    replaced = {entry["file"] for entry in new}
    with locks.exclusive(os.path.dirname(path), f".{os.path.basename(path)}.lock"):
        kept = [entry for entry in _read(path) if entry["file"] not in replaced]
        merged = {(e["file"], *e.get("arguments", ())): e for e in (*kept, *new)}
        present = [merged[name] for name in sorted(merged) if _exists(merged[name])]
        atomic.sweep(os.path.dirname(path))
        if present == _read(path):
            return
        temporary = atomic.name_beside(path)
        with open(temporary, "w", encoding="utf-8") as stream:
            json.dump(present, stream, indent=1)
            stream.write("\n")
        os.replace(temporary, path)


def _exists(entry: dict[str, Any]) -> bool:
    return os.path.exists(os.path.join(entry["directory"], entry["file"]))


def _read(path: str) -> list[dict[str, Any]]:
    try:
        with open(path, encoding="utf-8") as stream:
            return [e for e in json.load(stream) if {"directory", "file"} <= set(e)]
    except (OSError, ValueError, TypeError):
        return []  # absent or not ours: made anew
