"""Names that tell nothing about where the builder's files lie.

A source file and every directory of ours is mapped to a neutral name, by the same rule here (for
keys) and in the compiler (`-ffile-prefix-map`, for `__FILE__` and debug information), so that two
recipes with one key also have one result. GCC and Clang compare prefixes as plain strings, and
of several that match the last one given wins (older Clang: the greatest); giving them in
ascending order makes all of them agree.
"""

from __future__ import annotations

from collections.abc import Iterable


class PathMap:
    """Prefix -> neutral name. Later calls of `shown` and `options` agree with each other."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        # The compilers split at the first "=", so a path holding one cannot be mapped.
        self._pairs = sorted({old: new for old, new in pairs if old and "=" not in old}.items())

    def shown(self, path: str) -> str:
        for old, new in reversed(self._pairs):
            if path.startswith(old):
                return new + path[len(old) :]
        return path

    def options(self, *more: tuple[str, str]) -> list[str]:
        """Compiler options that apply this map, and `more` pairs known only now."""
        both = PathMap((*self._pairs, *more))
        return [f"-ffile-prefix-map={old}={new}" for old, new in both._pairs]
