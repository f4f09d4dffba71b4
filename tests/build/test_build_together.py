"""Many processes and threads, killed ones among them: each result is made once and whole."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from build_workshop import CXX

from iron.build import In, Out, ProgramTool, Recipe, Ref, Session

ALL = """
recipes = [w.object(f"k{i}.cc", "-fPIC") for i in range(3)]
link = w.shared(*recipes)
"""


def sources(w, count=3):
    for i in range(count):
        w.write(f"k{i}.cc", f"int f{i}() {{ return {i}; }}\n")


def slow_tool(w, seconds=30.0):
    """Half an output, a sign of life, then a long wait."""
    path = w.root / "slow"
    path.write_text(
        f'#!/bin/sh\nprintf half > "$2"\necho $$ > {w.root}/started\n'
        f'sleep {seconds}\ncp "$1" "$2"\n'
    )
    path.chmod(0o755)
    return ProgramTool(path)


def wait_for(path: Path, process=None):
    while not path.exists() or not path.read_text():
        assert process is None or process.poll() is None, process.communicate()
        time.sleep(0.01)


def alive_in_group(group):
    """Processes of a group that still run; the dead may wait for init to notice."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, pgrp = entry.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        if pgrp == str(group) and state not in "ZX":
            found.append(entry.parent.name)
    return found


def step(tool, source):
    return Recipe("step", tool, (In(0), Out("o")), (source,), ("o",))


def test_eight_processes_start_cold_together(w):
    sources(w)
    gate = w.root / "gate"
    started = [
        w.python(
            ALL
            + f"""
            import time
            while not os.path.exists({str(gate)!r}): time.sleep(0.005)
            print(w.session.build(link)[0].key)
            """.replace("\n            ", "\n")
        )
        for _ in range(8)
    ]
    time.sleep(0.3)
    gate.write_text("")
    ended = [process.communicate(timeout=60) for process in started]
    assert [p.returncode for p in started] == [0] * 8, ended
    assert len({out for out, _ in ended}) == 1
    assert (w.runs("kernel-object"), w.runs("link")) == (3, 1)
    assert w.scratch() == []
    assert not (w.store / "failed").exists()


def test_threads_asking_for_one_thing_run_one_command(w):
    sources(w)
    session = Session(w.store)
    results, barrier = [], threading.Barrier(8)

    def ask():
        barrier.wait()
        results.append(session.build(w.shared(*(w.object(f"k{i}.cc", "-fPIC") for i in range(3)))))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 8
    assert len({r[0].key for r in results}) == 1
    assert (w.runs("kernel-object"), w.runs("link")) == (3, 1)


