"""Requests that were answered from the store before: asking again costs stats, nothing else.

An answer holds while every file, absent file, directory and program that its keys were found
from, and every file of its results, is as it was: the same things that keys.py and store.py would
look at, without their bookkeeping. Knows nothing of how a request is answered. A request is known
by its recipes themselves; one that is made anew each time is not remembered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from . import account
from .identity import FunctionTool, ProgramTool
from .memo import Memo
from .recipe import Recipe, Ref
from .watch import Watch

if TYPE_CHECKING:
    from .digests import Stamp
    from .entry import Entry
    from .headers import Table
    from .keys import Keys
    from .result import Result

Request = tuple[Recipe, ...]


class Answer(NamedTuple):
    """What a request was given, and what that depends on."""

    results: tuple[Result, ...]
    found: Mapping[Recipe, Entry]
    watch: Watch
    tables: tuple[Table, ...]  # the compiler's own headers
    saved: float  # seconds that making the results took


class Repeats:
    """A session's latest requests. Threads may share it: answers are only replaced."""

    def __init__(self) -> None:
        # None: asked for once, which may have been the only time.
        self._known: Memo[Request, Answer | None] = Memo(32)

    def recall(self, request: Request, keys: Keys) -> list[Result] | None:
        """The results, if they would be found again; the record of decisions is told."""
        answer = self._known.get(request)
        if answer is None or not answer.watch.unchanged():
            return None
        if not keys.memory.headers.stand(answer.tables, keys.view):
            return None
        account.hits_again(keys.memory.decisions, answer.found, answer.saved)
        return list(answer.results)

    def note(
        self, request: Request, keys: Keys, found: Mapping[Recipe, Entry], results: Sequence[Result]
    ) -> None:
        """All of a request was there, as it was found under the view of the keys."""
        if request not in self._known:
            self._known[request] = None
        elif all(map(_is_plain, request)):
            proofs: list[tuple[str, Stamp]] = []
            for recipe in found:
                proof = keys.store.proof(keys.leaf(recipe))
                if proof is None:
                    return
                proofs += proof
            watch = Watch(keys.view.looked_at(), keys.view.stamps, proofs)
            if watch.is_settled():
                saved = sum(map(account.cost, found.values()))
                self._known[request] = Answer(tuple(results), found, watch, keys.tables(), saved)


def _is_plain(recipe: Recipe) -> bool:
    """Whether the identities of all its tools are stats, or fixed for the process."""
    return isinstance(recipe.tool, (ProgramTool, FunctionTool)) and all(
        _is_plain(item.recipe) for item in recipe.inputs if isinstance(item, Ref)
    )
