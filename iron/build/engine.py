"""SCons' build engine, driven in process: the only module that touches its private names.

A fresh file system view, environment and graph for every walk; no command line, no
DefaultEnvironment, no signature database, no signal handlers, no working directory, nothing on
standard output. The graph has no nodes but results to be made, which are no paths, and no scanners,
so that SCons' module-level memos of directory listings stay empty. One global lock guards its
module-level state during construction and every step of the task master; commands run outside it.
test_build_contract.py pins every name used here.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import SCons.Action
import SCons.Builder
import SCons.CacheDir
import SCons.Defaults
import SCons.Environment
import SCons.Errors
import SCons.Node
import SCons.Node.Alias
import SCons.Node.FS
import SCons.Platform
import SCons.Taskmaster
import SCons.Taskmaster.Job

from .errors import BuildError
from .forks import SCONS

_FS: Any = SCons.Node.FS

# What nodes.py and targets.py build on.
FileNode = SCons.Node.FS.File
EntryNode = SCons.Node.FS.Entry
DirNode = SCons.Node.FS.Dir
ActionBase = SCons.Action._ActionAction
Builder = SCons.Builder.BuilderBase
Error = SCons.Errors.BuildError

# A signal may arrive just before the main thread begins to wait, which then does not notice: it
# never waits longer than this in one go.
SLICE = 0.1

LOCK = SCONS


class BuildFS(SCons.Node.FS.FS):  # type: ignore[misc]
    """A file system in which nothing exists. Its nodes stand for results, not for paths: neither
    the working directory nor what lies on the disk matters to a walk."""

    def __init__(self) -> None:
        # Not FS.__init__: it would make this one the FS of every node info of the process, for
        # a moment at least, in which a scons run in another thread may look.
        self._memo: dict[str, Any] = {}
        self.Root: dict[str, Any] = {}
        self.max_drift = 0
        self.pathTop = "/results"
        self.defaultDrive = ""
        self.Top = self.Dir(self.pathTop)
        self.Top._path = self.Top._tpath = "."
        self._cwd = self.Top
        self.SConstruct_dir = self.Top


# Every operation of SCons' LocalFS: questions, answered no, and the others, which find nothing.
QUESTIONS = ("exists", "isdir", "isfile", "islink")
OTHERS = (
    "chmod", "copy", "copy2", "getmtime", "getsize", "link", "listdir", "lstat", "makedirs",
    "mkdir", "open", "readlink", "rename", "scandir", "stat", "symlink", "unlink",
)  # fmt: skip


def _no(self: BuildFS, path: str) -> bool:
    return False


def _nothing(self: BuildFS, *arguments: Any, **more: Any) -> Any:
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), *arguments[:1])


for _name in QUESTIONS:
    setattr(BuildFS, _name, _no)
for _name in OTHERS:
    setattr(BuildFS, _name, _nothing)


_PLATFORM = SCons.Platform.Platform()


def _by_content(dependency: Any, target: Any, before: Any, repository: Any = None) -> Any:
    return dependency.changed_content(target, before, repository)


def _print_nothing(text: str, target: Any, source: Any, env: Any) -> None:
    return


class BuildEnvironment(SCons.Environment.Base):  # type: ignore[misc]
    """A construction environment on its own file system and alias names; everything that would
    make SCons create the DefaultEnvironment is set."""

    def __init__(self, fs: BuildFS) -> None:
        with LOCK:
            # Without a default file system SCons would make one of the working directory.
            missing = _FS.default_fs is None
            if missing:
                _FS.default_fs = fs
            try:
                super().__init__(platform=_PLATFORM, tools=[])
            finally:
                if missing:
                    _FS.default_fs = None
            self.fs = fs
            self.ans = SCons.Node.Alias.AliasNameSpace()
            self.lookup_list = [self.ans.lookup]
            self.decide_source = self.decide_target = _by_content
            self._CacheDir_path = None
            self["PRINT_CMD_LINE_FUNC"] = _print_nothing


class BuildTask(SCons.Taskmaster.OutOfDateTask):  # type: ignore[misc]
    """One step of a walk. Failures are collected; the first one stops new work."""

    failures: list[BaseException]
    # Keeps executors after their node is built: the graph is read once more by its parents.
    options = types.SimpleNamespace(debug_includes=True)

    def failed(self) -> None:
        error = self.exc_info()[1]
        self.failures.append(getattr(error, "cause", None) or error)
        self.fail_stop()
        self.exc_clear()


class SharedLockJobs(SCons.Taskmaster.Job.NewParallel):  # type: ignore[misc]
    """SCons' scheduler, its task-master lock being ours: walks of different sessions take turns
    at their graphs while their commands overlap."""

    def __init__(self, taskmaster: Any, jobs: int, tick: Callable[[], None]) -> None:
        self._tick = tick
        super().__init__(taskmaster, jobs, 0)  # 0: do not touch the process' thread stack size
        self.tm_lock = LOCK
        self.can_search_cv = threading.Condition(LOCK)
        self.results_queue_lock = threading.Lock()
        self._working = 0
        self._idle = threading.Condition()

    def start(self) -> None:
        """Like SCons', but one job has a thread of its own as well: Ctrl-C is raised in the main
        thread, and in the middle of starting a process it would leave that one behind."""
        self._start_worker()
        self.wait(None)
        self.taskmaster.cleanup()

    def _start_worker(self) -> None:
        self._count(1)
        try:
            super()._start_worker()
        except BaseException:
            self._count(-1)
            raise

    def _work(self) -> None:
        try:
            super()._work()
        finally:
            self._count(-1)

    def _count(self, more: int) -> None:
        with self._idle:
            self._working += more
            self._idle.notify_all()

    def wait(self, seconds: float | None) -> None:
        """Until no worker works. Not Thread.join: interrupted, it takes the thread for ended."""
        end = None if seconds is None else time.monotonic() + seconds
        with self._idle:
            while self._working and (end is None or time.monotonic() < end):
                self._idle.wait(SLICE)
                self._tick()


def walk(
    targets: Sequence[Any], jobs: int, cancel: Callable[[], float], tick: Callable[[], None]
) -> list[BaseException]:
    """Bring the targets up to date; what went wrong, as exceptions of our actions.

    On KeyboardInterrupt (or anything else raised in the calling thread) `cancel` is called, the
    workers are waited for as many seconds as it says and the exception goes on. `tick` is called
    now and then meanwhile. Never call this with LOCK held.
    """
    failures: list[BaseException] = []
    with LOCK:
        task = type("Task", (BuildTask,), {"failures": failures})
        master = SCons.Taskmaster.Taskmaster(list(targets), task)
        master.original_top = set(master.original_top)  # searched once for every node
        runner = SharedLockJobs(master, jobs, tick)
    try:
        runner.start()
    except BaseException:
        runner.interrupted.set()
        patience = cancel()
        with LOCK:
            master.stop()
        runner.wait(patience)
        raise
    return failures


if "SCons.Script" not in sys.modules:
    # str(node) is remembered; a process that reads SConscripts decides this itself.
    _FS.save_strings(True)


# ------------------------------------------------------------------ scons runs


def spare_collector() -> None:
    """In a `scons` command: what is loaded by now stays loaded, so the garbage collector need not
    go through all of it again and again while a graph of thousands of nodes grows."""
    if "SCons.Script" in sys.modules and not gc.get_freeze_count():
        gc.freeze()


NO_STATE, UP_TO_DATE = SCons.Node.no_state, SCons.Node.up_to_date


def scons_builds() -> bool:
    """Whether this is a `scons` command that has read its SConscripts and is not to clean."""
    script = sys.modules.get("SCons.Script")
    return script is not None and not (script.sconscript_reading or script.GetOption("clean"))


def asked_targets() -> set[Any]:
    """What a `scons` command was told to build: nodes, and names as paths."""
    script: Any = sys.modules["SCons.Script"]
    asked = [*script.BUILD_TARGETS, *script.DEFAULT_TARGETS]
    return {os.path.abspath(item) if isinstance(item, str) else item for item in asked}


def made_files(fs: Any) -> dict[str, Any]:
    """Every file that a run may still change, by its path: nodes that have a builder, come about
    on the side, or wait for other nodes."""
    return {
        path: node
        for root in fs.Root.values()
        for path, node in root._lookupDict.items()
        if isinstance(node, _FS.Base) and not isinstance(node, _FS.Dir) and not is_plain(node)
    }


def is_plain(node: Any) -> bool:
    """Whether a run leaves a node's file alone."""
    return not (node.has_builder() or node.side_effect or node.depends or node.prerequisites)


def is_copied(node: Any) -> bool:
    """Whether a run puts a copy of a source into a variant directory."""
    return bool(node.duplicate) and node.srcnode() is not node


def build_environment(executor: Any) -> Any:
    """The environment an executor's action will get, overrides included."""
    return executor.get_build_env()


def single_action(executor: Any) -> Any:
    """The one action an executor will run, a generator having been asked; None if several."""
    actions = executor.get_action_list()
    if len(actions) != 1:
        return None
    if isinstance(actions[0], SCons.Action.CommandGeneratorAction):
        targets, sources = executor.get_all_targets(), executor.get_all_sources()
        return actions[0]._generate(targets, sources, executor.get_build_env(), True, executor)
    return actions[0]


def failed(problem: Exception, targets: Any, action: Any) -> Any:
    """For SCons, with the exception itself in `cause`."""
    status = 1
    if isinstance(problem, BuildError) and problem.failures[0].status:
        status = problem.failures[0].status
    error = Error(node=targets, errstr=str(problem), status=abs(status), action=action)
    error.cause = problem
    return error