def test_commands_of_two_sessions_overlap(w, tmp_path):
    """Each command waits for the other one to have started: only together can they end."""

    def meet(mine, other):
        path = w.root / mine
        path.write_text(
            f"#!/bin/sh\ntouch {w.root}/{mine}.here\nn=0\n"
            f'while [ ! -e {w.root}/{other}.here ]; do n=$((n+1)); '
            f'[ $n -gt 500 ] && exit 9; sleep 0.02; done\ncp "$1" "$2"\n'
        )  # fmt: skip
        path.chmod(0o755)
        return step(ProgramTool(path), w.write("a", "x"))

    both = [meet("one", "two"), meet("two", "one")]
    threads = [threading.Thread(target=Session(w.store).build, args=(r,)) for r in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert Session(w.store).find(*both)


@pytest.mark.parametrize("victim", ["builder", "tool"])
def test_kill_9_leaves_nothing_partial_and_nobody_waiting(w, victim):
    source = w.write("a", "whole")
    tool = slow_tool(w)
    process = w.python(
        f"""
        from iron.build import *
        w.session.build(Recipe("step", ProgramTool({str(tool.program)!r}), (In(0), Out("o")),
                               ({source!r},), ("o",)))
        """
    )
    started = w.root / "started"
    wait_for(started, process)
    shell = int(started.read_text())
    os.kill(process.pid if victim == "builder" else shell, signal.SIGKILL)
    process.communicate(timeout=30)
    assert process.returncode != 0
    assert Session(w.store).find(step(tool, source)) is None
    tool.path  # noqa: B018 - the same tool, now quick
    Path(tool.program).write_text('#!/bin/sh\ncp "$1" "$2"\n')
    began = time.monotonic()
    result = Session(w.store).build(step(tool, source))[0]
    assert Path(result.path()).read_text() == "whole"
    assert time.monotonic() - began < 20  # the dead one's lock is not waited for
    if victim == "builder":
        os.killpg(shell, signal.SIGKILL)  # its orphan wrote into a directory nobody reads
    assert Path(result.path()).read_text() == "whole"


def test_who_waits_for_another_process_neither_spins_nor_repeats(w):
    source = w.write("a", "x")
    path = w.root / "patient"
    path.write_text(
        f'#!/bin/sh\necho $$ > {w.root}/started\n'
        f'while [ ! -e {w.root}/go ]; do sleep 0.02; done\ncp "$1" "$2"\n'
    )  # fmt: skip
    path.chmod(0o755)
    script = f"""
        import time
        from iron.build import *
        r = Recipe("step", ProgramTool({str(path)!r}), (In(0), Out("o")), ({source!r},), ("o",))
        w.session.find(r)
        import iron.build.nodes
        print("waiting", flush=True)
        before = time.process_time()
        w.session.build(r)
        print(time.process_time() - before)
    """
    first = w.python(script)
    wait_for(w.root / "started", first)
    waiting = [w.python(script) for _ in range(3)]
    for process in waiting:
        assert process.stdout.readline() == "waiting\n"
    time.sleep(0.6)
    assert [p.poll() for p in waiting] == [None] * 3
    (w.root / "go").write_text("")
    used = [float(p.communicate(timeout=60)[0]) for p in waiting]
    first.communicate(timeout=60)
    assert w.runs("step") == 1
    assert max(used) < 0.3  # spinning for most of a second would show


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking with threads
def test_a_forked_child_builds_while_the_parent_is_building(w):
    sources(w, 6)
    session = Session(w.store)
    session.build(w.object("k0.cc"))
    stop = threading.Event()

    def keep_building():
        i = 0
        while not stop.is_set():
            i += 1
            session.build(w.object(f"k{i % 3}.cc", f"-DN={i}"))

    thread = threading.Thread(target=keep_building)
    thread.start()
    try:
        codes = []
        for n in range(6):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    session.build(w.object("k5.cc", f"-DCHILD={n}"))
                    code = 0
                finally:
                    os._exit(code)
            codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    finally:
        stop.set()
        thread.join(60)
    assert codes == [0] * 6


def test_a_forked_child_does_not_hold_the_locks_of_a_parent_that_died(w):
    directory = w.root / "locks"
    parent = w.python(
        f"""
        import time
        from iron.build import locks
        with locks.exclusive({str(directory)!r}, "x"):
            child = os.fork()
            if child:
                print(child, flush=True)
            time.sleep(60)
        """
    )
    child = int(parent.stdout.readline())
    try:
        parent.kill()
        parent.wait()
        got = threading.Event()

        def take():
            from iron.build import locks

            with locks.exclusive(str(directory), "x"):
                got.set()

        threading.Thread(target=take, daemon=True).start()
        assert got.wait(10)
    finally:
        os.kill(child, signal.SIGKILL)
        parent.communicate()


def test_interrupting_a_build_leaves_nothing_running_and_the_next_one_works(w):
    source = w.write("a", "x")
    tool = slow_tool(w)
    process = w.python(
        f"""
        import signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        from iron.build import *
        try:
            w.session.build(Recipe("step", ProgramTool({str(tool.program)!r}),
                                   (In(0), Out("o")), ({source!r},), ("o",)))
        except KeyboardInterrupt:
            print("interrupted")
        """
    )
    wait_for(w.root / "started", process)
    shell = int((w.root / "started").read_text())
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert out == "interrupted\n", err
    assert alive_in_group(shell) == []
    assert w.scratch() == []
    Path(tool.program).write_text('#!/bin/sh\ncp "$1" "$2"\n')
    assert Session(w.store).build(step(tool, source))


def test_composite_results_are_made_once_and_found_by_their_parts(w):
    w.write("k.cc", "int f() { return 1; }\n")
    session, calls = Session(w.store), []

    def design(text):
        def make():
            calls.append(text)
            return w.object("k.cc", f"-D{text}")

        return session.composite("package", ["v1", text, w.object("k.cc")], make)

    first = design("A")
    assert design("A") == first
    assert design("B").key != first.key
    assert calls == ["A", "B"]
    w.write("k.cc", "int f() { return 2; }\n")
    assert design("A").key != first.key
    assert calls == ["A", "B", "A"]


def test_a_part_that_compiles_a_generated_source_is_made_first(w):
    template = w.write("k.in", "int f() { return 1; }\n")
    generate = Recipe("generate", ProgramTool("cp"), (In(0), Out("k.cc")), (template,), ("k.cc",))
    part = Recipe("o", w.cxx, ("-c", In(0), "-o", Out("o")), (Ref(generate),), ("o",), scan=True)
    session = Session(w.store)
    first = session.composite("package", [part], lambda: part)
    assert session.composite("package", [part], None) == first


def test_what_a_maker_raises_goes_through_as_it_is(w):
    def make():
        calls.append(1)
        raise FileNotFoundError("their own file")

    calls = []
    with pytest.raises(FileNotFoundError, match="their own file"):
        Session(w.store).composite("package", ["v1"], make)
    assert calls == [1]


def test_a_composite_made_while_its_parts_change_is_made_again(w):
    source = w.write("k.cc", "int f() { return 1; }\n")
    session, calls = Session(w.store), []

    def make():
        calls.append(1)
        if len(calls) == 1:
            Path(source).write_text("int f() { return 2; }\n")
        return w.object("k.cc")

    made = session.composite("package", [w.object("k.cc")], make)
    assert len(calls) == 2
    assert made == session.build(w.object("k.cc"))[0]


def test_the_compiler_of_these_tests_is_the_one_asked_for(w):
    assert os.path.basename(w.cxx.path) == os.path.basename(CXX)


def test_contents_kept_by_two_at_once_are_put_there_once(tmp_path, monkeypatch):
    """The second finds the first one's and leaves it alone: a command may be reading it."""
    import contextlib

    from iron.build import Session, Store

    first, second = Session(tmp_path / "store"), Session(tmp_path / "store")
    lock, inodes = Store.lock, []

    @contextlib.contextmanager
    def overtaken(self, key, *rest, **more):
        if self is second.store and not inodes:
            path = first.keep("text", ["k"], {"f": "content"}).path("f")
            inodes.append(os.stat(path).st_ino)
        with lock(self, key, *rest, **more) as held:
            yield held

    monkeypatch.setattr(Store, "lock", overtaken)
    path = second.keep("text", ["k"], {"f": "content"}).path("f")
    assert inodes == [os.stat(path).st_ino]
