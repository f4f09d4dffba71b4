"""Where the emulator's own C++ lies and how it is compiled."""

from __future__ import annotations

import functools
import os
import platform
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))

Flags = tuple[tuple[str, ...], tuple[str, ...]]
SANITIZERS = ("address",)
CHECKS = ("race",)


def runtime_sources() -> tuple[str, ...]:
    """Absolute paths of the worker's translation units, sorted."""
    directory = os.path.join(_HERE, "runtime_cc")
    names = sorted(n for n in os.listdir(directory) if n.startswith("unit_"))
    return tuple(os.path.join(directory, n) for n in names)


def include_dir() -> str:
    """The directory of `iron_host.h` and of the host's `aie_api`; for images and kernels, and for
    the worker (whose own headers lie beside its sources)."""
    return os.path.join(_HERE, "include")


def worker_flags() -> Flags:
    """Flags to compile and to link the worker with (include_dir() comes besides)."""
    link = ("-pthread",) if sys.platform == "darwin" else ("-pthread", "-ldl")
    extra = _instrumented()
    # The checking worker is for finding faults: it is compiled twice as fast.
    check = ("-DIRON_RACE", "-O1") if checks_races() else ()
    return ("-std=c++20", "-O3", "-g1", "-pthread", *_vectors(), *check, *extra), (*link, *extra)


def image_flags() -> Flags:
    """Flags to compile bodies and kernels, and to link an image.

    ``-Bsymbolic`` binds an image's calls to its own symbols, so that a kernel named like a
    function of the C library is the one that is called. ``-O3`` because g++ 12 vectorises no
    loop of an unknown length below it. ``iron_kernel.h`` is what the AIE compilers give every
    kernel without an include.
    """
    extra = _instrumented()
    check = ("-DIRON_RACE",) if checks_races() else ()
    language = ("-std=c++20", "-O3", "-fPIC", "-fwrapv", "-include", "iron_kernel.h")
    compile_flags = (*language, "-fvisibility=default")
    link = ("-shared",) if sys.platform == "darwin" else ("-shared", "-Wl,-Bsymbolic")
    return (*compile_flags, *_vectors(), *check, *extra), (*link, *extra)


def checks_races() -> bool:
    """Does ``IRON_HOST_CHECK`` ask for the race check? ValueError when it asks for another."""
    wanted = [w for w in os.environ.get("IRON_HOST_CHECK", "").split(",") if w]
    for w in wanted:
        if w not in CHECKS:
            raise ValueError(f"IRON_HOST_CHECK={w}: there is {', '.join(CHECKS)}")
    return "race" in wanted


def _instrumented() -> tuple[str, ...]:
    """What ``IRON_HOST_SANITIZE`` asks for. The flags are part of every key, so that instrumented
    and plain results never meet."""
    wanted = os.environ.get("IRON_HOST_SANITIZE", "")
    if not wanted:
        return ()
    if wanted not in SANITIZERS:
        raise ValueError(f"IRON_HOST_SANITIZE={wanted}: there is {', '.join(SANITIZERS)}")
    return (f"-fsanitize={wanted}", "-O1", "-g", "-fno-omit-frame-pointer")


@functools.cache
def _vectors() -> tuple[str, ...]:
    """Wider integer vectors where this machine has them; no fused multiply-add, so that results
    are the same everywhere. The flag is part of every key."""
    if platform.machine() not in ("x86_64", "AMD64") or not sys.platform.startswith("linux"):
        return ()
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
            flags = next((line for line in f if line.startswith("flags")), "")
    except OSError:
        return ()
    return ("-mavx2",) if " avx2" in flags else ()
