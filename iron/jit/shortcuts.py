"""Shortcuts from a design's values to its built package, for the first call of a process.

A shortcut is an alias in the store of everything that leads to a package of the host target: the
generation record, the recipes and their keys. It names every file and place that was looked at on
that way, this package's own sources among them, with its stamp: if all are untouched, so is the
answer, and neither recipes nor keys are made. Anything else goes the long way.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from iron.frozen import frozen

from .generate import Generated
from .keys import key_text
from .observed import Observation, still_hold
from .options import current_options

if TYPE_CHECKING:
    from iron.build import Session, Store

    from .compilable import Built, CompilableDesign
    from .reads import Reads

FORMAT = "iron shortcut 2"
MOST = 1000
"""Of one store; each is some 50 kB."""
_OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@frozen
class Shortcut:
    """Where the shortcut of one design with its values is, or will be."""

    design: CompilableDesign
    store: Store
    path: str

    @staticmethod
    def of(
        design: CompilableDesign,
        values: Mapping[str, Any],
        device: Any,
        reads: Reads,
    ) -> Shortcut | None:
        """None when there is none: of what is generated anew each time, and of other targets."""
        chosen = current_options()
        cached = design.options.use_cache and chosen.use_cache
        noted = "IRON_COMPILE_COMMANDS" in os.environ  # every build is to be seen
        if not (cached and reads.complete and chosen.target == "host") or noted:
            return None
        from iron.build import digest, open_store

        from .observing import unobserved

        with unobserved():
            store = open_store()
        name = digest(
            FORMAT, sys.version, design.name, design.directory, str(design.sequence),
            design.values_key(values), key_text(device, "device"), reads.text(),
            "\n".join(sorted(design.input_files(reads))), *_environment(),
        )  # fmt: skip
        return Shortcut(design, store, os.path.join(store.side("shortcuts"), name))

    def find(self) -> Built | None:
        """The package, when nothing that led to it has been touched."""
        from iron.build import Result, Watch, digest

        from .compilable import Built

        try:
            with open(self.path, encoding="utf-8", errors="surrogateescape") as f:
                check, _, body = f.read().partition("\n")
            if check != digest(body):
                return None
            data = json.loads(body)
            watch, once = (
                Watch((), {p: None if s is None else tuple(s) for p, s in data[which]})
                for which in ("each call", "once")
            )
            observed = [Observation(*o) for o in data["observed"]]
            if not (watch.unchanged() and once.unchanged() and still_hold(observed)):
                return None
            entry = self.store.get(data["package"])
            if entry is None:
                return None
            with open(entry.path("aie.mlir"), encoding="utf-8") as f:
                generated = Generated.from_json(f.read(), data["generated"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        package = Result(entry.key, entry.directory, tuple(entry.outputs), watch)
        return Built(generated.having_read(observed, ()), package)

    def keep(self, session: Session, built: Built, reads: Reads) -> None:
        """Remember the way to `built`; not while anything on it is so young that its stamp proves
        nothing. `reads` are the generator's."""
        from iron.build import digest
        from iron.build.atomic import write_beside

        generated, design = built.generated, self.design
        if generated.untracked:
            return
        # Asked so, what is watched includes the emulator's runtime and the compiler.
        found = design.toolchain().find_package(
            session, generated.text, design.objects(generated), design.name
        )
        if found is None or found.key != built.package.key:
            return
        if found.watch is None or built.package.watch is None:
            return
        each, stamps = built.package.watch.stamps(), found.watch.stamps()
        ours = _stamps([*_own_files(), *sorted(design.input_files(reads))])
        if each is None or stamps is None or ours is None:
            return
        # What this process and the next one were loaded from is looked at when it is loaded.
        once = {path: stamp for path, stamp in {**stamps, **ours}.items() if path not in each}
        data = {
            "package": found.key,
            "generated": generated.to_json(),
            "observed": generated.observed,
            "each call": [*each.items()],
            "once": [*once.items()],
        }
        body = json.dumps(data)
        _make_room(os.path.dirname(self.path))
        write_beside(self.path, f"{digest(body)}\n{body}")


def _make_room(directory: str) -> None:
    """Drop all shortcuts when there are very many: each is made again when it is missed."""
    try:
        names = os.listdir(directory)
    except OSError:
        return
    for name in names if len(names) >= MOST else ():
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(directory, name))


def _environment() -> Iterator[str]:
    """What decides where results and tools are, and what the emulator checks."""
    from iron.build import STORE_VARIABLES
    from iron.toolchain.variables import HOST

    ours = {name for name in os.environ if name.startswith("IRON_")}
    for name in sorted({*STORE_VARIABLES, *HOST, *ours}):
        yield f"{name}={os.environ.get(name)}"


def _own_files() -> Iterator[str]:
    """This package's sources and the directories they are in."""
    for directory, folders, files in os.walk(_OURS):
        folders[:] = [f for f in folders if f != "__pycache__"]
        yield directory
        yield from (os.path.join(directory, f) for f in files)


def _stamps(paths: list[str]) -> dict[str, Any] | None:
    """Stamps of files and directories; None when one is too young to be known by it."""
    from iron.build.digests import settled, stamp_of

    found = {path: stamp_of(os.stat(path)) for path in paths}
    return found if all(map(settled, found.values())) else None
