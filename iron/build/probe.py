"""What a program consists of: the programs it runs, its libraries, its own header directories.

Asks the program itself, its ELF loader and the wheel it came in. Knows nothing of recipes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator

from .environ import scrubbed

_DRIVER = re.compile(r"(?:^|-)(?:clang\+\+|clang|g\+\+|gcc|c\+\+|cc|cpp)(?:-[\d.]+)?$")
# What GCC and Clang drivers run: code generation, assembling, linking.
_RUNS = ("cc1plus", "cc1", "as", "collect2", "ld", "ld.lld", "lto1", "lto-wrapper")
# The C library's family and compression: present in every process, no part of code generation.
_COMMON = re.compile(
    r"^(?:ld-linux.*|ld-musl.*|linux-vdso|libc|libm|libdl|libpthread|librt|libutil|libresolv"
    r"|libgcc_s|libstdc\+\+|libz|libzstd|liblzma|libtinfo|libedit|libbsd|libmd|libffi)\.so"
)


def _ask(command: list[str]) -> tuple[str, str]:
    """(stdout, stderr) of a question; a program that cannot answer says nothing."""
    try:
        with tempfile.TemporaryDirectory(prefix="iron-probe-") as work:
            done = subprocess.run(
                command,
                capture_output=True,
                stdin=subprocess.DEVNULL,
                cwd="/",  # what it names relatively can be told
                env=scrubbed(command[0], work),
                timeout=60,
            )
    except (OSError, subprocess.TimeoutExpired):
        return "", ""
    return os.fsdecode(done.stdout), os.fsdecode(done.stderr)


def is_driver(path: str, real: str) -> bool:
    """Whether the name is that of a C or C++ compiler driver."""
    return any(_DRIVER.search(os.path.basename(p)) for p in (path, real))


def mode(path: str, real: str) -> str:
    """What the program makes of the name it is called by. GCC ignores it, Clang reads target
    and language from it, of any other program we cannot know."""
    called = os.path.basename(path)
    if "clang" in os.path.basename(real):
        return re.sub(r"-[\d.]+$", "", called)
    return "" if is_driver(path, real) else called


def parts_of(path: str, real: str) -> Iterator[tuple[str, str]]:
    """(role, file) of everything a program's behaviour depends on, itself first."""
    seen = {real}
    yield "program", real
    yield from _libraries("program", real, seen)
    if interpreter := _interpreter(real):
        yield "interpreter", interpreter
        yield from _bundled(real, seen)
    if is_driver(path, real):
        for name in _RUNS:
            found = _program_of(path, name)
            if found and found not in seen:
                seen.add(found)
                yield name, found
                yield from _libraries(name, found, seen)
    if record := _wheel_record(real):
        yield "wheel", record


def _program_of(driver: str, name: str) -> str | None:
    answer = _ask([driver, f"-print-prog-name={name}"])[0].strip()
    if not answer:
        return None
    found = shutil.which(answer, path=scrubbed(driver, "")["PATH"])
    return os.path.realpath(found) if found else None


def _libraries(role: str, program: str, seen: set[str]) -> Iterator[tuple[str, str]]:
    """The shared libraries an ELF program loads, but for the C library's own family."""
    ldd = shutil.which("ldd")
    if ldd is None or not _starts_with(program, b"\x7fELF"):
        return
    for line in sorted(_ask([ldd, program])[0].splitlines()):
        name, arrow, rest = line.strip().partition(" => ")
        library = rest.rpartition(" (")[0]
        if arrow and os.path.isfile(library) and not _COMMON.match(name):
            library = os.path.realpath(library)
            if library not in seen:
                seen.add(library)
                yield f"{role}:{name}", library


def _interpreter(program: str) -> str | None:
    """The program that a script is run by."""
    if not _starts_with(program, b"#!"):
        return None
    with open(program, "rb") as file:
        words = os.fsdecode(file.readline()[2:]).split()
    if words and os.path.basename(words[0]) == "env":
        words = [w for w in words[1:] if not w.startswith("-")]
    found = shutil.which(words[0], path=scrubbed(program, "")["PATH"]) if words else None
    return os.path.realpath(found) if found else None


def _bundled(script: str, seen: set[str]) -> Iterator[tuple[str, str]]:
    """Libraries of the prefix a script is installed in: it may run a program that loads them."""
    prefix = os.path.dirname(os.path.dirname(script))
    if os.path.basename(os.path.dirname(script)) != "bin" or prefix in ("/usr", "/usr/local", "/"):
        return
    if os.path.exists(os.path.join(prefix, "pyvenv.cfg")):
        return
    library = os.path.join(prefix, "lib")
    for name in sorted(os.listdir(library)) if os.path.isdir(library) else ():
        file = os.path.realpath(os.path.join(library, name))
        if ".so" in name and os.path.isfile(file) and file not in seen:
            seen.add(file)
            yield f"bundled:{name}", file


def _starts_with(path: str, magic: bytes) -> bool:
    with open(path, "rb") as file:
        return file.read(len(magic)) == magic


def _wheel_record(program: str) -> str | None:
    """The RECORD of the wheel that installed a program; it names every file's digest."""
    directory = os.path.dirname(program)
    homes = []
    while directory != os.path.dirname(directory):
        if os.path.basename(directory) in ("site-packages", "dist-packages"):
            homes.append(directory)
        directory = os.path.dirname(directory)
    library = os.path.join(os.path.dirname(os.path.dirname(program)), "lib")
    if os.path.isdir(library):
        pythons = sorted(os.listdir(library))
        homes += [os.path.join(library, python, "site-packages") for python in pythons]
    for home in homes:
        relative = os.path.relpath(program, home)
        for name in sorted(os.listdir(home)) if os.path.isdir(home) else ():
            record = os.path.join(home, name, "RECORD")
            if name.endswith(".dist-info") and os.path.isfile(record):
                with open(record, encoding="utf-8") as file:
                    if any(line.startswith(relative + ",") for line in file):
                        return record
    return None


def system_directories(driver: str, flags: tuple[str, ...]) -> tuple[str, ...]:
    """The directories where a compiler finds its own headers."""
    answer = _ask([driver, *flags, "-E", "-x", "c++", "-v", os.devnull])[1]
    _, start, rest = answer.partition("#include <...> search starts here:\n")
    listed = rest.partition("End of search list.")[0].splitlines() if start else []
    return tuple(os.path.realpath(f"/{line.strip()}") for line in listed if line.strip())
