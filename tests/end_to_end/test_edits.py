"""One process, edits in between: each call reflects its edit and runs exactly what it needs."""

import os
import signal
import sys
import threading

import numpy as np
import pytest

import iron

FIRST = np.arange(256, dtype=np.int32) * 30


def edit_loop(project, build_log):
    """The loop of the acceptance: kernel, header, generator, comment, and back again."""
    design = project.load()
    np.testing.assert_array_equal(design.call(), FIRST)
    build_log.clear()
    np.testing.assert_array_equal(design.call(), FIRST)
    assert build_log.kinds() == {}

    project.edit("scale.cc", "in[i] * by", "in[i] * 2 * by")
    np.testing.assert_array_equal(design.call(), FIRST * 2)
    assert build_log.kinds() == {"kernel-object": 1, "link": 1, "package": 1}
    build_log.clear()

    project.edit("include/factor.h", "3", "5")
    np.testing.assert_array_equal(design.call(), FIRST * 2 // 3 * 5)
    assert build_log.kinds() == {"kernel-object": 1, "link": 1, "package": 1}
    build_log.clear()

    project.edit("design.py", "scale(x, y, 10)", "scale(x, y, 20)")
    np.testing.assert_array_equal(design.call(), FIRST * 4 // 3 * 5)
    assert build_log.kinds() == {"bodies": 1, "link": 1, "package": 1}
    build_log.clear()

    np.testing.assert_array_equal(design.call(), FIRST * 4 // 3 * 5)
    assert build_log.kinds() == {}

    project.edit("scale.cc", "extern", "// a comment\nextern")
    design.call()
    assert build_log.kinds() == {"kernel-object": 1}
    build_log.clear()

    project.edit("design.py", "TILE = 64\n", "TILE = 64\n\n# a comment\n")
    design.call()
    assert build_log.kinds() == {}

    project.edit("design.py", "scale(x, y, 20)", "scale(x, y, 10)")
    project.edit("include/factor.h", "5", "3")
    project.edit("scale.cc", "// a comment\nextern", "extern")
    project.edit("scale.cc", "in[i] * 2 * by", "in[i] * by")
    np.testing.assert_array_equal(design.call(), FIRST)
    assert build_log.kinds() == {}


def state():
    handlers = [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    return os.getcwd(), handlers, sys.stdout, sys.stderr, list(sys.path), threading.stack_size()


def test_each_edit_is_seen_by_the_next_call(project, build_log, capfd):
    before = state()
    edit_loop(project, build_log)
    assert state() == before
    assert capfd.readouterr() == ("", "")
    assert not [p for p in project.path.rglob("*") if p.suffix not in (".py", ".cc", ".h", ".pyc")
                and p.is_file()]  # fmt: skip


def test_the_same_from_a_thread(project, build_log):
    failed = []

    def work():
        try:
            edit_loop(project, build_log)
        except BaseException as e:
            failed.append(e)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed, failed


def test_an_edit_between_import_and_first_call_is_seen(project):
    design = project.load()
    project.edit("design.py", "scale(x, y, 10)", "scale(x, y, 20)")
    np.testing.assert_array_equal(design.call(), FIRST * 2)


def test_an_edited_default_of_a_compile_time_value_is_seen(project):
    design = project.load()
    design.call()
    project.edit("design.py", "CompileTime[int] = 256", "CompileTime[int] = 128")
    with pytest.raises(TypeError, match="which is 128 elements, got 256"):
        design.call()


def test_reload_never_trusts_what_is_loaded(project, build_log):
    design = project.load()
    with iron.options(reload="never"):
        design.call()
        project.edit("scale.cc", "in[i] * by", "in[i] * 2 * by")
        build_log.clear()
        np.testing.assert_array_equal(design.call(), FIRST)
        assert build_log.lines() == []
    np.testing.assert_array_equal(design.call(), FIRST * 2)


def test_a_global_and_a_closure_changed_at_run_time_are_seen(project):
    design = project.load()
    design.call()
    design.TILE = 32
    project.edit("scale.cc", "i < 64", "i < 32")
    np.testing.assert_array_equal(design.call(), FIRST)
    assert "memref<32xi32>" in design.scaled.as_mlir()


def test_a_kernel_that_does_not_compile_says_all_and_heals(project, build_log):
    design = project.load()
    project.edit("scale.cc", "in[i] * by", "in[i] * ;")
    with pytest.raises(iron.BuildError) as e:
        design.call()
    message = str(e.value)
    assert "scale.cc:5:" in message
    assert "error:" in message
    assert "-std=c++20" in message
    assert "design.py:" in message
    project.edit("scale.cc", "in[i] * ;", "in[i] * by * 7")
    np.testing.assert_array_equal(design.call(), FIRST * 7)


def test_a_missing_kernel_is_named_before_anything_runs(project, build_log):
    (project.path / "scale.cc").unlink()
    design = project.load()
    with pytest.raises(FileNotFoundError, match=r"scale\.cc.*searched"):
        design.call()
    assert build_log.runs() == 0
