"""A built package as one file or a directory of its own, and back. Needs no compiler.

A bundle is an uncompressed tar of the package, the same bytes for the same package. Beside a
package's files lies ``package.json``: what the package is, and the digests of its files.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any

ABOUT = "package.json"


def write_bundle(
    package: str | os.PathLike[str],
    path: str | os.PathLike[str],
    about: Mapping[str, Any] | None = None,
) -> None:
    """Pack the directory `package` into the file `path`, all at once, saying what it is."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, (content, executable) in sorted(_contents(package, about).items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o755 if executable else 0o644
            archive.addfile(entry, io.BytesIO(content))
    write_file(path, buffer.getvalue())


def write_directory(
    package: str | os.PathLike[str],
    path: str | os.PathLike[str],
    about: Mapping[str, Any] | None = None,
) -> None:
    """Copy the files of `package` into the directory `path`; what another left there goes."""
    before = _read_about(path).get("package", {})
    contents = _contents(package, about)
    # A reader that comes between finds what it read does not fit package.json, and says so.
    for name, (content, executable) in contents.items():
        place = os.path.join(path, name)
        if not _holds(place, content):
            write_file(place, content, executable=executable)
    for name in set(before) - set(contents):
        if os.path.basename(name) == name and os.path.isfile(os.path.join(path, name)):
            os.unlink(os.path.join(path, name))


def _contents(
    package: str | os.PathLike[str], about: Mapping[str, Any] | None
) -> dict[str, tuple[bytes, bool]]:
    """(content, whether it is a program) of the files; what it is comes last."""
    found: dict[str, tuple[bytes, bool]] = {}
    for name in sorted(os.listdir(package)):
        file = os.path.join(package, name)
        if not os.path.isfile(file) or name.startswith(".") or name == ABOUT:
            continue
        with open(file, "rb") as f:
            found[name] = (f.read(), os.access(file, os.X_OK))
    if about is not None:
        found[ABOUT] = ((json.dumps(about, indent=1) + "\n").encode(), False)
    return found


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as f:
            return f.read() == content
    except OSError:
        return False


def write_file(path: str | os.PathLike[str], content: bytes, *, executable: bool = False) -> None:
    """Write a file so that no reader sees a part of it; its directory is made."""
    target = os.path.abspath(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    fd, scratch = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".iron-")
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(content)
        os.chmod(scratch, 0o755 if executable else 0o644)
        os.replace(scratch, target)
    except BaseException:
        os.unlink(scratch)
        raise


def _read_about(directory: str | os.PathLike[str]) -> dict[str, Any]:
    """What a package says it is; nothing when it does not."""
    try:
        with open(os.path.join(directory, ABOUT), encoding="utf-8") as f:
            about = json.load(f)
    except (OSError, ValueError):
        return {}
    return about if isinstance(about, dict) else {}


class Bundle:
    """A package on disk: the directory itself, or a bundle unpacked for as long as this lives.

    `about` is what it says it is, empty for a directory that does not. FileNotFoundError when
    there is nothing, ValueError when it is no package or not the one it says it is.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        if os.path.isdir(path):
            self.directory = self.path
        elif os.path.isfile(path):
            self.directory = self._unpacked()
        else:
            raise FileNotFoundError(f"no built design at {self.path}")
        if not os.path.isfile(os.path.join(self.directory, "arguments.json")):
            raise ValueError(self._no_package())
        self.about = _read_about(self.directory)
        self._check()

    def _check(self) -> None:
        """ValueError when a file is not the one that `about` names."""
        for name, digest in self.about.get("package", {}).items():
            try:
                with open(os.path.join(self.directory, name), "rb") as f:
                    same = hashlib.sha256(f.read()).hexdigest() == digest
            except OSError:
                same = False
            if not same:
                raise ValueError(
                    f"{self.path}: {name} is missing or not the file that was built; build or "
                    "copy the design again"
                )

    def _unpacked(self) -> str:
        directory = tempfile.mkdtemp(prefix="iron-bundle-")
        self._cleanup: Any = weakref.finalize(self, shutil.rmtree, directory, True)
        try:
            with tarfile.open(self.path) as archive:
                for entry in archive:
                    _unpack(archive, entry, directory)
        except tarfile.TarError as e:
            raise ValueError(f"{self._no_package()} ({e})") from None
        return directory

    def _no_package(self) -> str:
        return (
            f"{self.path} is no design built for the host target; build it with "
            "design.build(out=...), with design.compile(xclbin_path=..., inst_path=...) or with "
            "--xclbin-path, --insts-path"
        )


def _unpack(archive: tarfile.TarFile, entry: tarfile.TarInfo, directory: str) -> None:
    """One file of a package; nothing else is taken out of a bundle."""
    content = archive.extractfile(entry) if entry.isreg() else None
    if content is None or os.path.basename(entry.name) != entry.name:
        raise tarfile.TarError(f"{entry.name!r} is no file of a package")
    path = os.path.join(directory, entry.name)
    with open(path, "wb") as f:
        shutil.copyfileobj(content, f)
    os.chmod(path, 0o755 if entry.mode & 0o100 else 0o644)
