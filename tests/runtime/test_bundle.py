"""A package as one file, and back."""

import os
import tarfile
from pathlib import Path

import pytest

from iron.runtime.bundle import Bundle, write_bundle, write_file


@pytest.fixture
def package(tmp_path):
    made = tmp_path / "package"
    made.mkdir()
    (made / "arguments.json").write_text("[]")
    (made / "design.net").write_text("network")
    (made / "worker").write_text("#!/bin/sh\n")
    (made / "worker").chmod(0o755)
    return made


def test_a_bundle_holds_the_package_and_is_the_same_bytes_each_time(package, tmp_path):
    write_bundle(package, tmp_path / "deep" / "a.xclbin")
    os.utime(package / "design.net", (1, 1))
    write_bundle(package, tmp_path / "b.xclbin")
    assert (tmp_path / "deep" / "a.xclbin").read_bytes() == (tmp_path / "b.xclbin").read_bytes()
    bundle = Bundle(tmp_path / "b.xclbin")
    held = {p.name: p.read_text() for p in Path(bundle.directory).iterdir()}
    assert held == {p.name: p.read_text() for p in package.iterdir()}
    assert os.access(os.path.join(bundle.directory, "worker"), os.X_OK)
    assert not os.access(os.path.join(bundle.directory, "design.net"), os.X_OK)
    assert Bundle(package).directory == str(package)


def test_what_is_no_bundle_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="no built design"):
        Bundle(tmp_path / "nothing")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ValueError, match="is no design built for the host target"):
        Bundle(tmp_path / "text")
    with tarfile.open(tmp_path / "evil", "w") as archive:
        archive.addfile(tarfile.TarInfo("../outside"))
    with pytest.raises(ValueError, match="no file of a package"):
        Bundle(tmp_path / "evil")
    assert not (tmp_path / "outside").exists()


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "own" / "out"
    write_file(target, b"old")

    def broken(source, destination):
        raise OSError("no space")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="no space"):
        write_file(target, b"new")
    assert target.read_bytes() == b"old"
    assert os.listdir(target.parent) == ["out"]
