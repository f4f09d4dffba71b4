"""Steps that ask for each other in a circle are told so, whichever threads and processes they are
in; steps that only ask for much at once are left alone."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from build_workshop import Workshop

from iron.build import (
    BuildError,
    FunctionTool,
    In,
    Out,
    ProgramTool,
    Recipe,
    Session,
    locks,
    steps,
    turns,
)
from iron.build.environ import WITHIN
from iron.build.turns import Turn

SECONDS = 30.0  # in which all has ended, or never will


def step(w: Workshop, name: str, function: Callable[[list[str]], Any]) -> Recipe:
    """A step in Python that leaves a file, and what it is called."""

    def leave(argv: list[str]) -> None:
        function(argv)
        with open(argv[1], "w", encoding="utf-8") as stream:
            stream.write(name)

    tool = FunctionTool(name, leave, ("iron.build.log",))
    return Recipe(name, tool, (In(0), Out("o")), (w.write("in", "x"),), ("o",), label=name)


def asked(*requests: Callable[[], Any]) -> list[str]:
    """What each request, in a thread of its own, has failed with; "" if it has not."""
    said = [f"request {number} has not ended" for number in range(len(requests))]

    def ask(number: int) -> None:
        try:
            requests[number]()
            said[number] = ""
        except BuildError as error:
            said[number] = str(error)

    threads = [threading.Thread(target=ask, args=(n,), daemon=True) for n in range(len(requests))]
    for thread in threads:
        thread.start()
    until = time.monotonic() + SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return said


def circle(*names: str) -> str:
    return f"asks for this very result: {' -> '.join((*names, names[0]))}"


def test_two_threads_begin_steps_that_ask_for_each_other(w: Workshop) -> None:
    both = threading.Barrier(2)
    session = Session(w.store)

    def one(_: list[str]) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        session.build(b)

    def two(_: list[str]) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        session.build(a)

    a, b = step(w, "A", one), step(w, "B", two)
    said = asked(lambda: session.build(a), lambda: Session(w.store).build(b))
    told = {circle("A", "B"), circle("B", "A")}
    assert all(any(circle in text for circle in told) for text in said), said
    assert w.scratch() == []


def in_a_thread(work: Callable[[], Any]) -> None:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()


def in_a_thread_of_a_thread(work: Callable[[], Any]) -> None:
    in_a_thread(lambda: in_a_thread(work))


def in_a_pool(work: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work).result()


def in_a_pool_that_ends(work: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work)


def in_a_task(work: Callable[[], Any]) -> None:
    async def main() -> None:
        await asyncio.to_thread(work)

    asyncio.run(main())


def in_an_empty_context(work: Callable[[], Any]) -> None:
    contextvars.Context().run(work)


WAYS = (
    in_a_thread, in_a_thread_of_a_thread, in_a_pool, in_a_pool_that_ends, in_a_task,
    in_an_empty_context,
)  # fmt: skip


JOINED = [way for way in WAYS if way is not in_a_task]  # from a thread that has no context


@pytest.mark.parametrize("way", WAYS)
def test_a_step_asks_for_itself_from_a_thread_that_it_started(
    w: Workshop, way: Callable[[Callable[[], Any]], None]
) -> None:
    inner: list[str] = []

    def again(_: list[str]) -> None:
        way(lambda: inner.append(asked_here(lambda: Session(w.store).build(own))))

    own = step(w, "own", again)
    assert asked(lambda: Session(w.store).build(own)) == [""]
    assert [circle("own") in text for text in inner] == [True]


def asked_here(request: Callable[[], Any]) -> str:
    try:
        request()
    except BuildError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("way", WAYS)
def test_a_circle_through_threads_and_another_step(
    w: Workshop, way: Callable[[Callable[[], Any]], None]
) -> None:
    inner: list[str] = []

    def asking(other: Callable[[], Recipe]) -> Callable[[list[str]], None]:
        def work() -> None:
            inner.append(asked_here(lambda: Session(w.store).build(other())))

        return lambda _: way(work)

    a = step(w, "A", asking(lambda: b))
    b = step(w, "B", asking(lambda: a))
    assert asked(lambda: Session(w.store).build(a)) == [""]
    assert sorted(inner)[0] == ""
    assert circle("A", "B") in sorted(inner)[1]


CIRCLE = """
from iron.build import *
import signal
signal.alarm(40)
number, count = int(sys.argv[1]), int(sys.argv[2])
def asking(n):
    def work(argv):
        open(w.root / f"begun{n}", "w").close()
        while not all(os.path.exists(w.root / f"begun{i}") for i in range(count)):
            time.sleep(0.01)
        Session(w.store).build(recipes[(n + 1) % count])
    return work
