"""A tool is what it runs: its programs and libraries by content, under whatever spelling."""

import os
import shutil
import subprocess
import sys

import pytest
from build_workshop import CXX, settle

from iron.build import In, Out, ProgramTool, Recipe, file_digest
from iron.build.identity import find_program
from iron.build.probe import parts_of, system_directories


def executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def step(tool, source, kind="step"):
    return Recipe(kind, tool, (In(0), Out("o")), (source,), ("o",))


@pytest.fixture(scope="module")
def toolchain(tmp_path_factory):
    """A program whose behaviour is all in a library of its own, like Clang's."""
    root = tmp_path_factory.mktemp("tc")
    (root / "bin").mkdir()
    (root / "lib").mkdir()
    library = root / "code.cc"
    (root / "main.cc").write_text(
        "#include <fstream>\nint code();\n"
        "int main(int, char **v) { std::ofstream(v[2]) << code(); }\n"
    )

    def make_library(value, name="libcode.so"):
        library.write_text(f"int code() {{ return {value}; }}\n")
        subprocess.check_call([CXX, "-shared", "-fPIC", library, "-o", root / "lib" / name])

    make_library(1)
    subprocess.check_call(
        [CXX, root / "main.cc", f"-L{root}/lib", "-lcode", "-Wl,-rpath,$ORIGIN/../lib", "-o",
         root / "bin/codegen"]
    )  # fmt: skip
    return root, make_library


def test_a_new_library_behind_the_same_program_is_a_new_tool(w, toolchain):
    root, make_library = toolchain
    make_library(1)
    source = w.write("a", "x")
    tool = ProgramTool(root / "bin/codegen")
    first = w.build(step(tool, source))[0]
    make_library(2, "new.so")
    os.replace(root / "lib/new.so", root / "lib/libcode.so")
    second = w.build(step(tool, source))[0]  # seen by the very same object
    assert [open_text(first), open_text(second)] == ["1", "2"]
    make_library(1)
    assert w.counted(step(ProgramTool(root / "bin/codegen"), source)) == ([first], 0)


def open_text(result):
    with open(result.path()) as file:
        return file.read()


def test_touching_and_spelling_make_no_new_tool(w, toolchain, tmp_path):
    root, make_library = toolchain
    make_library(1)
    source = w.write("a", "x")
    w.build(step(ProgramTool(root / "bin/codegen"), source))
    for name in ("bin/codegen", "lib/libcode.so"):
        settle(root / name)
    (tmp_path / "other").symlink_to(root)
    shutil.copytree(root, tmp_path / "copy")
    for place in (root, tmp_path / "other", tmp_path / "copy"):
        assert w.counted(step(ProgramTool(place / "bin/codegen"), source))[1] == 0


def test_a_packager_upgrade_recompiles_nothing(w):
    w.write("k.cc", "int f() { return 1; }\n")
    packager = executable(w.root / "bin/pack", '#!/bin/sh\ncp "$1" "$2"\n')

    def package():
        from iron.build import Ref

        return Recipe("package", ProgramTool(packager), (In(0), Out("o")),
                      (Ref(w.object("k.cc")),), ("o",))  # fmt: skip

    w.build(package())
    executable(packager, '#!/bin/sh\n# new\ncp "$1" "$2"\n')
    w.build(package())
    assert (w.runs("kernel-object"), w.runs("package")) == (1, 2)


def test_a_script_counts_with_its_interpreter_and_the_libraries_beside_it(tmp_path):
    script = executable(tmp_path / "tc/bin/clang++", "#!/bin/sh\nexit 0\n")
    tool = ProgramTool(script)
    first = tool.identity()
    (tmp_path / "tc/lib").mkdir()
    (tmp_path / "tc/lib/libLLVM.so").write_text("1")
    second = ProgramTool(script, identity_extra=("x",)).identity()
    assert second != first
    facts = ProgramTool(script).facts()
    executable(script, "#!/bin/sh\nexit 0 # new\n")
    assert ProgramTool(script).identity() != facts.identity
    assert os.path.realpath("/bin/sh") in [f for f, _ in facts.files]


