"""compile_commands.json lists the kernels of designs, wherever they were built from."""

import json
import os


def test_kernels_of_the_jit_are_listed_at_the_users_files(project, tmp_path, monkeypatch):
    database = tmp_path / "editor" / "compile_commands.json"
    database.parent.mkdir()
    monkeypatch.setenv("IRON_COMPILE_COMMANDS", str(database.parent))
    project.load().call()
    entries = json.loads(database.read_text())
    kernel = [e for e in entries if e["file"].endswith("scale.cc")]
    assert [e["file"] for e in kernel] == [str(project.path / "scale.cc")]
    assert f"-I{project.path / 'include'}" in kernel[0]["arguments"]
    assert all(os.path.isabs(e["directory"]) and os.path.isfile(e["file"]) for e in entries)


def test_a_source_string_is_listed_at_its_stored_copy(own_store, tmp_path, monkeypatch):
    from iron.build import Session
    from iron.toolchain.host import HostToolchain
    from iron.toolchain.objects import CompileSpec, ObjectSpec, SourceText

    monkeypatch.setenv("IRON_COMPILE_COMMANDS", str(tmp_path / "db.json"))
    spec = ObjectSpec((CompileSpec(SourceText("int k() { return 1; }\n", "k.cc")),))
    kernels = HostToolchain.find().kernels({"k.o": spec})
    session = Session()
    session.composite("package", ["x", *kernels], lambda: kernels[0])
    (entry,) = json.loads((tmp_path / "db.json").read_text())
    assert entry["file"].startswith(own_store)
    with open(entry["file"], encoding="utf-8") as stream:
        assert stream.read() == "int k() { return 1; }\n"


def test_a_database_that_cannot_be_written_is_a_warning(own_store, tmp_path, monkeypatch, caplog):
    from iron.build import Session, compdb

    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IRON_COMPILE_COMMANDS", str(tmp_path / "file" / "db.json"))
    compdb.note(Session(), [])
    assert len(caplog.records) == 1
