"""Symbols of real object files, read and renamed."""

import ctypes
import os
import shutil
import subprocess

import pytest

from iron.formats.elf import FormatError, rename_symbols, symbols

SOURCE = """
extern "C" int elsewhere(int);
extern "C" int add_one(int x) { return x + 1; }
extern "C" int twice(int x) { return add_one(x) + add_one(x); }
extern "C" __attribute__((weak)) int maybe(int x) { return elsewhere(x); }
static int hidden(int x) { return x * 3; }
int counter = 7;
int (*keep)(int) = hidden;
"""


def compiler():
    for name in (os.environ.get("CXX"), "clang++", "g++"):
        if name and shutil.which(name):
            return name
    pytest.skip("no C++ compiler")


@pytest.fixture
def object_file(tmp_path):
    source = tmp_path / "s.cc"
    source.write_text(SOURCE)
    out = tmp_path / "s.o"
    subprocess.run([compiler(), "-fPIC", "-c", str(source), "-o", str(out)], check=True)
    return out


def test_symbols_are_told_apart_by_definition_and_binding(object_file):
    found = {s.name: s for s in symbols(object_file.read_bytes())}
    assert found["add_one"].strong
    assert found["counter"].strong
    assert found["maybe"].defined
    assert not found["maybe"].strong
    assert not found["elsewhere"].defined
    assert not any("hidden" in name for name in found)


def test_a_renamed_object_links_and_runs_under_its_new_names(object_file, tmp_path):
    raw = object_file.read_bytes()
    names = {s.name: f"p_{s.name}" for s in symbols(raw) if s.defined}
    renamed = tmp_path / "r.o"
    renamed.write_bytes(rename_symbols(raw, names))
    after = {s.name for s in symbols(renamed.read_bytes()) if s.defined}
    assert after == {f"p_{n}" for n in names}
    glue = tmp_path / "glue.cc"
    glue.write_text('extern "C" int elsewhere(int x) { return x; }')
    library = tmp_path / "l.so"
    subprocess.run(
        [compiler(), "-fPIC", "-shared", str(object_file), str(renamed), str(glue), "-o",
         str(library)],
        check=True,
    )  # fmt: skip
    loaded = ctypes.CDLL(str(library))
    assert loaded.p_twice(4) == 10
    assert loaded.twice(4) == 10
    assert ctypes.c_int.in_dll(loaded, "p_counter").value == 7


def test_a_name_that_is_not_there_is_an_error(object_file):
    with pytest.raises(FormatError, match="no symbol nowhere"):
        rename_symbols(object_file.read_bytes(), {"nowhere": "x"})


@pytest.mark.parametrize("raw", [b"", b"!<arch>\n", b"\x7fELF" + b"\0" * 80, b"\x7fELF"])
def test_what_is_no_object_file_is_refused(raw):
    with pytest.raises(FormatError):
        symbols(raw, "thing.o")


def test_a_cut_file_is_refused(object_file):
    raw = object_file.read_bytes()
    with pytest.raises(FormatError, match="cut short"):
        symbols(raw[: len(raw) - 200])
