"""Builders by the dozen: one process that has everything imported and forks them, kills them, and
counts. Run as `crew.py` with a JSON order on standard input; answers one JSON line.

A builder makes random parts of a project and compares every byte with the truth it was given.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import signal
import struct
import sys
import threading
import time
import traceback
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from fault_yard import Yard, numbered, running

import iron.build.nodes  # noqa: F401 - a fork inherits SCons
from iron.build import BuildError, Session

GIVE_UP = 60.0  # seconds in which some builder that nobody kills gets something done


class Order:
    """What the crew is to do: see the tests for what each field means."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.yard = Yard(fields["root"])
        self.seed: int = fields["seed"]
        self.truth = {name: text.encode() for name, text in fields["truth"].items()}
        self.sources = sorted(self.truth)
        self.numbers: int = fields.get("numbers", 1)
        self.rounds: int = fields.get("rounds", 10)
        self.processes: int = fields.get("processes", 2)
        self.threads: int = fields.get("threads", 1)
        self.kills: int = fields.get("kills", 0)
        self.back: int = fields.get("back", 80)
        self.collects: bool = fields.get("collects", False)
        self.fresh: float = fields.get("fresh", 0.0)
        self.findings = f"{self.yard.root}/findings"
        self._beaten = mmap.mmap(-1, 8)  # shared by all builders
        self.beat()

    def beat(self) -> None:
        """Something was done."""
        self._beaten[:] = struct.pack("d", time.monotonic())

    def stuck(self) -> bool:
        """Whether nothing has been done for too long."""
        (last,) = struct.unpack("d", self._beaten[:])
        return time.monotonic() > float(last) + GIVE_UP

    def found(self, what: str) -> None:
        """A builder's finding; one write, as any number of them may have some."""
        fd = os.open(self.findings, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        os.write(fd, (json.dumps(what) + "\n").encode())
        os.close(fd)


# ---------------------------------------------------------------- builders


def one_round(
    order: Order, session: Session, rng: random.Random, kept: list[tuple[str, bytes]]
) -> None:
    """Some objects and a link of some of them, for one number; all compared, and one that was
    given before: it is this process' as long as it lives."""
    number = rng.randrange(order.numbers)
    chosen = rng.sample(order.sources, rng.randint(1, len(order.sources)))
    yard = order.yard
    objects = [yard.object(source, f"-DN={number}") for source in chosen]
    wanted = [numbered(order.truth[source], number) for source in chosen]
    recipes = [*objects, yard.linked(*objects)]
    wanted.append(yard.true_link(*wanted))
    if rng.random() < 0.3:
        recipes, wanted = recipes[-1:], wanted[-1:]
    try:
        results = session.build(*recipes)
    except BuildError as error:
        if order.kills and any("killed" in failure.reason for failure in error.failures):
            return  # somebody shot the compiler: this request failed, the next one must not
        raise
    for result, expected in zip(results, wanted, strict=True):
        compare(order, result.path(), expected, f"{chosen} -DN={number}")
        kept.append((result.path(), expected))
    compare(order, *rng.choice(kept), "what was given before")


def compare(order: Order, path: str, expected: bytes, what: str) -> None:
    try:
        with open(path, "rb") as stream:
            if stream.read() != expected:
                order.found(f"wrong bytes in {path} for {what}")
    except OSError as problem:
        order.found(f"{problem} for {what}")


def builder(order: Order, seed: int) -> None:
    """The life of one process: a session each for some of its threads, one for the others."""
    rng = random.Random(seed)
    shared = Session(order.yard.store)

    def work(own_seed: int) -> None:
        own = random.Random(own_seed)
        kept: list[tuple[str, bytes]] = []
        session = shared if own.random() < 0.5 else Session(order.yard.store)
        try:
            for _ in range(order.rounds):
                one_round(order, session, own, kept)
                order.beat()
        except BaseException:
            order.found(traceback.format_exc())

    threads = [
        threading.Thread(target=work, args=(rng.random(),)) for _ in range(order.threads - 1)
    ]
    for thread in threads:
        thread.start()
    work(rng.random())  # type: ignore[arg-type]
    for thread in threads:
        thread.join()


def fork(order: Order, seed: int) -> int:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            builder(order, seed)
            code = 0
        except BaseException:
            order.found(traceback.format_exc())
        finally:
            os._exit(code)
    return pid


# ---------------------------------------------------------------- the crew


def crew(order: Order) -> dict[str, int]:
    """Builders, killed at random and replaced, until enough are dead and the rest has ended."""
    rng = random.Random(order.seed)
    collector = fork_collector(order) if order.collects else 0
    alive = {fork(order, rng.randrange(10**9)) for _ in range(order.processes)}
    counts = {"builders": len(alive), "killed builders": 0, "killed compilers": 0, "stuck": 0}

    def reap() -> None:
        for pid in list(alive):
            if os.waitpid(pid, os.WNOHANG)[0]:
                alive.discard(pid)

    while counts["killed builders"] + counts["killed compilers"] < order.kills:
        time.sleep(rng.uniform(0.001, 0.03))
        if rng.random() < 0.5:
            compilers = running(order.yard.compiler)
            if compilers and shoot(rng.choice(compilers), order.yard.compiler):
                counts["killed compilers"] += 1
        elif alive:
            victim = rng.choice(sorted(alive))
            os.kill(victim, signal.SIGKILL)
            ended = os.waitpid(victim, 0)[1]
            counts["killed builders"] += os.waitstatus_to_exitcode(ended) == -signal.SIGKILL
            alive.discard(victim)
        reap()
        while len(alive) < order.processes:
            alive.add(fork(order, rng.randrange(10**9)))
            counts["builders"] += 1
    order.beat()
    while alive and not order.stuck():
        time.sleep(0.01)
        reap()
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        counts["stuck"] += 1
    if collector:
        with open(f"{order.yard.root}/enough", "w", encoding="utf-8"):
            counts["collector"] = os.waitpid(collector, 0)[1]
    return counts


def fork_collector(order: Order) -> int:
    """A process that throws away whatever nobody uses, all the time."""
    from iron.build import Store, upkeep

    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            store, taken, rounds = Store(order.yard.store), 0, 0
            while not os.path.exists(f"{order.yard.root}/enough"):
                done = upkeep.collect(store, size=0, count=0, days=0.0, fresh=order.fresh)
                taken, rounds = taken + done.taken, rounds + 1
                time.sleep(0.002)
            code = 0 if taken else 3
        except BaseException:
            order.found(traceback.format_exc())
        finally:
            os._exit(code)
    return pid


def shoot(pid: int, program: str) -> bool:
    try:
        if os.readlink(f"/proc/{pid}/exe") != program:
            return False
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


# ---------------------------------------------------------------- death at every step


# Audit events of operations that change a file system, or start and lock things.
STEPS = (
    "open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.symlink", "os.link",
    "os.chmod", "os.utime", "subprocess.Popen", "fcntl.flock",
)  # fmt: skip


def die_at(order: Order, step: int) -> bool:
    """Build in a child that is killed before its n-th operation. False: it ended before."""
    pid = os.fork()
    if pid == 0:
        count = 0

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal count
            if event in STEPS and not (event == "open" and _only_reads(arguments)):
                count += 1
                if count == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        code = 1
        try:
            sys.addaudithook(hook)
            build_all(order, step)
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def _only_reads(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] or 0
    return not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)


