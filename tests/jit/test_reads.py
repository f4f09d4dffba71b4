"""What a generator reads, found by walking its code; and edited sources taken over in place."""

import importlib
import sys
import textwrap

import pytest

from iron.jit.reads import reads_of
from iron.jit.reload import ReloadError, SourceFiles


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Writes modules into a fresh directory on sys.path and imports them."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    class Project:
        path = tmp_path

        def write(self, name, text):
            file = tmp_path / f"{name}.py"
            file.write_text(textwrap.dedent(text))
            return str(file)

        def load(self, name):
            importlib.invalidate_caches()
            return importlib.import_module(name)

    yield Project()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) and str(tmp_path) in str(
            sys.modules[name].__file__
        ):
            del sys.modules[name]


DESIGN = """
    import json
    import iron_test_tiles
    from iron_test_tiles import width, doubled as twice
    CFG = {"tile": 16}
    N = 3
    UNUSED = 99

    def helper(x):
        return x * CFG["tile"] + N

    def generator(a=1, *, k=2):
        return helper(width) + twice(3) + iron_test_tiles.depth
"""
TILES = """
    width = 5
    depth = 7
    ignored = 1

    def doubled(x):
        return 2 * x
"""


@pytest.fixture
def design(project):
    project.write("iron_test_tiles", TILES)
    project.write("iron_test_design", DESIGN)
    return project.load("iron_test_design")


def test_functions_values_and_files_are_followed_through_user_modules(project, design):
    reads = reads_of(design.generator)
    names = {f.__name__ for f, _ in reads.functions}
    assert names == {"generator", "helper", "doubled"}
    values = {r.name: r.value for r in reads.values}
    assert values["CFG"] == {"tile": 16}
    assert values["N"] == 3
    assert values["width"] == 5
    assert values["depth"] == 7
    assert "UNUSED" not in values
    assert "ignored" not in values
    assert reads.files == {
        str(project.path / "iron_test_design.py"),
        str(project.path / "iron_test_tiles.py"),
    }
    assert reads.unkeyable == []


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.CFG.__setitem__("tile", 32),
        lambda d: setattr(d, "N", True),
        lambda d: setattr(d, "helper", lambda x: x),
        lambda d: setattr(d.iron_test_tiles, "depth", 8),
        lambda d: setattr(d.generator, "__kwdefaults__", {"k": 3}),
        lambda d: setattr(d.generator, "__defaults__", (2,)),
        lambda d: setattr(d.helper, "__code__", (lambda x: x * 3).__code__),
    ],
    ids=["container", "type", "function", "module", "kwdefault", "default", "code"],
)
def test_a_change_of_anything_read_is_seen(design, change):
    reads = reads_of(design.generator)
    text = reads.text()
    assert not reads.changed()
    change(design)
    assert reads.changed()
    assert reads_of(design.generator).text() != text


def test_a_change_of_what_is_not_read_is_not(design):
    reads = reads_of(design.generator)
    design.UNUSED = 1
    design.iron_test_tiles.ignored = 2
    assert not reads.changed()


def test_closures_are_read_by_value():
    def make(n):
        values = [n]
        return (lambda: values[0] + n), values

    (one, held), (two, _) = make(1), make(2)
    assert reads_of(one).text() != reads_of(two).text()
    reads = reads_of(one)
    held.append(4)
    assert reads.changed()


def test_what_cannot_be_keyed_is_named_and_counts_as_changed():
    handle = object()
    reads = reads_of(lambda: handle)
    assert "handle" in reads.unkeyable[0]
    assert reads.changed()


