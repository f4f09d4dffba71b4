"""Random edit sequences: after each step, everything that is asked for is what the compiler makes
of the files as they are, by sessions that saw every earlier state and by ones that saw none."""

import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

from fault_yard import Yard
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from iron.build import BuildError, In, IncludeDirs, Out, Recipe
from iron.toolchain.compiler import find_compiler

SETTLES = 0.02  # seconds; more than a tick of any clock that stamps files here
SOURCES = ("s0.cc", "s1.cc", "sub/s2.cc")
# Names that several directories may have: which one is found is what shadowing is about.
HEADERS = ("a.h", "b.h", "c.h", "d.h")
PLACES = ("", "sub", "first", "second")
INCLUDES = (("first", "second"), ("second", "first"), ("second",), ())
LINES = (
    '#include "a.h"', "#include <b.h>", '#include "b.h"', "#include <c.h>", "#include WHICH",
    '#ifdef DEEP\n#include "c.h"\n#endif', '#if __has_include("c.h")\nthere is a c\n#endif',
    "#ifndef DEEP\nshallow\n#endif", "#include_next <a.h>", "plain", "other",
)  # fmt: skip
FLAGS = (
    ("-DWHICH=<d.h>",), ("-DWHICH=<b.h>",), ("-DWHICH=<d.h>", "-DDEEP"),
    ("-DDEEP", "-DWHICH=<c.h>"),
)  # fmt: skip
texts = st.lists(st.sampled_from(LINES), max_size=3).map(lambda lines: "\n".join((*lines, "")))
sources = st.sampled_from(SOURCES)
headers = st.tuples(st.sampled_from(PLACES), st.sampled_from(HEADERS)).map("/".join)


class Edits(RuleBasedStateMachine):
    """A user at his files, and two builders: one that has lived long, one that has just come."""

    compiler: Path
    counts: dict[str, int]

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="edits."))
        self.yard = Yard.make(self.root / "yard", self.compiler)
        for place in PLACES:
            (self.yard.src / place).mkdir(exist_ok=True)
        for name in SOURCES:
            self.yard.write(name, f'#include "a.h"\n{name}\n')
        self.yard.write("first/a.h", "a of first\n")
        self.yard.write("second/b.h", "b of second\n")
        self.yard.write("second/d.h", "d of second\n")  # only ever named by a macro
        self.yard.write("sub/s2.cc", "#include WHICH\ns2\n")
        self.flags, self.include = FLAGS[0], INCLUDES[0]
        self.alive = self.yard.session()
        self.counts["sequences"] += 1

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def path(self, name: str) -> Path:
        return self.yard.src / name.lstrip("/")

    # ---------------------------------------------------------------- what a user does

    @rule(name=sources, text=texts)
    def edit_source(self, name, text):
        self.path(name).unlink(missing_ok=True)  # it may be a link
        self.path(name).write_text(text)

    @rule(name=headers, text=texts)
    def write_header(self, name, text):
        if self.path(name).is_symlink():
            self.path(name).unlink()
        self.path(name).write_text(text)

    @rule(name=headers)
    def remove_header(self, name):
        self.path(name).unlink(missing_ok=True)

    @rule(name=headers, other=headers)
    def link_header(self, name, other):
        if name != other and not self.path(other).is_symlink():
            self.path(name).unlink(missing_ok=True)
            self.path(name).symlink_to(self.path(other))

    @rule(name=st.one_of(sources, headers))
    def swap_a_byte_and_restore_the_time(self, name):
        path = self.path(name)
        if path.is_file():
            before = path.stat()
            data = path.read_bytes()
            path.write_bytes(data[:-2] + bytes([data[-2] ^ 1]) + b"\n" if len(data) > 2 else data)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(name=st.one_of(sources, headers), seconds=st.sampled_from((0, 1, 10**9, 4 * 10**9)))
    def set_a_time(self, name, seconds):
        if self.path(name).exists():
            os.utime(self.path(name), (seconds, seconds))

    @rule(name=headers, other=headers)
    def move_header(self, name, other):
        if name != other and self.path(name).exists():
            self.path(name).replace(self.path(other))

    @rule()
    def let_time_pass(self):
        """Long enough for what is remembered of files to be believed."""
        time.sleep(1.5 * SETTLES)

    @rule(place=st.sampled_from(("first", "second")))
    def rename_directory_away_and_back(self, place):
        away = self.path(place + ".away")
        if self.path(place).is_dir() and not away.exists():
            self.path(place).rename(away)
            self.path(place).mkdir()
        else:
            shutil.rmtree(self.path(place))
            away.rename(self.path(place))

    @rule(flags=st.sampled_from(FLAGS))
    def change_flags(self, flags):
        self.flags = flags

    @rule(include=st.sampled_from(INCLUDES))
    def change_include_directories(self, include):
        self.include = include

    # ---------------------------------------------------------------- what is built

    @rule()
    def build_with_the_old_session(self):
        self.check(self.alive)

    @rule()
    def build_with_a_new_session(self):
        self.alive = self.yard.session()
        self.check(self.alive)

    @rule()
    def build_twice_at_once(self):
        problems = []

        def other():
            try:
                self.check(self.yard.session())
            except BaseException as problem:
                problems.append(problem)

        thread = threading.Thread(target=other)
        thread.start()
        self.check(self.alive)
        thread.join()
        assert not problems, problems

    @rule(name=st.one_of(sources, headers), text=texts, moment=st.integers(0, 15))
    def edit_while_building_and_go_back(self, name, text, moment):
        """Whatever was made meanwhile, both states are right when they are there to stay."""

        def build():
            for source in SOURCES:
                try:
                    self.alive.build(self.object(source))
                except BuildError:
                    continue

        path = self.path(name)
        before = path.read_text() if path.exists() else None
        self.yard.delay(6)
        thread = threading.Thread(target=build)
        thread.start()
        time.sleep(moment / 1000)
        self.edit_source(name, text)
        thread.join()
        self.yard.delay(0)
        self.check(self.alive)
        if before is None:
            path.unlink()
        else:
            path.write_text(before)
        self.check(self.alive)

    def object(self, source):
        return self.yard.object(source, *self.flags, include=self.include)

    def check(self, session):
        """Each object alone, since some may not compile; then all together."""
        truths = [self.yard.truth(s, *self.flags, include=self.include) for s in SOURCES]
        recipes = [self.object(source) for source in SOURCES]
        for recipe, truth in zip(recipes, truths, strict=True):
            assert built(session, recipe) == truth
            self.counts["builds"] += 1
        whole = None if None in truths else self.yard.true_link(*truths)
        assert built(session, self.yard.linked(*recipes)) == whole