import time
recipes = [
    Recipe("step", FunctionTool(f"step {n}", asking(n), ("iron.build.log",)), (In(0), Out("o")),
           (str(w.src / "in"),), ("o",), label=f"step {n}")
    for n in range(count)
]
try:
    Session(w.store).build(recipes[number])
except BuildError as error:
    print(error)
"""


@pytest.mark.parametrize("count", [2, 3])
def test_processes_that_ask_for_each_others_steps(w: Workshop, count: int) -> None:
    w.write("in", "x")
    started = [w.python(CIRCLE, number, count) for number in range(count)]
    said = [process.communicate(timeout=60) for process in started]
    circles = [circle(*(f"step {(n + i) % count}" for i in range(count))) for n in range(count)]
    assert all(any(text in out for text in circles) for out, _ in said), said
    assert w.scratch() == []


@pytest.mark.parametrize("store", ["store", "another store"])
def test_a_command_that_runs_a_build_of_itself(w: Workshop, store: str) -> None:
    """The command's environment says which step it is part of, whichever store it uses."""
    path = w.root / "again"
    path.write_text(
        f"#!{sys.executable}\n"
        "import sys\n"
        f"sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "from build_workshop import Workshop\n"
        "from iron.build import *\n"
        f"w = Workshop.reopen({str(w.root)!r})\n"
        f"tool, inputs = ProgramTool({str(path)!r}), ({w.write('in', 'x')!r},)\n"
        f"own = Recipe('step', tool, (In(0), Out('o')), inputs, ('o',), label='again')\n"
        f"Session(w.root / {store!r}).build(own)\n"
    )
    path.chmod(0o755)
    own = Recipe(
        "step", ProgramTool(path), (In(0), Out("o")), (str(w.src / "in"),), ("o",), label="again"
    )
    (said,) = asked(lambda: Session(w.store).build(own))
    assert circle("again") in said
    assert w.runs() == 1


