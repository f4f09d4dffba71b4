"""Which compiler the host target uses, and what it says when there is none."""

import importlib.machinery
import os
import stat

import pytest

from iron.toolchain import compiler
from iron.toolchain.compiler import Command, ToolNotFound, find_archiver, find_compiler


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """An empty PATH to put programs on."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("CXX", "IRON_CXX", "AR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(compiler, "find_zig", lambda: None)

    def put(name):
        path = tmp_path / name
        path.write_text("#!/bin/sh\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    return put


def test_the_environment_wins_then_clang_then_gcc(programs, monkeypatch):
    gcc = programs("g++")
    assert find_compiler() == Command(gcc)
    clang = programs("clang++")
    assert find_compiler() == Command(clang)
    monkeypatch.setenv("CXX", "g++ -m64")
    assert find_compiler() == Command(gcc, ("-m64",))
    monkeypatch.setenv("IRON_CXX", "clang++")
    assert find_compiler() == Command(clang)


def test_a_wrong_name_in_the_environment_is_an_error(programs, monkeypatch):
    programs("g++")
    monkeypatch.setenv("CXX", "nowhere++")
    with pytest.raises(ToolNotFound, match=r"CXX='nowhere\+\+' names no program"):
        find_compiler()


def test_without_any_compiler_the_error_says_what_to_install(programs):
    with pytest.raises(ToolNotFound, match=r"clang\+\+, g\+\+, c\+\+ .* pip install ziglang"):
        find_compiler()
    with pytest.raises(ToolNotFound, match="install binutils or set AR"):
        find_archiver(Command("/x/g++"))


def test_zig_of_the_wheel_is_the_last_resort(programs, monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    zig = tmp_path / "ziglang" / "zig"
    zig.parent.mkdir()
    zig.write_text("#!/bin/sh\n")
    zig.chmod(0o755)
    spec = importlib.machinery.ModuleSpec("ziglang", None, is_package=True)
    spec.submodule_search_locations = [str(zig.parent)]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)
    assert find_compiler() == Command(str(zig), ("c++",))
    assert find_archiver(find_compiler()) == Command(str(zig), ("ar",))
    assert os.path.basename(str(find_compiler())) == "zig c++"
