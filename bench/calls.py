"""What a call of a design costs when everything is loaded, next to the run itself."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Callable

from .measure import Row

ROUNDS = 20


def _per_call(action: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        action()
    return (time.perf_counter() - start) / calls


def rows(store: str, calls: int) -> list[Row]:
    os.environ["IRON_STORE"] = store
    import iron

    from . import design

    a, b = design.tensors()
    kernel = design.add_one_to_all(a, b).handle
    buffers = (a.buffer, b.buffer)
    signature = inspect.signature(lambda source, result: None)
    known = {("add_one", 64): 1}

    def unchecked() -> None:
        with iron.options(reload="never"):
            design.add_one_to_all(a, b)

    actions = {
        "dictionary lookup": lambda: known["add_one", 64],
        "inspect.Signature.bind": lambda: signature.bind(a, b),
        "the run alone": lambda: kernel.run(buffers),
        'a call, reload="never"': unchecked,
        'a call, reload="auto"': lambda: design.add_one_to_all(a, b),
    }
    best = dict.fromkeys(actions, float("inf"))
    for _ in range(ROUNDS):
        for name, action in actions.items():
            best[name] = min(best[name], _per_call(action, calls))
    run = best["the run alone"]
    out = []
    for name, seconds in best.items():
        over = f"{(seconds - run) * 1e6:+.1f} us" if name.startswith("a call") else ""
        out.append(
            Row(f"warm: {name}", f"{seconds * 1e6:.2f} us", f"{seconds / run:.3f} x the run", over)
        )
    return out
