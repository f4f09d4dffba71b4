"""Which steps are being made, and who asks for what meanwhile: a step that would wait for itself is
told so.

A step in Python may ask for other results while it is made, a command may run a build. What it asks
for is written into the file of the lock that it holds, so that a circle of steps is seen by whoever
waits in it, whichever threads and processes they are in. A thread belongs to the step that has
called into the build layer in it or in the context that it was given (contextvars), or that waits
for its end; a command, to the step that its environment names.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from . import joins, locks
from .environ import WITHIN
from .errors import BuildError, Failure
from .identity import FunctionTool

if TYPE_CHECKING:
    from .recipe import Recipe
    from .store import Store

# How long somebody has waited when it is first looked whether that can end, and how often then;
# a circle that was seen is looked at once more after MOMENT.
LOOK, MOMENT = 0.2, 0.03
# When people are told of a wait that may never end, but is not known to.
DOUBT = 30.0


@dataclass(eq=False)
class Step:
    """A result in the middle of being made."""

    key: str
    name: str
    held: locks.Held
    in_python: bool  # not by a command
    thread: int  # that makes it
    outer: Caller  # who has asked for it
    ended: bool = False

    @property
    def caller(self) -> Caller:
        """Who works in its thread now: this step and all around it."""
        return Caller(self.outer.thread, (*self.outer.steps, self))


class Caller(NamedTuple):
    """On whose behalf something is asked for."""

    thread: int  # that waits for the answer in the end
    steps: tuple[Step, ...]  # that are being made meanwhile, the outermost first


_caller: ContextVar[Caller | None] = ContextVar("iron.build.steps", default=None)
_running: set[Step] = set()


def _after_fork() -> None:
    """The threads of the parent are not here, and others will have their names."""
    _running.intersection_update(caller().steps)


def caller() -> Caller:
    """Who asks, in this thread and context."""
    known = _caller.get()
    if known is not None:
        # A context may outlive the step that it was copied in.
        steps = tuple(step for step in known.steps if not step.ended)
        if steps or not known.steps:
            return Caller(known.thread, steps)
    thread = threading.get_ident()
    around = _innermost(thread)  # in a context that knows nothing of it
    return Caller(thread, ()) if around is None else around.caller


os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def inside(asking: Caller) -> Iterator[None]:
    """This thread works for a walk that somebody has asked for."""
    token = _caller.set(asking)
    try:
        yield
    finally:
        _caller.reset(token)


def words() -> str:
    """For the environment of a command: which steps it is part of, the outermost first."""
    outer = [word for word in os.environ.get(WITHIN, "").split(",") if ":" in word]
    own = [f"{s.held.token}:{os.fsencode(s.held.path).hex()}" for s in caller().steps]
    return ",".join((*outer, *own)) or "1"


def _outer() -> tuple[Step, ...]:
    """The steps whose command this process is part of, as far as they are still being made."""
    found = []
    for word in os.environ.get(WITHIN, "").split(","):
        token, colon, place = word.partition(":")
        try:
            path = os.fsdecode(bytes.fromhex(place)) if colon else ""
        except ValueError:
            continue
        says = locks.holder(path) if path else None
        if says is not None and says.token == token and not locks.is_free(path):
            key, held = os.path.basename(path), locks.Held(path, token)
            found.append(Step(key, says.what, held, False, 0, Caller(0, ())))
    return tuple(found)


@contextmanager
def making(
    store: Store,
    key: str,
    recipe: Recipe,
    given_up: Callable[[], bool],
    waiting: Callable[[str], None],
) -> Iterator[None]:
    """Hold the lock of a key while its result is made.

    Raises BuildError if whoever holds it waits for us, Cancelled as soon as `given_up()`.
    """
    directory = store.side("lock")
    asking = caller()
    outer = _outer()
    name = recipe.describe()
    wait = _Wait(directory, key, recipe, asking, outer, given_up)
    wait.refuse_own((*outer, *asking.steps))
    with ExitStack() as stack:
        for step in (*outer, *asking.steps)[-1:]:
            stack.callback(step.held.asks(key, name))
        stack.callback(wait.end)
        held = stack.enter_context(store.lock(key, wait, waiting, name))
        in_python = isinstance(recipe.tool, FunctionTool)
        step = Step(key, name, held, in_python, threading.get_ident(), asking)
        _running.add(step)
        token = _caller.set(step.caller)
        try:
            yield
        finally:
            step.ended = True
            _running.discard(step)
            _caller.reset(token)


class _Wait:
    """Asked again and again while a lock is waited for: whether that was given up.

    It raises BuildError once the wait is part of a circle.
    """

    def __init__(
        self,
        directory: str,
        key: str,
        recipe: Recipe,
        asking: Caller,
        outer: tuple[Step, ...],
        given_up: Callable[[], bool],
    ) -> None:
        self.directory, self.key, self.recipe = directory, key, recipe
        self.asking, self.outer, self.given_up = asking, outer, given_up
        self._begun = time.monotonic()
        self._next = self._begun + LOOK
        self._seen: list[locks.Ask] | None = None
        self._told: dict[Step, Callable[[], None]] = {}
        self._doubted = False

    def __call__(self) -> bool:
        if time.monotonic() >= self._next:
            circle = self._look()
            self._next = time.monotonic() + (MOMENT if circle else LOOK)
        return self.given_up()

    def end(self) -> None:
        for ended in self._told.values():
            ended()

    def refuse_own(self, steps: tuple[Step, ...]) -> None:
        """A step that asks for its own result would wait for itself."""
        keys = [step.key for step in steps]
        if self.key in keys:
            self._refuse([step.name for step in steps[keys.index(self.key) :]])

    def _refuse(self, names: list[str]) -> None:
        chain = " -> ".join([*names, self.recipe.describe()])
        reason = f"making this result asks for this very result: {chain}"
        raise BuildError([Failure(self.recipe.describe(), self.recipe.where, reason)])

    def _look(self) -> bool:
        """Whether this seems to be a circle; the second time that it is the same one, it is."""
        steps = (*self.outer, *self._adopted())
        self.refuse_own(steps)
        circle = self._circle({step.key for step in steps})
        if circle is not None and circle == self._seen:
            ours = [step.key for step in steps].index(circle[-1].name)
            names = [self.recipe.describe(), *(ask.what for ask in circle[:-1])]
            self._refuse([*names, *(step.name for step in steps[ours:])])
        self._seen = circle
        if circle is None and not self._doubted and time.monotonic() - self._begun > DOUBT:
            self._doubted = True
            self._doubt(steps)
        return circle is not None

    def _adopted(self) -> tuple[Step, ...]:
        """The steps that we work for, those included that wait for our thread without its
        knowing; these are told what they ask for by that."""
        thread, steps = self.asking
        if not _running:
            return steps
        waiters = joins.waiters()
        seen: set[int] = set()
        todo = list(waiters.get(thread, ()))
        while todo:
            thread = todo.pop()
            if thread not in seen:
                seen.add(thread)
                root, steps = self._inside(thread, steps)
                todo += waiters.get(root, ())
        return steps

    def _inside(self, thread: int, steps: tuple[Step, ...]) -> tuple[int, tuple[Step, ...]]:
        """The steps with those around them that are made in a thread which waits for them, and
        the thread that waits for all of them."""
        around = _innermost(thread)
        if around is None or around in steps:
            return thread, steps
        if around not in self._told:
            first = (steps[0].key, steps[0].name) if steps else (self.key, self.recipe.describe())
            self._told[around] = around.held.asks(*first)
        return around.caller.thread, (*around.caller.steps, *steps)

    def _circle(self, ours: set[str]) -> list[locks.Ask] | None:
        """What the holder of our lock asks for, and so on, until one asks for a step of ours.

        While that step is ours, whoever asks for it waits; so whoever waits for him, was it the
        same wait before and after, waited meanwhile.
        """
        if not ours:
            return None
        came: dict[str, list[locks.Ask]] = {self.key: []}
        todo = [self.key]
        while todo:
            name = todo.pop()
            path = f"{self.directory}/{name}"
            says = locks.holder(path)
            if says is None or (name != self.key and locks.is_free(path)):
                continue
            for ask in says.asks:
                if ask.name in ours:
                    return [*came[name], ask]
                if ask.name not in came:
                    came[ask.name] = [*came[name], ask]
                    todo.append(ask.name)
        return None

    def _doubt(self, steps: tuple[Step, ...]) -> None:
        """Our holder may wait for us without our knowing: a thread or a process that a step has
        started otherwise."""
        same = any(step.key == self.key and step.in_python for step in list(_running))
        says = locks.holder(f"{self.directory}/{self.key}")
        if steps or says is None or not (same or _is_ancestor(says.who)):
            return
        import logging

        logging.getLogger("iron.build").warning(
            "iron: %s: waiting for %s, which may be waiting for this %s: neither will end then. "
            "A thread that a step starts belongs to it if it runs in a copy of the step's context "
            "(contextvars.copy_context().run)",
            self.recipe.describe(), says.who, "thread" if same else "process",
        )  # fmt: skip


def _innermost(thread: int) -> Step | None:
    """The innermost step that is made in a thread."""
    there = [step for step in list(_running) if step.thread == thread]
    return max(there, key=lambda step: len(step.caller.steps), default=None)


def _is_ancestor(who: str) -> bool:
    """Whether it is a process of this machine that has started this one, however indirectly."""
    words = who.split()
    if words[:1] != ["process"] or words[-1] != os.uname().nodename[:50]:
        return False
    pid = os.getppid()
    for _ in range(100):
        if str(pid) == words[1]:
            return True
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stream:
                pid = int(stream.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return False
    return False
