"""No-op, one-source-changed and cold builds of N objects, by every tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from .measure import Cost, Row, in_process, in_turns, milliseconds, process
from .projects import FLAGS, Project

SESSION = "iron session"


def recipes(project: Project) -> list[object]:
    from iron.build import In, IncludeDirs, Out, ProgramTool, Recipe

    tool = ProgramTool(project.compiler)
    return [
        Recipe(
            "kernel-object",
            tool,
            (*FLAGS, IncludeDirs(), "-c", In(0), "-o", Out("kernel.o")),
            (str(source),),
            ("kernel.o",),
            include_dirs=(str(project.include),),
            scan=True,
        )
        for source in project.sources
    ]


class Sides:
    """Every tool on one project, each with its own copy of it."""

    def __init__(self, directory: Path, count: int, compiler: Path) -> None:
        self.projects: dict[str, Project] = {}
        self.actions: dict[str, Callable[[], Cost]] = {}
        inside = self.projects[SESSION] = Project(directory / "session", count, compiler)
        self._fresh_session()
        wanted = recipes(inside)
        self.actions[SESSION] = lambda: in_process(lambda: self.session.build(*wanted))
        for name in inside.commands():
            own = self.projects[name] = Project(directory / name.replace(" ", "-"), count, compiler)
            self.actions[name] = self._process(own, name)

    def _process(self, project: Project, name: str) -> Callable[[], Cost]:
        command, environment = project.commands()[name], project.environment()
        return lambda: process(command, project.directory, environment)

    def _fresh_session(self) -> None:
        from iron.build import Session

        self.session = Session(self.projects[SESSION].directory / "store", jobs=2)

    def clean(self, side: str, number: int) -> None:
        self.projects[side].clean()
        if side == SESSION:
            self._fresh_session()

    def edit(self, side: str, number: int) -> None:
        project = self.projects[side]
        project.edit(number % project.count, number + 1)


def compare(directory: Path, count: int, compiler: Path, rounds: int) -> dict[str, dict[str, Cost]]:
    """kind of build -> tool -> its best cost. Large projects have fewer rounds of what is slow."""
    sides = Sides(directory, count, compiler)
    for side, action in sides.actions.items():
        sides.clean(side, 0)
        action()  # whatever is done once per machine or process is not what is compared
    few = 1 if count > LARGE else max(1, rounds // 3)
    cold = in_turns(sides.actions, few, sides.clean)
    edited = in_turns(sides.actions, max(2, few if count > LARGE else rounds // 2), sides.edit)
    nothing = in_turns(sides.actions, min(rounds, 4) if count > LARGE else rounds)
    return {"no-op": nothing, "one changed": edited, "cold": cold}


LARGE = 300

TARGETS = {
    ("no-op", 100, SESSION): ("ninja", 1.0, "at most 1.0 x ninja (wall)"),
    ("no-op", 1000, "iron scons"): ("stock scons", 0.25, "at most 0.25 x stock"),
}


def rows(count: int, found: dict[str, dict[str, Cost]]) -> list[Row]:
    """One row a tool and kind of build; the ratio is to stock SCons."""
    out = []
    for kind, costs in found.items():
        stock = costs["stock scons"]
        for side, cost in costs.items():
            other, _, target = TARGETS.get((kind, count, side), ("", 0.0, ""))
            if other in costs:
                ratio = cost.wall / costs[other].wall
                target = f"{target}: {ratio:.2f} x (CPU {cost.cpu / costs[other].cpu:.2f} x)"
            out.append(
                Row(
                    f"N={count} {kind}: {side}",
                    f"{milliseconds(cost.wall)} (CPU {milliseconds(cost.cpu)})",
                    f"{cost.wall / stock.wall:.3f} x (CPU {cost.cpu / stock.cpu:.3f} x)",
                    target if other in costs else "",
                )
            )
    return out
