"""The private names of SCons that the engine stands on, and what it must leave untouched.

If this fails after an upgrade of SCons, read iron/build/engine.py against the new release before
the range in pyproject.toml is widened.
"""

import inspect
import os
import subprocess
import sys
import threading
import types

import pytest
import SCons
import SCons.Action
import SCons.Builder
import SCons.Defaults
import SCons.Environment
import SCons.Errors
import SCons.Executor
import SCons.Node
import SCons.Node.Alias
import SCons.Node.FS
import SCons.PathList
import SCons.SConsign
import SCons.Taskmaster
import SCons.Taskmaster.Job

from iron.build import engine

FS = SCons.Node.FS
Parallel = SCons.Taskmaster.Job.NewParallel


def parameters(function):
    return list(inspect.signature(function).parameters)


def source(thing):
    return inspect.getsource(thing)


def test_the_release_is_in_the_supported_range():
    assert tuple(map(int, SCons.__version__.split(".")[:2])) == (4, 11)


def test_a_walk_asks_for_no_signatures(w, monkeypatch):
    """The database is the process' and relative to the working directory: hands off."""

    def never(directory):
        raise AssertionError("the signature database was asked for")

    monkeypatch.setattr(FS.Dir, "sconsign", never)
    w.write("k.cc", "int f() { return 1; }\n")
    w.build(w.shared(w.object("k.cc", "-fPIC")))
    assert w.runs() == 2


def test_every_operation_of_the_local_file_system_is_replaced():
    operations = {n for n, v in vars(FS.LocalFS).items() if isinstance(v, types.FunctionType)}
    assert operations == {*engine.QUESTIONS, *engine.OTHERS}
    for name in operations:
        assert vars(engine.BuildFS)[name] is not vars(FS.LocalFS)[name]


def test_our_file_system_has_what_its_class_gives_itself(tmp_path):
    kept = FS.DirNodeInfo.fs, FS.FileNodeInfo.fs
    theirs = FS.FS(str(tmp_path))
    FS.DirNodeInfo.fs, FS.FileNodeInfo.fs = kept
    assert set(vars(engine.BuildFS())) == set(vars(theirs))
    text = source(FS.FS.__init__)
    for name in ("DirNodeInfo.fs = self", "FileNodeInfo.fs = self", 'self.Top._tpath = "."'):
        assert name in text.replace("'", '"')