def build_all(order: Order, number: int) -> bool:
    """Everything there is for a number; whether all of it is right."""
    yard = order.yard
    objects = [yard.object(source, f"-DN={number}") for source in order.sources]
    wanted = [numbered(order.truth[source], number) for source in order.sources]
    results = Session(yard.store).build(*objects, yard.linked(*objects))
    wanted.append(yard.true_link(*wanted))
    found = []
    for result in results:
        with open(result.path(), "rb") as stream:
            found.append(stream.read())
    return found == wanted


def every_step(order: Order, stride: int, first: int) -> dict[str, int]:
    """For every step: a builder that dies there, then one that must not care."""
    counts = {"deaths": 0, "stuck": 0}
    step = first
    while die_at(order, step):
        counts["deaths"] += 1
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                signal.alarm(20)  # kills it: somebody still holds a lock
                code = 0 if build_all(order, step) else 2
            except BaseException:
                order.found(traceback.format_exc())
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if code:
            order.found(f"after a death at step {step} the next build ended with {code}")
            counts["stuck"] += code == -signal.SIGALRM
        step += stride
    return counts


# ---------------------------------------------------------------- edits under their hands


class Versions:
    """Which version of each file is being written and which one is: shared by all processes."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._memory = mmap.mmap(-1, 16 * len(names))

    def _at(self, name: str, written: bool) -> int:
        return 16 * self.names.index(name) + 8 * written

    def get(self, name: str, written: bool) -> int:
        at = self._at(name, written)
        return int.from_bytes(self._memory[at : at + 8], "little")

    def put(self, name: str, written: bool, version: int) -> None:
        at = self._at(name, written)
        self._memory[at : at + 8] = version.to_bytes(8, "little")


def edit(path: str, name: str, version: int, rng: random.Random) -> None:
    """A new version in place or in a new file, with the time as it was or not."""
    data = f"version {name} {version:06d}\n".encode()
    before = os.stat(path)
    if rng.random() < 0.5:
        fd = os.open(path, os.O_WRONLY)
        with open(path, "rb") as stream:
            lines = stream.read().splitlines(keepends=True)
        offset = sum(map(len, lines[: lines.index(next(x for x in lines if b"version" in x))]))
        os.pwrite(fd, data, offset)
        os.close(fd)
    else:
        with open(path, "rb") as stream:
            lines = stream.read().splitlines(keepends=True)
        with open(path + ".new", "wb") as stream:
            stream.writelines(data if b"version" in line else line for line in lines)
        os.replace(path + ".new", path)
    if rng.random() < 0.3:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def watch(order: Order, versions: Versions, seed: int) -> None:
    """Build again and again: no result is older than what was written before it was asked for."""
    yard, session = order.yard, Session(order.yard.store)
    rng = random.Random(seed)
    recipes = [yard.object(source) for source in order.sources]
    whole = yard.linked(*recipes)
    for _ in range(order.rounds):
        order.beat()
        if rng.random() < 0.2:
            session = Session(yard.store)
        before = {name: versions.get(name, True) for name in versions.names}
        recipe = rng.choice((*recipes, whole))
        try:
            path = session.build(recipe)[0].path()
        except BuildError as error:
            if "kept changing" not in str(error):
                order.found(str(error))
            continue
        after = {name: versions.get(name, False) for name in versions.names}
        with open(path, encoding="utf-8") as stream:
            rows = [line.split() for line in stream if line.startswith("version")]
        if not rows:
            order.found(f"{path} holds no version")
        for _, name, text in rows:
            if not before[name] <= int(text) <= after[name]:
                order.found(f"{name} {text}, but {before[name]} to {after[name]} were asked for")


def editors(order: Order, names: list[str]) -> dict[str, int]:
    """Watchers in processes of their own, while this one edits until they have ended."""
    rng = random.Random(order.seed)
    versions = Versions(names)
    pids = []
    for _ in range(order.processes):
        pid = os.fork()
        if pid == 0:
            try:
                watch(order, versions, rng.randrange(10**9))
            except BaseException:
                order.found(traceback.format_exc())
            finally:
                os._exit(0)
        rng.random()
        pids.append(pid)
    counts = {"edits": 0, "builds": order.processes * order.rounds, "stuck": 0}
    states = []
    while pids and not order.stuck():
        name = rng.choice(names)
        version = versions.get(name, True) + 1
        versions.put(name, False, version)
        edit(f"{order.yard.src}/{name}", name, version, rng)
        versions.put(name, True, version)
        counts["edits"] += 1
        states.append({name: versions.get(name, True) for name in names})
        time.sleep(rng.choice((0.001, 0.01, 0.05)))
        pids = [pid for pid in pids if not os.waitpid(pid, os.WNOHANG)[0]]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        counts["stuck"] += 1
    return {**counts, "states gone back to": go_back(order, states[-order.back :], rng)}


def go_back(order: Order, states: list[dict[str, int]], rng: random.Random) -> int:
    """What was stored for a state while it was edited away is what that state gives."""
    yard, session = order.yard, Session(order.yard.store)
    for state in reversed(states):
        for name, version in state.items():
            edit(f"{yard.src}/{name}", name, version, rng)
        for source in order.sources:
            with open(session.build(yard.object(source))[0].path(), encoding="utf-8") as stream:
                found = [line.split() for line in stream if line.startswith("version")]
            if any(int(text) != state[name] for _, name, text in found) or not found:
                order.found(f"{found} for {state}")
    return len(states)


def main() -> None:
    fields = json.load(sys.stdin)
    order = Order(fields)
    if "edited" in fields:
        counts = editors(order, fields["edited"])
    elif "stride" in fields:
        counts = every_step(order, fields["stride"], fields["first"])
    else:
        counts = crew(order)
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
