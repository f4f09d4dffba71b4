"""What of the tools is there, what fits together, what is missing: the facts of ``iron doctor``.

Asks the same resolver as builds do; runs programs only to ask their version.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from .compiler import ToolNotFound, find_archiver, find_compiler
from .mlir_aie import MlirAie, answer_of
from .pipelines import GENERATIONS, date_of
from .resolver import (
    MLIR_AIE_PROGRAMS,
    PEANO_LIBRARIES,
    PEANO_PROGRAMS,
    TARGETS,
    Found,
    Search,
    find_aiebu,
    find_bootgen,
    find_mlir_aie,
    find_peano,
    find_xclbinutil,
    version_of,
)
from .xclbins import usable_xclbinutil

OK, WARNING, MISSING = "ok", "warning", "missing"
APART_DAYS = 150
"""Peano and mlir-aie wheels further apart than this have hardly been used together."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `state` is ok, warning (it works, less well) or missing (its
    target does not work)."""

    what: str
    state: str
    text: str
    path: str = ""
    source: str = ""
    looked: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    host: tuple[Finding, ...]
    npu: tuple[Finding, ...] = field(default=())

    @staticmethod
    def works(findings: tuple[Finding, ...]) -> bool:
        return all(f.state != MISSING for f in findings)


def examine() -> Report:
    """Everything, for both targets."""
    return Report(tuple(_host()), tuple(_npu()))


def _host() -> Iterator[Finding]:
    try:
        compiler = find_compiler()
        yield Finding("C++ compiler", OK, _first_line(compiler.program, "--version"), str(compiler))
        archiver = find_archiver(compiler)
        yield Finding("archiver", OK, "found", str(archiver))
    except ToolNotFound as e:
        yield Finding("C++ compiler", MISSING, str(e))


def _npu() -> Iterator[Finding]:
    mlir_aie = find_mlir_aie()
    peano = find_peano(mlir_aie.found)
    yield from _mlir_aie(mlir_aie)
    yield from _peano(peano)
    if mlir_aie.found and peano.found:
        yield from _pair(mlir_aie.found, peano.found)
    yield _packager(find_bootgen(mlir_aie.found))
    yield _xclbinutil(find_xclbinutil(mlir_aie.found))
    yield _optional(find_aiebu(mlir_aie.found))
    yield _runtime()


def _mlir_aie(search: Search) -> Iterator[Finding]:
    name = "mlir-aie"
    if search.found is None:
        yield _absent(name, search)
        return
    found = search.found
    absent = [p for p in MLIR_AIE_PROGRAMS if not _runs(os.path.join(found.path, "bin", p))]
    if absent:
        text = f"incomplete: no {', '.join('bin/' + p for p in absent)}"
        yield Finding(name, MISSING, text, found.path, found.source)
        return
    broken = _broken(os.path.join(found.path, "bin", "aie-opt"), "--help")
    if broken:
        yield Finding(name, MISSING, broken, found.path, found.source)
        return
    mlir_aie = MlirAie.of(found)
    generation = mlir_aie.generation
    version = mlir_aie.version or "of unknown version (no wheel)"
    if generation is not None:
        text = f"{version}; driven step by step as of {generation.name}"
        yield Finding(name, OK, text, found.path, found.source)
    else:
        known = ", ".join(GENERATIONS)
        text = f"{version}; its passes are not those of {known}: built by its own aiecc as a whole"
        yield Finding(name, WARNING, text, found.path, found.source)


def _peano(search: Search) -> Iterator[Finding]:
    if search.found is None:
        yield _absent("Peano", search)
        return
    found = search.found
    absent = [f"bin/{p}" for p in PEANO_PROGRAMS if not _runs(os.path.join(found.path, "bin", p))]
    for target in TARGETS:
        library = os.path.join(found.path, "lib", target)
        absent += [
            f"lib/{target}/{n}"
            for n in PEANO_LIBRARIES
            if not os.path.isfile(os.path.join(library, n))
        ]
    if absent:
        text = f"incomplete: no {', '.join(absent)}"
        yield Finding("Peano", MISSING, text, found.path, found.source)
        return
    compiler = os.path.join(found.path, "bin", "clang++")
    broken = _broken(compiler, "--version")
    if broken:
        yield Finding("Peano", MISSING, broken, found.path, found.source)
        return
    version = version_of("llvm-aie") if "wheel" in found.source else None
    text = version or _first_line(compiler, "--version")
    yield Finding("Peano", OK, text, found.path, found.source)


def _pair(mlir_aie: Found, peano: Found) -> Iterator[Finding]:
    """Whether the two wheels are of one time; nothing can be said of other installations."""
    if "wheel" not in mlir_aie.source or "wheel" not in peano.source:
        return
    dates = [date_of(version_of(n)) for n in ("mlir-aie", "llvm-aie")]
    if None in dates:
        return
    apart = abs(_day(dates[0] or 0) - _day(dates[1] or 0))
    shown = f"mlir-aie of {dates[0]}, Peano of {dates[1]}"
    if apart > APART_DAYS:
        text = f"{shown}: {apart} days apart; if cores do not compile, install wheels of one time"
        yield Finding("pair", WARNING, text)
    else:
        yield Finding("pair", OK, shown)


def _day(date: int) -> int:
    import datetime

    return datetime.date(date // 10000, date // 100 % 100, date % 100).toordinal()


def _packager(search: Search) -> Finding:
    if search.found is None:
        return _absent("bootgen", search)
    return Finding("bootgen", OK, "found", search.found.path, search.found.source)


def _xclbinutil(search: Search) -> Finding:
    name = "xclbinutil"
    if search.found is None:
        text = "not found; xclbins are written by iron itself"
        return Finding(name, OK, text, looked=search.looked)
    usable, text = usable_xclbinutil(search.found.path)
    if not usable:
        text += "; xclbins are written by iron itself"
    return Finding(name, OK if usable else WARNING, text, search.found.path, search.found.source)


def _optional(search: Search) -> Finding:
    if search.found is None:
        text = "not found; only full ELF files need it"
        return Finding(search.what, OK, text, looked=search.looked)
    return Finding(search.what, OK, "found", search.found.path, search.found.source)


def _runtime() -> Finding:
    import importlib.util

    spec = importlib.util.find_spec("pyxrt")
    if spec is None:
        text = "pyxrt is not installed: designs are built here but do not run on an NPU"
        return Finding("XRT", WARNING, text)
    return Finding("XRT", OK, "pyxrt is installed", spec.origin or "")


def _absent(name: str, search: Search) -> Finding:
    return Finding(name, MISSING, f"not found. {search.advice}", looked=search.looked)


def _runs(path: str) -> bool:
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _broken(program: str, option: str) -> str | None:
    """What is wrong with a program that is there and does not run; None when it runs."""
    status, said = answer_of(program, option)
    if status == 0:
        return None
    lines = said.strip().splitlines()
    why = lines[0] if lines else "it cannot be started"
    return f"bin/{os.path.basename(program)} does not run: {why}; reinstall it"


def _first_line(program: str, option: str) -> str:
    lines = answer_of(program, option).text.strip().splitlines()
    return lines[0] if lines else "it does not say its version"
