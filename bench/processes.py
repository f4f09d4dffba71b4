"""What a new process pays before it has a result: imports, and hits in the store."""

from __future__ import annotations

import sys
from pathlib import Path

from .measure import Cost, Row, in_turns, milliseconds, process, user_environment
from .projects import FLAGS, Project

HIT = """
import numpy, sys
from iron.build import In, IncludeDirs, Out, ProgramTool, Recipe, Session
recipe = Recipe("kernel-object", ProgramTool({compiler!r}),
                (*{flags!r}, IncludeDirs(), "-c", In(0), "-o", Out("kernel.o")), ({source!r},),
                ("kernel.o",), include_dirs=({include!r},), scan=True)
print(Session({store!r}).build(recipe)[0].path(), "SCons" in sys.modules)
"""


def rows(directory: Path, compiler: Path, store: str, rounds: int) -> list[Row]:
    project = Project(directory / "hit", 1, compiler)
    hit = HIT.format(
        compiler=str(compiler),
        flags=FLAGS,
        source=str(project.sources[0]),
        include=str(project.include),
        store=str(directory / "hit" / "store"),
    )
    design = Path(__file__).with_name("design.py")
    scripts = {
        "nothing": ["-c", "pass"],
        "import numpy": ["-c", "import numpy"],
        "import numpy, iron": ["-c", "import numpy, iron"],
        "import numpy, iron.build": ["-c", "import numpy, iron.build"],
        "a stored object": ["-c", hit],
        "a stored design: first call": [str(design), "call"],
        "the same, imports only": [str(design), "import"],
    }
    environment = user_environment(directory, IRON_STORE=store)

    def run(arguments: list[str]) -> Cost:
        return process([sys.executable, *arguments], directory, environment)

    actions = {name: (lambda a=arguments: run(a)) for name, arguments in scripts.items()}
    for action in actions.values():
        action()
    found = in_turns(actions, rounds)
    numpy, imports = found["import numpy"], found["the same, imports only"]
    against = {
        "import numpy, iron": (numpy, "at most 40 ms over NumPy"),
        "the same, imports only": (numpy, "(how much over NumPy)"),
        "a stored object": (numpy, "at most 15 ms over NumPy"),
        "a stored design: first call": (imports, "at most 25 ms over its imports"),
    }
    out = []
    for name, cost in found.items():
        base, target = against.get(name, (numpy, ""))
        over = Cost(cost.wall - base.wall, cost.cpu - base.cpu)
        result = f": {over.wall * 1000:+.0f} ms (CPU {over.cpu * 1000:+.0f} ms)"
        out.append(
            Row(
                f"new process: {name}",
                f"{milliseconds(cost.wall)} (CPU {milliseconds(cost.cpu)})",
                f"{cost.wall / numpy.wall:.2f} x (CPU {cost.cpu / numpy.cpu:.2f} x)",
                target + result if target else "",
            )
        )
    return out