def test_extra_identity_is_text_or_a_files_content(tmp_path):
    data = tmp_path / "data"
    data.write_text("1")
    names = [
        ProgramTool("true").identity(),
        ProgramTool("true", identity_extra=("v1",)).identity(),
        ProgramTool("true", identity_extra=(str(data),)).identity(),
    ]
    data.write_text("2")
    names.append(ProgramTool("true", identity_extra=(str(data),)).identity())
    assert len(set(names)) == 4


def test_a_gcc_driver_counts_with_its_compiler_and_assembler():
    path = find_program(CXX)
    roles = [role for role, _ in parts_of(path, os.path.realpath(path))]
    assert "program" in roles
    if "clang" not in os.path.basename(os.path.realpath(path)):
        assert {"cc1plus", "as", "collect2"} <= set(roles)
        assert any(role.startswith("as:lib") for role in roles)


def test_a_wheels_record_is_part_of_its_programs(tmp_path):
    site = tmp_path / "lib/python3.11/site-packages"
    program = executable(site / "peano/bin/clang++", "#!/bin/sh\n")
    record = site / "peano-1.dist-info/RECORD"
    record.parent.mkdir()
    record.write_text("peano/bin/clang++,sha256=x,1\npeano/include/a.h,sha256=1,1\n")
    first = ProgramTool(program).identity()
    record.write_text("peano/bin/clang++,sha256=x,1\npeano/include/a.h,sha256=2,1\n")
    assert ProgramTool(program).identity() != first
    script = executable(tmp_path / "bin/aiecc", "#!/bin/sh\n")
    record.write_text("../../../bin/aiecc,sha256=x,1\n")
    assert str(record) in [f for _, f in parts_of(str(script), str(script))]


def test_launchers_that_pose_as_the_compiler_are_passed_over(tmp_path, monkeypatch):
    launcher = executable(tmp_path / "real/ccache", "#!/bin/sh\n")
    (tmp_path / "masquerade").mkdir()
    (tmp_path / "masquerade/my-cc").symlink_to(launcher)
    compiler = executable(tmp_path / "bin/my-cc", "#!/bin/sh\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/masquerade{os.pathsep}{tmp_path}/bin")
    assert find_program("my-cc") == str(compiler)
    with pytest.raises(FileNotFoundError, match="no program 'nothing'"):
        find_program("nothing")


def test_the_identity_is_remembered_on_disk_and_only_while_true(w, toolchain):
    root, _ = toolchain
    source = w.write("a", "x")
    script = f"""
        import iron.build.identity as identity
        def none(*_): raise AssertionError("examined again")
        identity.examine = none
        from iron.build import *
        r = Recipe("step", ProgramTool({str(root / "bin/codegen")!r}), (In(0), Out("o")),
                   ({source!r},), ("o",))
        w.session.build(r)
        print("subprocess" in sys.modules)
    """
    w.build(step(ProgramTool(root / "bin/codegen"), source))
    w.run_python(script)
    for memo in (w.store / "tools").iterdir():
        memo.write_text(memo.read_text()[:-10])
    process = w.python(script)
    assert "examined again" in process.communicate()[1]


def test_the_compilers_own_directories_are_known():
    directories = system_directories(find_program(CXX), ())
    assert any(os.path.exists(f"{d}/vector") for d in directories)
    assert any(os.path.exists(f"{d}/stddef.h") for d in directories)


def test_two_processes_with_different_hash_seeds_agree(w, monkeypatch):
    w.write("k.cc", '#include "a.h"\n#include "b.h"\nint f;\n')
    w.write("a.h", "")
    w.write("b.h", "")
    keys = set()
    for seed in "123":
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        keys.add(w.run_python('print(w.session.build(w.object("k.cc", "-O1"))[0].key)'))
    assert len(keys) == 1
    assert w.runs() == 1
    assert sys.flags.hash_randomization


def test_file_digest_follows_the_content(tmp_path):
    path = tmp_path / "a"
    path.write_text("1")
    first = file_digest(path)
    path.write_text("2")
    assert file_digest(path) != first
    path.write_text("1")
    assert file_digest(path) == first
    with pytest.raises(FileNotFoundError, match="nothing"):
        file_digest(tmp_path / "nothing")
