"""Tools that look for files by name where they run, and what their outputs must begin with."""

from pathlib import Path

import pytest

from iron.build import BuildError, ProgramTool, Recipe, Session, Text


def join(*staged, inputs, argv=("-c", "cat a.txt b.txt > out.txt"), **options):
    return Recipe("join", ProgramTool("sh"), argv, inputs, ("out.txt",), staged=staged, **options)


@pytest.fixture
def session(tmp_path):
    return Session(tmp_path / "store with a space")


def test_inputs_lie_there_by_name_and_outputs_are_written_there(session):
    recipe = join(("a.txt", 1), ("b.txt", 0), inputs=(Text("one ", "x"), Text("two ", "y")))
    made = session.build(recipe)[0]
    assert Path(made.path()).read_text() == "two one "
    assert [p.name for p in Path(made.directory).iterdir() if p.is_symlink()] == []
    assert not (Path(made.directory) / "a.txt").exists()


def test_the_names_are_part_of_the_key(session):
    inputs = (Text("one ", "x"), Text("two ", "y"))
    first = session.build(join(("a.txt", 0), ("b.txt", 1), inputs=inputs))[0]
    second = session.build(join(("a.txt", 1), ("b.txt", 0), inputs=inputs))[0]
    assert first.key != second.key
    assert Path(second.path()).read_text() == "two one "


@pytest.mark.parametrize(
    "staged",
    [
        (("../a", 0),), (("a b", 0),), (("-a", 0),), (("out.txt", 0),), (("a.txt", 2),),
        (("a.txt", 0), ("a.txt", 1)), (("", 0),),
    ],
)  # fmt: skip
def test_names_that_mean_something_else_are_refused(staged):
    with pytest.raises(ValueError, match="staged"):
        join(*staged, inputs=(Text("one", "x"), Text("two", "y")))


def test_an_output_that_begins_otherwise_is_a_failure(session):
    inputs = (Text("one ", "x"), Text("two ", "y"))
    recipe = join(("a.txt", 0), ("b.txt", 1), inputs=inputs, begins=(("out.txt", b"\x7fELF"),))
    with pytest.raises(BuildError, match=r"begins b'one ', not b'\\x7fELF'") as caught:
        session.build(recipe)
    kept = Path(caught.value.failures[0].directory)
    assert "/out && " in (kept / "command.sh").read_text()
    assert session.find(recipe) is None
