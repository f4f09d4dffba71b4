"""Several processes on one store: what one has built, the others find."""

import os
import shutil
from pathlib import Path

from projects import Project, scratch_left


def test_a_second_process_runs_nothing_and_imports_no_scons(project, build_log):
    assert project.run() == "30 True"
    build_log.clear()
    assert project.run() == "30 False"
    assert build_log.runs() == 0


def test_another_checkout_compiles_nothing(project, build_log, tmp_path):
    project.run()
    clone = tmp_path / "elsewhere" / "ä clone $c"
    shutil.copytree(project.path, clone)
    build_log.clear()
    other = Project.__new__(Project)
    other.path = clone
    assert other.run() == "30 False"
    assert build_log.runs() == 0


def test_eight_cold_processes_compile_each_thing_once(project, build_log, own_store):
    started = [project.start() for _ in range(8)]
    for process in started:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, "")
        assert out.startswith("30 ")
    assert build_log.kinds() == {"kernel-object": 1, "bodies": 2, "link": 2, "package": 1}
    assert scratch_left(own_store) == []


def test_a_forked_child_calls_what_its_parent_called(project):
    design = project.load()
    expected = design.call()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if (design.call() == expected).all() else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert (design.call() == expected).all()


def test_nothing_is_written_beside_the_sources(project):
    before = {p for p in project.path.rglob("*") if p.name != "__pycache__"}
    project.run()
    after = {p for p in project.path.rglob("*") if "__pycache__" not in p.parts}
    assert after == before
    assert not list(Path.cwd().glob("*.o"))