def test_nothing_on_the_disk_is_in_our_file_system(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    kept = FS.DirNodeInfo.fs, FS.FileNodeInfo.fs
    fs = engine.BuildFS()
    assert not fs.File("a").exists()
    assert not fs.File(str(tmp_path / "a")).exists()
    assert not fs.Dir("/").exists()
    assert (FS.DirNodeInfo.fs, FS.FileNodeInfo.fs) == kept


def test_an_environment_of_ours_needs_no_default_environment():
    before = FS.default_fs
    env = engine.BuildEnvironment(engine.BuildFS())
    assert FS.default_fs is before
    assert env.get_CacheDir() is not None
    assert env.arg2nodes(["x"])[0].fs is env.fs
    assert SCons.Defaults._default_env is None or "SCons.Script" in sys.modules


def test_tasks_and_the_task_master():
    task = SCons.Taskmaster.OutOfDateTask
    assert {"exc_info", "exc_clear", "fail_stop", "failed", "prepare", "executed"} <= set(dir(task))
    master = SCons.Taskmaster.Taskmaster([], task)
    assert isinstance(master.original_top, list)
    assert callable(master.stop)
    assert "original_top" in source(SCons.Taskmaster.Taskmaster)
    assert "self.options.debug_includes" in source(task.executed_with_callbacks)


def test_the_scheduler_takes_our_lock_and_touches_no_signals():
    assert parameters(Parallel.__init__) == ["self", "taskmaster", "num", "stack_size"]
    text = source(Parallel)
    for name in ("self.tm_lock", "self.can_search_cv", "self.results_queue_lock", "self.workers"):
        assert f"{name} = " in text
    assert callable(Parallel._start_worker)
    assert "self.taskmaster.cleanup()" in source(Parallel.start)
    assert "signal" not in text
    assert "GetOption" not in text
    master = SCons.Taskmaster.Taskmaster([], engine.BuildTask)
    jobs = engine.SharedLockJobs(master, 2, lambda: None)
    assert jobs.tm_lock is engine.LOCK
    assert callable(jobs.interrupted.set)


def test_actions_and_builders():
    base = SCons.Action._ActionAction
    names = {"get_presig", "get_implicit_deps", "get_contents", "genstring", "__call__"}
    assert names <= set(dir(base))
    assert parameters(base.get_presig) == ["self", "target", "source", "env", "executor"]
    assert "execute(target, source, env, executor=executor)" in source(base.__call__)
    assert parameters(SCons.Action.CommandGeneratorAction.__init__)[1:3] == ["generator", "kw"]
    assert parameters(SCons.Action.CommandGeneratorAction._generate) == [
        "self", "target", "source", "env", "for_signature", "executor",
    ]  # fmt: skip
    executor = set(dir(SCons.Executor.Executor))
    assert {"get_all_targets", "get_all_sources", "get_action_list", "get_build_env"} <= executor
    assert {"node", "errstr", "status", "action"} <= set(
        parameters(SCons.Errors.BuildError.__init__)
    )


def test_what_upfront_asks_of_a_scons_run():
    fs = engine.BuildFS()
    node = fs.File("/x")
    for name in ("side_effect", "side_effects", "depends", "prerequisites", "always_build"):
        assert not getattr(node, name)
    assert engine.is_plain(node)
    assert not engine.is_copied(node)
    node.attributes.iron_declared = ()
    assert fs.Root[""]._lookupDict["/x"] is node
    assert engine.made_files(fs) == {}
    node.depends.append(fs.File("/y"))
    assert engine.made_files(fs) == {"/x": node}
    assert "isinstance(self, klass)" in source(FS.Base.must_be_same)
    walk = source(SCons.Taskmaster.Taskmaster._find_next_ready_node)
    for line in ("state = node.get_state()", "elif state > NODE_PENDING:", "child.get_state()"):
        assert line in walk
    assert engine.NO_STATE < SCons.Node.pending < engine.UP_TO_DATE


def test_what_a_scons_command_says_of_itself(tmp_path):
    (tmp_path / "SConstruct").write_text(
        "import iron.build.engine as e\n"
        "def say(target, source, env):\n"
        "    print(e.scons_builds(), e.asked_targets())\n"
        "print(e.scons_builds())\n"
        "DefaultEnvironment(tools=[])\n"
        "Environment(tools=[]).Command('x', [], Action(say, 'say'))\n"
    )
    command = [sys.executable, "-m", "SCons", "-Q", "x"]
    out = subprocess.check_output(command, cwd=tmp_path, text=True)
    assert out == f"False\nsay\nTrue { ({str(tmp_path / 'x')})!r}\n"


def test_strings_of_nodes_may_be_kept():
    assert parameters(FS.save_strings) == ["val"]


def test_a_node_may_change_its_class():
    node = engine.BuildFS().File("/x")
    node.__class__ = type("Sub", (FS.File,), {"__slots__": ()})
    for name in ("is_up_to_date", "prepare", "visited", "built", "has_builder", "rfile"):
        assert callable(getattr(node, name))


def test_a_walk_leaves_no_trace_in_scons(w):
    """In a process of its own: others may have filled SCons' module state here."""
    w.write("k.cc", '#include "h.h"\nint f() { return 1; }\n')
    w.write("h.h", "")
    out = w.run_python(
        """
        os.chdir(w.root)
        for n in range(3):
            w.session.build(w.shared(w.object("k.cc", "-fPIC", f"-DN={n}")))
        import SCons.Defaults, SCons.Node.FS as FS, SCons.SConsign, SCons.PathList, gc
        import SCons.Builder, SCons.Node.Python, threading
        gc.collect()
        print(FS.default_fs, SCons.Defaults._default_env, SCons.SConsign.sig_files,
              SCons.SConsign.DataBase, SCons.SConsign.DB_sync_list,
              len(FS.find_file.__self__._memo), len(SCons.PathList.PathList.__self__._memo),
              SCons.Node.Python._memo_lookup_map, "SCons.Script" in sys.modules,
              threading.stack_size(),
              sum(isinstance(o, FS.Base) for o in gc.get_objects()))
        """
    )
    assert out == "None None [] {} [] 0 0 {} False 0 0\n"
    assert [n for n in os.listdir(w.root) if "sconsign" in n] == []
    assert w.runs() == 4  # N is not used: three equal objects, linked once


def test_the_lock_may_be_taken_again_by_who_holds_it():
    with engine.LOCK, engine.LOCK:
        assert threading.Thread(target=int).daemon is False


def test_a_real_scons_run_keeps_its_own_signatures(tmp_path):
    """Nothing of the engine's import may reach file systems that are not ours."""
    (tmp_path / "SConstruct").write_text(
        "import iron.build.engine\nEnvironment(tools=[]).Command('b', 'a', Copy('b', 'a'))\n"
    )
    (tmp_path / "a").write_text("x")

    def scons():
        return subprocess.run(
            [sys.executable, "-m", "SCons"], cwd=tmp_path, capture_output=True, text=True,
            check=True,
        ).stdout  # fmt: skip

    assert "Copy" in scons()
    assert "is up to date" in scons()
    assert (tmp_path / ".sconsign.dblite").exists()


@pytest.mark.parametrize("jobs", [1, 4])
def test_one_and_many_workers_give_the_same(w, jobs):
    from iron.build import Session

    for i in range(4):
        w.write(f"k{i}.cc", f"int f{i}() {{ return {i}; }}\n")
    link = w.shared(*(w.object(f"k{i}.cc", "-fPIC") for i in range(4)))
    assert Session(w.store, jobs=jobs).build(link)
    assert w.runs() == 5
