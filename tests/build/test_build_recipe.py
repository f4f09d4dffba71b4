"""Recipes refuse what could never work, at the line that says it."""

import pytest

from iron.build import In, IncludeDirs, Joined, Out, ProgramTool, Recipe, Ref, Text
from iron.build.recipe import render

TOOL = ProgramTool("true")


def make(**changed):
    fields = {
        "kind": "thing",
        "tool": TOOL,
        "argv": (In(0), Out("a")),
        "inputs": ("x",),
        "outputs": ("a",),
    }
    return Recipe(**{**fields, **changed})


def test_paths_become_absolute_at_construction(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    recipe = make(include_dirs=("inc",), scan=True, argv=(IncludeDirs(), In(0), Out("a")))
    assert recipe.inputs == (str(tmp_path / "x"),)
    assert recipe.include_dirs == (str(tmp_path / "inc"),)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"outputs": ()}, "no outputs"),
        ({"outputs": ("../a",), "argv": ()}, "plain name"),
        ({"outputs": (".record",), "argv": ()}, "plain name"),
        ({"outputs": ("a", "a")}, "twice"),
        ({"argv": (In(1),)}, "with 1 inputs"),
        ({"argv": (Out("b"),)}, "not among the outputs"),
        ({"argv": (Joined("x", In(7)),)}, "with 1 inputs"),
        ({"inputs": ("a\nb",)}, "newline"),
        ({"include_dirs": ("i",)}, "without scan=True"),
        ({"include_dirs": ("i",), "scan": True}, "no IncludeDirs"),
        ({"argv": ("-MD",), "scan": True}, "made by the build layer"),
    ],
)
def test_a_recipe_that_cannot_work_is_refused(changed, text):
    with pytest.raises(ValueError, match=text) as caught:
        make(where="design.py:12", **changed)
    assert "design.py:12" in str(caught.value)


def test_a_recipe_is_no_input_by_itself():
    with pytest.raises(TypeError, match=r"Ref\(recipe\)"):
        make(inputs=(make(),))


def test_a_reference_to_no_output_is_refused():
    with pytest.raises(ValueError, match="no output 'b'; it has a"):
        Ref(make(), "b")


def test_rendering_puts_paths_where_placeholders_are():
    recipe = make(
        argv=("-x", IncludeDirs(), In(1), Joined("-Map=", Out("a")), In(0)),
        inputs=("one", Text("", "two.c")),
        include_dirs=("/i", "/j"),
        scan=True,
    )
    argv = render(recipe, lambda i: f"<{i}>", lambda name: f"/out/{name}", str)
    assert argv == ["-x", "-I/i", "-I/j", "<1>", "-Map=/out/a", "<0>"]
