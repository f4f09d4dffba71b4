"""What a design says must be compiled: shared, named, never hashed, the same in any order."""

from __future__ import annotations

import itertools
import os

import numpy as np
import pytest
from design_parts import TILE, copy_program, line, one, ops

from iron.design import (
    ExternalArchive,
    ExternalFunction,
    ExternalModule,
    Kernel,
    Module,
    ObjectSpec,
    SourceFile,
    SourceText,
)

SOURCE = (
    'extern "C" void add_one(int*, int*, int) {}\nextern "C" void add_two(int*, int*, int) {}\n'
)


def design(*kernels) -> Module:
    """A core that calls every kernel with ``(object, object[, n])``."""

    def body(i, o, ks):
        x, y = i.acquire(1), o.acquire(1)
        for k in ks:
            k(*(x, y, 16)[: len(k.types)])
        i.release(1)
        o.release(1)

    return copy_program(body, [list(kernels)]).resolve_program()


def add(name: str, **options) -> ExternalFunction:
    options.setdefault("source_string", SOURCE)
    return ExternalFunction(name, arg_types=[TILE, TILE, np.int32], **options)


def links(module: Module) -> dict[str, str]:
    return {op.symbol: op.attributes["link_with"].value for op in ops(module, "func.func")}


@pytest.mark.parametrize("order", list(itertools.permutations(["add_one", "add_two"])))
@pytest.mark.parametrize("calls", [(0, 1), (1, 0)])
def test_two_functions_of_one_source_share_one_object(order, calls):
    made = [add(name, compile_flags=["-DT=int"]) for name in order]
    module = design(*(made[i] for i in calls))
    assert links(module) == dict.fromkeys(("add_one", "add_two"), "add_one.o")
    assert list(module.objects) == ["add_one.o"]
    spec = module.objects["add_one.o"]
    assert spec.functions == ("add_one", "add_two")
    assert spec.members[0].flags == ("-DT=int",)
    assert spec.members[0].source == SourceText(SOURCE, "whatever.cc")
    assert spec.members[0].source.name == "add_one.cc"
    assert len(spec.where) == 2
    assert all(w.startswith(__file__) for w in spec.where)


def test_the_order_of_declaration_changes_nothing():
    texts = []
    for order in itertools.permutations(["add_one", "add_two"]):
        made = {name: add(name) for name in order}
        module = design(made["add_one"], made["add_two"])
        texts.append((str(module), module.objects))
    assert texts[0] == texts[1]
    assert texts[0][1]["add_one.o"].members[0].source.name == (
        texts[1][1]["add_one.o"].members[0].source.name
    )


@pytest.mark.parametrize(
    "other",
    [
        {"compile_flags": ["-DB", "-DA"]},
        {"compile_flags": ["-DA"]},
        {"symbol_prefix": "p", "compile_flags": ["-DA", "-DB"]},
        {"source_string": SOURCE + " ", "compile_flags": ["-DA", "-DB"]},
    ],
)
def test_what_tells_objects_apart(other):
    """Flags count in their order; so do prefixes and every byte of the source."""
    module = design(add("add_one", compile_flags=["-DA", "-DB"]), add("add_two", **other))
    assert len(module.objects) == 2
    assert len(set(links(module).values())) == 2