def edited(project, name, old, new):
    file = project.path / f"{name}.py"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("module", "old", "new", "gives"),
    [
        ("iron_test_design", "x * CFG", "x + CFG", 5 + 16 + 3 + 6 + 7),
        ("iron_test_design", '"tile": 16', '"tile": 32', 5 * 32 + 3 + 6 + 7),
        ("iron_test_design", "N = 3", "N = 4", 5 * 16 + 4 + 6 + 7),
        ("iron_test_tiles", "2 * x", "4 * x", 5 * 16 + 3 + 12 + 7),
        ("iron_test_tiles", "depth = 7", "depth = 8", 5 * 16 + 3 + 6 + 8),
        ("iron_test_tiles", "width = 5", "width = 6", 6 * 16 + 3 + 6 + 7),
        ("iron_test_design", "helper(width)", "helper(width) + json.loads('1')", 99 + 1 - 3),
        ("iron_test_design", "return helper(width)", "return late()", 109),
    ],
    ids=[
        "helper",
        "dict",
        "constant",
        "imported-function",
        "attribute",
        "imported-name",
        "body",
        "new-function",
    ],
)
def test_an_edit_reaches_the_functions_already_loaded(project, design, module, old, new, gives):
    assert design.generator() == 5 * 16 + 3 + 6 + 7
    reads = reads_of(design.generator)
    sources = SourceFiles(reads.files)
    assert not sources.refresh(reads)
    generator = design.generator
    if "late" in new:
        late = "def late():\n    return 96\n\n\ndef generator"
        edited(project, module, "def generator", late)
    edited(project, module, old, new)
    assert sources.refresh(reads)
    assert generator() == gives
    assert design.generator is generator
    assert not sources.refresh(reads_of(generator))


def test_an_edited_default_is_taken_over(project, design):
    reads = reads_of(design.generator)
    sources = SourceFiles(reads.files)
    edited(project, "iron_test_design", "k=2", "k=20")
    sources.refresh(reads)
    assert design.generator.__kwdefaults__ == {"k": 20}


def test_a_touched_file_is_not_edited(project, design):
    import os

    reads = reads_of(design.generator)
    sources = SourceFiles(reads.files)
    os.utime(project.path / "iron_test_design.py", (1, 1))
    assert not sources.refresh(reads)


def test_a_syntax_error_is_told_with_its_line_and_changes_nothing(project, design):
    reads = reads_of(design.generator)
    sources = SourceFiles(reads.files)
    edited(project, "iron_test_design", "return x *", "return x *)")
    with pytest.raises(
        ReloadError, match=r"iron_test_design\.py:\d+: the edited file does not parse"
    ):
        sources.refresh(reads)
    assert design.generator() == 5 * 16 + 3 + 6 + 7
    edited(project, "iron_test_design", "return x *)", "return 2 + x *")
    assert sources.refresh(reads)
    assert design.generator() == 5 * 16 + 3 + 6 + 7 + 2


def test_an_extension_module_among_the_files_is_no_obstacle_until_it_is_edited(project, design):
    reads, binary = reads_of(design.generator), project.path / "iron_test_fast.so"
    binary.write_bytes(b"\x7fELF\0\xff one")
    sources = SourceFiles([*reads.files, str(binary)])
    edited(project, "iron_test_tiles", "depth = 7", "depth = 8")
    assert sources.refresh(reads)
    assert design.generator() == 5 * 16 + 3 + 6 + 8
    binary.write_bytes(b"\x7fELF\0\xff two")
    with pytest.raises(ReloadError, match=r"iron_test_fast\.so:1: the edited file does not parse"):
        sources.refresh(reads)


def test_a_source_file_in_another_encoding_is_read_as_it_declares(project, design):
    latin = project.path / "iron_test_latin.py"
    latin.write_bytes("# coding: latin-1\nname = 'é'\n".encode("latin-1"))
    reads = reads_of(design.generator)
    sources = SourceFiles([*reads.files, str(latin)])
    edited(project, "iron_test_tiles", "depth = 7", "depth = 8")
    assert sources.refresh(reads)
    assert design.generator() == 5 * 16 + 3 + 6 + 8


def test_a_removed_function_is_an_error(project, design):
    reads = reads_of(design.generator)
    sources = SourceFiles(reads.files)
    edited(project, "iron_test_design", "def helper", "def other")
    with pytest.raises(ReloadError, match="no longer defines helper"):
        sources.refresh(reads)


def test_a_script_that_calls_its_design_at_module_level_does_not_call_it_for_ever(project):
    project.write(
        "iron_test_script",
        """
        import iron

        CALLS = []

        @iron.jit
        def design():
            return eval  # something that cannot be seen through: everything edited runs again

        def attempt():
            CALLS.append(1)
            try:
                design.as_mlir()
            except iron.GenerationError:
                return 33

        result = attempt()
        """,
    )
    module = project.load("iron_test_script")
    assert module.CALLS == [1]
    edited(project, "iron_test_script", "33", "44")
    module.attempt()
    assert module.result == 44
    assert len(module.CALLS) == 3
