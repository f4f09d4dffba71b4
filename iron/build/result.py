"""A finished result, as whoever asked for it sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .watch import Watch


class Result:
    """A finished result: read-only files below `directory`."""

    __slots__ = ("directory", "key", "outputs", "watch")

    def __init__(
        self, key: str, directory: str, outputs: tuple[str, ...], watch: Watch | None = None
    ) -> None:
        self.key = key
        self.directory = directory
        self.outputs = outputs
        self.watch = watch

    def __repr__(self) -> str:
        return f"Result({self.key!r}, {self.directory!r}, {self.outputs!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        mine = self.key, self.directory, self.outputs
        return mine == (other.key, other.directory, other.outputs)

    def __hash__(self) -> int:
        return hash(self.key)

    def path(self, output: str | None = None) -> str:
        """The path of an output, by default of the first."""
        name = self.outputs[0] if output is None else output
        if name not in self.outputs:
            raise KeyError(f"no output {name!r}; there is {', '.join(self.outputs)}")
        return f"{self.directory}/{name}"