def test_include_directories_count_in_their_order(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    a.mkdir()
    b.mkdir()
    first = add("add_one", include_dirs=[a, str(b)])
    assert first.object_spec.members[0].include_dirs == (str(a), str(b))
    assert len(design(first, add("add_two", include_dirs=[b, a])).objects) == 2
    assert len(design(first, add("add_two", include_dirs=[a, b])).objects) == 1


def test_objects_are_called_after_their_source(tmp_path):
    for directory in ("x", "y"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "scale.cc").write_text(SOURCE)
    f = add("f", source_string=None, source_file=tmp_path / "x/scale.cc")
    g = add("g", source_string=None, source_file=str(tmp_path / "y/scale.cc"))
    h = add("h", source_string=None, source_file=tmp_path / "x/scale.cc", symbol_prefix="q")
    for kernels in itertools.permutations([f, g, h]):
        module = design(*kernels)
        assert links(module) == {"f": "scale.o", "g": "scale_2.o", "q_h": "q_scale.o"}
        assert module.objects["scale.o"].members[0].source == SourceFile(
            str(tmp_path / "x/scale.cc")
        )


def test_an_explicit_name_wins_and_is_shared():
    module = design(add("add_one"), add("add_two", object_file_name="both.o"))
    assert links(module) == {"add_one": "both.o", "add_two": "both.o"}
    module = design(add("add_one", object_file_name="b.o"), add("add_two", object_file_name="a.o"))
    assert set(links(module).values()) == {"a.o"}


def test_one_name_for_two_contents_is_an_error_at_the_second():
    given = {"source_string": SOURCE, "arg_types": [TILE, TILE], "object_file_name": "k.o"}
    first = ExternalFunction("add_one", compile_flags=["-DA"], **given)
    at = line() - 1
    second = ExternalFunction("add_two", compile_flags=["-DB"], **given)
    for kernels in ((first, second), (second, first)):
        with pytest.raises(ValueError, match=r"'k\.o'") as fault:
            design(*kernels)
        text = str(fault.value)
        assert text.startswith(f"{__file__}:{at + 2}")
        assert f"{__file__}:{at}" in text
        assert "-DA" in text
        assert "-DB" in text
        assert "'add_one'" in text
        assert "'add_two'" in text


def test_a_name_of_an_object_that_exists_is_taken_as_well():
    with pytest.raises(ValueError, match="an object that exists"):
        design(Kernel("old", "k.o", [TILE, TILE]), add("add_one", object_file_name="k.o"))


def test_default_names_keep_clear_of_given_ones():
    module = design(Kernel("old", "add_one.o", [TILE, TILE]), add("add_one"))
    assert links(module) == {"old": "add_one.o", "add_one": "add_one_2.o"}
    assert list(module.objects) == ["add_one_2.o"]


def test_one_symbol_from_two_objects_is_an_error():
    first = add("add_one", compile_flags=["-DA"])
    second = add("add_one", compile_flags=["-DB"])
    with pytest.raises(ValueError, match="declared twice") as fault:
        design(second, first)
    text = str(fault.value)
    assert text.index("-DA") < text.index("-DB")
    assert f"{__file__}:{first.where.line}" in text
    assert f"{__file__}:{second.where.line}" in text
    assert "symbol_prefix" in text
    assert links(design(first, add("add_one", compile_flags=["-DB"], symbol_prefix="b"))) == {
        "add_one": "add_one.o",
        "b_add_one": "b_add_one.o",
    }


def test_the_same_function_declared_twice_is_one():
    module = design(add("add_one"), add("add_one"))
    assert len(ops(module, "func.func")) == 1
    assert len(ops(module, "func.call")) == 2


def test_one_function_with_two_signatures_is_an_error():
    other = ExternalFunction("add_one", source_string=SOURCE, arg_types=[TILE, TILE])
    with pytest.raises(ValueError, match="one list of arg_types"):
        design(add("add_one"), other)


def test_a_function_used_in_two_designs():
    function = add("add_one")
    first, second = design(function), design(function)
    assert str(first) == str(second)
    assert first.objects == second.objects


def test_an_object_nobody_uses_is_not_built():
    add("add_two", compile_flags=["-DUNUSED"])
    assert list(design(add("add_one")).objects) == ["add_one.o"]


def test_argument_types_are_copied():
    types = [TILE, TILE]
    f = ExternalFunction("f", source_string=SOURCE, arg_types=types)
    g = Kernel("g", "g.o", types)
    types.append(np.int32)
    assert f.arg_types() == g.arg_types() == [TILE, TILE]
    f.arg_types().clear()
    assert len(f.arg_types()) == 2
    design(f, g)
    assert f.arg_types() == [TILE, TILE]
    assert (f.arg_shape(1), f.arg_dtype(), f.tile_size()) == ((16,), np.dtype(np.int32), 16)


def test_an_archive_of_two_sources(tmp_path):
    (tmp_path / "a.cc").write_text(SOURCE)
    lib = ExternalArchive(
        "libk",
        sources=[tmp_path / "a.cc"],
        source_strings={"more.cc": "int more;"},
        compile_flags=["-DN=4"],
        include_dirs=[tmp_path],
    )
    module = design(*(lib.function(n, [TILE, TILE]) for n in ("f", "g")))
    assert links(module) == {"f": "libk.a", "g": "libk.a"}
    spec = module.objects["libk.a"]
    assert spec.archive
    assert [str(m.source) for m in spec.members] == [
        str(tmp_path / "a.cc"),
        "the source string more.cc",
    ]
    assert {m.flags for m in spec.members} == {("-DN=4",)}
    assert {m.include_dirs for m in spec.members} == {(str(tmp_path),)}
    assert spec.functions == ("f", "g")


def test_a_module_is_the_object_of_its_functions():
    unit = ExternalModule("ops", source_string=SOURCE, compile_flags=["-DA"])
    module = design(unit.function("add_one", [TILE, TILE]), add("add_two", compile_flags=["-DA"]))
    assert links(module) == dict.fromkeys(("add_one", "add_two"), "add_one.o")


def test_inline_functions_are_merged():
    module = design(add("add_one", inline=True))
    op = one(module, "func.func")
    assert op.attributes["link_with"].value == "add_one.ll"
    assert op.attributes["link_with_mode"].value == "merge"
    assert module.objects["add_one.ll"].merge


def test_files_are_found_next_to_the_python_file_then_here(tmp_path, monkeypatch):
    here = os.path.dirname(__file__)
    f = ExternalFunction("f", source_file=os.path.basename(__file__), include_dirs=["../design"])
    spec = f.object_spec
    assert spec.members[0].source == SourceFile(__file__)
    assert spec.members[0].include_dirs == (os.path.normpath(here),)
    monkeypatch.chdir(tmp_path)
    (tmp_path / os.path.basename(__file__)).write_text("")
    assert ExternalFunction("f", source_file=os.path.basename(__file__)).object_spec == (
        ExternalFunction("f", source_file=__file__).object_spec
    )
    (tmp_path / "only_here.cc").write_text("")
    f = ExternalFunction("f", source_file="only_here.cc")
    assert f.object_spec.members[0].source == SourceFile(str(tmp_path / "only_here.cc"))


def test_a_missing_file_is_an_error_where_it_is_declared(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError) as fault:
        ExternalFunction("f", source_file="absent.cc")
    at = line() - 1
    text = str(fault.value)
    assert f"{__file__}:{at}" in text
    assert os.path.join(os.path.dirname(__file__), "absent.cc") in text
    assert str(tmp_path / "absent.cc") in text
    with pytest.raises(FileNotFoundError, match="include directory not found"):
        add("f", include_dirs=["absent"])
    assert add("f", include_dirs=["/absent"]).object_spec.members[0].include_dirs == ("/absent",)
    with pytest.raises(FileNotFoundError, match="ExternalArchive 'l'"):
        ExternalArchive("l", sources=["absent.cc"])


@pytest.mark.parametrize("both", [True, False])
def test_just_one_source_is_given(both):
    sources = {"source_file": __file__, "source_string": ""} if both else {}
    with pytest.raises(ValueError, match="both" if both else "neither"):
        ExternalFunction("f", **sources)


@pytest.mark.parametrize("name", ["a/b.o", "/abs.o", "..", "a\\b.o"])
def test_an_object_name_is_a_file_name(name):
    with pytest.raises(ValueError, match="plain file name"):
        add("f", object_file_name=name)


def test_flags_are_a_list():
    with pytest.raises(TypeError, match="compile_flags is a list"):
        add("f", compile_flags="-DA")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"inline": True, "use_chess": True}, ValueError),
        ({"inline": True, "symbol_prefix": "p"}, NotImplementedError),
        ({"inline": True, "object_file_name": "x.o"}, ValueError),
    ],
)
def test_choices_that_exclude_each_other(options, error):
    with pytest.raises(error):
        add("f", **options)


def test_construction_reads_and_remembers_nothing(tmp_path):
    """The source may change until it is compiled: nothing was read when it was declared."""
    source = tmp_path / "k.cc"
    source.write_text("one")
    f = ExternalFunction("k", source_file=source, arg_types=[TILE, TILE])
    source.unlink()
    assert isinstance(f.object_spec, ObjectSpec)
    assert design(f).objects["k.o"].members[0].source == SourceFile(str(source))


def test_kernels_are_compared_by_what_they_are():
    assert add("f") == add("f")
    assert hash(add("f")) == hash(add("f"))
    assert add("f") != add("g")
    assert add("f") != add("f", compile_flags=["-DA"])
    assert Kernel("f", "a.o") != Kernel("f", "b.o")
    assert Kernel("f", "a.o", [TILE]) != Kernel("f", "a.o")


@pytest.mark.parametrize("scalar", [np.uint8, np.int8])
def test_only_scalars_that_can_be_passed(scalar):
    if scalar is np.uint8:
        with pytest.raises(TypeError, match="argument 0: unsigned scalars of 8 bits"):
            Kernel("f", "f.o", [scalar])
    else:
        assert [str(t) for t in Kernel("f", "f.o", [scalar, np.uint32]).types] == ["i8", "i32"]
