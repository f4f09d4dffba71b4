"""A built package as one file, where mlir-aie has an xclbin, and back. Needs no compiler.

The file is an uncompressed tar of the package, the same bytes for the same package.
"""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import tempfile
import weakref
from typing import Any


def write_bundle(package: str, path: str | os.PathLike[str]) -> None:
    """Pack the directory `package` into the file `path`, all at once."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(os.listdir(package)):
            file = os.path.join(package, name)
            if not os.path.isfile(file):
                continue
            entry = tarfile.TarInfo(name)
            entry.size = os.path.getsize(file)
            entry.mode = 0o755 if os.access(file, os.X_OK) else 0o644
            with open(file, "rb") as content:
                archive.addfile(entry, content)
    write_file(path, buffer.getvalue())


def write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that no reader sees a part of it; its directory is made."""
    target = os.path.abspath(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    fd, scratch = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".iron-")
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(content)
        os.chmod(scratch, 0o644)
        os.replace(scratch, target)
    except BaseException:
        os.unlink(scratch)
        raise


class Bundle:
    """A package on disk: the directory itself, or a bundle unpacked for as long as this lives.

    FileNotFoundError when there is nothing, ValueError when it is no package of the host target.
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
            "design.compile(xclbin_path=..., inst_path=...) or --xclbin-path, --insts-path"
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
