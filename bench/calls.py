"""What a call of a loaded design costs by itself: on a backend that does nothing, for 2, 4 and 8
tensors, next to what others pay for taking as many arguments; and next to a real run."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable
from typing import Any

from .measure import Row

ROUNDS = 20
TENSORS = (2, 4, 8)
ASKED = 5.0
"""Microseconds that a call may cost by itself with four tensors."""

NUMBA = "numba's dispatch of an empty function"

Actions = dict[str, Callable[[], object]]


def _per_call(action: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        action()
    return (time.perf_counter() - start) / calls


def _best(actions: Actions, calls: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds per call, taking turns, so that a busy moment hits all of them."""
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(rounds):
        for name, action in actions.items():
            best[name] = min(best[name], _per_call(action, calls))
    return best


def rows(store: str, calls: int) -> list[Row]:
    os.environ["IRON_STORE"] = store
    import iron

    found = [row for n in TENSORS for row in _by_itself(n, calls)]
    with iron.options(reload="never"):
        return [*found, *_beside_a_run(calls)]


def _by_itself(tensors: int, calls: int) -> list[Row]:
    import iron

    from . import null

    design, given = null.design(tensors), null.arguments(tensors)
    trusting = design[iron.options(reload="never")]
    design(*given)
    signature = inspect.signature(design)
    known = {("design", tensors): design}
    never = iron.options(reload="never")
    actions: Actions = {
        "dictionary lookup": lambda: known["design", tensors],
        "inspect.Signature.bind": lambda: signature.bind(*given),
        'call, reload="auto"': lambda: design(*given),
        "call, options of its own": lambda: trusting(*given),
        **_numba(tensors),
    }
    best = _best(actions, calls)
    with never:
        best.update(_best({'call, reload="never"': lambda: design(*given)}, calls))
    lookup = best["dictionary lookup"]
    made = [
        Row(
            f"null backend, {tensors} tensors: {name}",
            f"{seconds * 1e6:.2f} us",
            f"{seconds / lookup:.0f} x the lookup",
            f"at most {ASKED:.0f} us" if tensors == 4 and "never" in name else "",
        )
        for name, seconds in best.items()
    ]
    return made if NUMBA in best else [*made, Row(f"{NUMBA}: numba is not installed", "-")]


def _numba(arguments: int) -> Actions:
    """numba's dispatch of a function that does nothing; nothing when there is no numba."""
    try:
        import numba
        import numpy as np
    except ImportError:
        return {}
    names = ", ".join(f"t{i}" for i in range(arguments))
    scope: dict[str, Any] = {}
    exec(f"def nothing({names}): pass", scope)
    nothing = numba.njit(scope["nothing"])
    arrays = [np.zeros(64, dtype=np.int32) for _ in range(arguments)]
    nothing(*arrays)
    return {NUMBA: lambda: nothing(*arrays)}


def _beside_a_run(calls: int) -> list[Row]:
    import iron

    from . import design

    a, b = design.tensors()
    kernel = design.add_one_to_all(a, b).handle
    buffers = (a.buffer, b.buffer)
    checked = design.add_one_to_all[iron.options(reload="auto")]
    actions: Actions = {
        "the run alone": lambda: kernel.run(buffers),
        'a call, reload="never"': lambda: design.add_one_to_all(a, b),
        'a call, reload="auto"': lambda: checked(a, b),
    }
    best = _best(actions, calls)
    run = best["the run alone"]
    return [
        Row(
            f"host target, 2 tensors: {name}",
            f"{seconds * 1e6:.2f} us",
            f"{seconds / run:.3f} x the run",
            "" if name == "the run alone" else f"{(seconds - run) * 1e6:+.1f} us",
        )
        for name, seconds in best.items()
    ]