def built(session, recipe) -> bytes | None:
    """The bytes of a result; None if it does not compile."""
    try:
        result = session.build(recipe)[0]
    except BuildError:
        return None
    return Path(result.path()).read_bytes()


def test_random_edits(stand_in, seed, full, count, monkeypatch):
    monkeypatch.delenv("IRON_BUILD_LOG")
    # Memory is what goes stale; files of a test would never grow old enough to be remembered.
    monkeypatch.setattr("iron.build.digests.RACY_NS", int(SETTLES * 10**9))
    counts = {"sequences": 0, "builds": 0}
    machine = type("Machine", (Edits,), {"compiler": stand_in, "counts": counts})
    run_state_machine_as_test(
        _seeded(machine, seed),
        settings=settings(
            max_examples=500 if full else 6,
            stateful_step_count=40 if full else 20,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    count(**counts, wrong=0)


def _seeded(machine, number):
    return seed(number)(machine)


REAL_SOURCE = """#include "value.h"
#ifdef EXTRA
#include "extra.h"
#else
#define MORE "no extra"
#endif
extern const char shown[];
const char shown[] = "shown:" VALUE ":" MORE ":%s:end";
"""


def test_random_edits_with_the_real_compiler(yard, rng, full, count):
    """The same with headers that shadow each other, told by what the object holds."""
    compiler = find_compiler().tool
    values = dict.fromkeys(("first/value.h", "second/value.h", "first/extra.h", "second/extra.h"))
    own, flags = 0, ()
    alive = yard.session()

    def write(name, value):
        values[name] = value
        macro = "VALUE" if "value" in name else "MORE"
        yard.write(name, f'#define {macro} "{value}"\n')

    write("second/value.h", 0)
    steps = 150 if full else 10
    for _ in range(steps):
        name = rng.choice(sorted(values))
        what = rng.random()
        if what < 0.5:
            write(name, rng.randrange(3))
        elif what < 0.65:
            (yard.src / name).unlink(missing_ok=True)
            values[name] = None
        elif what < 0.8:
            flags = () if flags else ("-DEXTRA",)
        else:
            own = rng.randrange(3)
        yard.write("real.cc", REAL_SOURCE % own)
        recipe = Recipe(
            "kernel-object",
            compiler,
            (*flags, IncludeDirs(), "-c", In(0), "-o", Out("kernel.o")),
            (str(yard.src / "real.cc"),),
            ("kernel.o",),
            include_dirs=(str(yard.src / "first"), str(yard.src / "second")),
            scan=True,
        )
        value = _first(values["first/value.h"], values["second/value.h"])
        more = _first(values["first/extra.h"], values["second/extra.h"]) if flags else "no extra"
        found = built(alive if rng.random() < 0.5 else yard.session(), recipe)
        if value is None or more is None:
            assert found is None
        else:
            assert f"shown:{value}:{more}:{own}:end".encode() in found
    count(builds=steps, commands=yard.log.read_text().count('"run"'), wrong=0)


def _first(*values):
    return next((value for value in values if value is not None), None)