def test_a_process_that_outlives_the_command_it_was_part_of_builds(
    w: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    own = step(w, "own", lambda _: heard.append(steps.words()))
    Session(w.store).build(own)
    assert ":" in heard[0]
    for number, said in enumerate((*heard, "x:zz", ":", "1", "a:" + b"/etc/passwd".hex())):
        monkeypatch.setenv(WITHIN, said)
        assert Session(w.root / f"store {number}").build(own)


def graph(w: Workshop, rng: random.Random, edges: Sequence[tuple[int, int]]) -> list[Recipe]:
    """Steps 0 to 7 that ask for each other along the edges, in all kinds of threads at once."""

    def work(number: int) -> Callable[[list[str]], None]:
        def function(_: list[str]) -> None:
            problems: list[BaseException] = []

            def ask(other: int) -> None:
                try:
                    Session(w.store).build(recipes[other])
                except BuildError as problem:
                    problems.append(problem)

            threads = [
                threading.Thread(target=rng.choice(JOINED), args=(lambda o=o: ask(o),), daemon=True)
                for n, o in edges
                if n == number
            ]
            for thread in threads:
                thread.start()
            time.sleep(0.001 * rng.randrange(20))
            for thread in threads:
                thread.join()
            if problems:
                raise problems[0]

        return function

    recipes = [step(w, f"step {n}", work(n)) for n in range(8)]
    return recipes


@pytest.mark.parametrize("seed", range(2))
def test_steps_that_ask_for_much_at_once_get_it_unless_it_is_a_circle(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(steps, "LOOK", 0.002)
    monkeypatch.setattr(steps, "MOMENT", 0.001)
    rng = random.Random(seed)
    edges = [(n, o) for n in range(8) for o in range(n + 1, 8) if rng.random() < 0.4]
    edges += [(n, n + 1) for n in range(7)]

    def requests(recipes: list[Recipe]) -> list[Callable[[], Any]]:
        return [lambda r=r: Session(w.store).build(r) for r in rng.sample(recipes, 8)]

    assert asked(*requests(graph(w, rng, edges))) == [""] * 8
    # Failures are not kept: a circle among many would be run into again and again.
    w.store = w.root / "other store"
    edges = [(n, n + 1) for n in range(7)] + [(7, rng.randrange(4)), (3, 6)]
    said = asked(*requests(graph(w, rng, edges)))
    assert all("asks for this very result" in text for text in said), said


def test_a_thread_that_nobody_waits_for_gets_what_is_being_made(w: Workshop) -> None:
    """It was started by the step itself, but the step ends without it."""
    late: list[Any] = []

    def work(_: list[str]) -> None:
        thread = threading.Thread(target=lambda: late.extend(Session(w.store).build(own)))
        thread.start()
        threads.append(thread)
        time.sleep(2 * steps.LOOK)

    threads: list[threading.Thread] = []
    own = step(w, "own", work)
    assert asked(lambda: Session(w.store).build(own)) == [""]
    threads[0].join(SECONDS)
    assert len(late) == 1


def test_the_words_of_the_dead_are_no_circle(w: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process leaves its file, which says for ever that it waits for us."""
    monkeypatch.setattr(steps, "LOOK", 0.002)
    session = Session(w.store)
    slow = threading.Event()
    other = step(w, "other", lambda _: slow.wait(SECONDS))
    own = step(w, "own", lambda _: session.build(other))
    keys = session.keys()
    directory = w.store / "lock"
    directory.mkdir(parents=True)
    thread = threading.Thread(target=lambda: Session(w.store).build(other))
    thread.start()
    path = directory / keys.leaf(other)
    while (says := locks.holder(str(path))) is None:
        time.sleep(0.005)
    # It asks for a step whose maker has died while asking for ours.
    locks.Held(str(path), says.token).asks("0" * 40, "dead")
    dead = locks.Held(str(directory / ("0" * 40)), "dead")
    (directory / ("0" * 40)).write_text("dead\tprocess 1 on nowhere\tdead\n")
    dead.asks(keys.leaf(own), "own")
    threading.Timer(0.3, slow.set).start()
    assert asked(lambda: session.build(own)) == [""]
    thread.join(SECONDS)


def test_what_may_be_a_circle_and_cannot_be_known_is_said(
    w: Workshop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A step waits in a way of its own for a thread that knows nothing of it."""
    monkeypatch.setattr(steps, "LOOK", 0.01)
    monkeypatch.setattr(steps, "DOUBT", 0.05)
    done = threading.Event()

    def work(_: list[str]) -> None:
        threading.Thread(target=lambda: (Session(w.store).build(own), done.set())).start()
        done.wait(0.5)  # with a limit, that it may end at all

    own = step(w, "own", work)
    assert asked(lambda: Session(w.store).build(own)) == [""]
    assert done.wait(SECONDS)
    assert len(caplog.records) == 1
    assert "own: waiting for process" in caplog.text
    assert "neither will end" in caplog.text


def test_turns_may_be_taken_again_and_in_any_order_but_not_in_a_circle() -> None:
    a, b, c = (Turn(name) for name in "abc")
    begun = threading.Barrier(3)

    def take(first: Turn, then: Turn) -> Callable[[], None]:
        def work() -> None:
            with first, first:
                begun.wait(SECONDS)
                in_a_thread(lambda: said.append(asked_here(lambda: enter(then))))
            enter(first)

        return work

    def enter(turn: Turn) -> None:
        with turn:
            pass

    said: list[str] = []
    assert asked(take(a, b), take(b, c), take(c, a)) == [""] * 3
    assert any("a -> b -> c -> a" in t or "b -> c -> a -> b" in t or "c -> a -> b -> c" in t
               for t in said), said  # fmt: skip
    assert asked(lambda: enter(a), lambda: enter(b), lambda: enter(c)) == [""] * 3


def test_a_turn_that_somebody_has_for_long_is_waited_for() -> None:
    turn, other = Turn("turn"), Turn("other")
    has = threading.Event()

    def long() -> None:
        with turn:
            has.set()
            time.sleep(3 * turns.LOOK)
            with other:
                pass

    def wait() -> None:
        has.wait(SECONDS)
        with turn:
            pass

    assert asked(long, wait, wait) == [""] * 3
