"""Timing calls of a design, for scripts that report it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Stats:
    """Times of several calls, in microseconds."""

    avg_us: float
    min_us: float
    max_us: float

    @staticmethod
    def of(samples_us: Sequence[float]) -> Stats:
        """Of times in microseconds."""
        return Stats(sum(samples_us) / len(samples_us), min(samples_us), max(samples_us))


@dataclass(frozen=True)
class BenchmarkResult:
    """`e2e`: the whole call; `npu`: the run inside it, None when the calls do not say."""

    e2e: Stats
    npu: Stats | None


def run_iters(
    fn: Callable[..., Any], *args: Any, warmup: int = 0, iters: int = 1, **kwargs: Any
) -> BenchmarkResult:
    """Times of `iters` calls of ``fn(*args, **kwargs)`` after `warmup` calls that do not count.

    The run's own time is the ``npu_time`` (nanoseconds) of the result, or of its second part, as
    designs give it. ValueError when there is nothing to time.
    """
    if iters < 1 or warmup < 0:
        raise ValueError(f"iters must be at least 1 and warmup at least 0, got {iters}, {warmup}")
    for _ in range(warmup):
        fn(*args, **kwargs)
    whole, inside = [], []
    for _ in range(iters):
        start = time.perf_counter_ns()
        result = fn(*args, **kwargs)
        whole.append((time.perf_counter_ns() - start) / 1000)
        report = result[1] if isinstance(result, tuple) and len(result) > 1 else result
        nanoseconds = getattr(report, "npu_time", None)
        if nanoseconds is not None:
            inside.append(nanoseconds / 1000)
    return BenchmarkResult(Stats.of(whole), Stats.of(inside) if inside else None)


def print_benchmark(result: BenchmarkResult) -> None:
    """Print average, least and greatest time in microseconds, of runs when they are known and of
    whole calls."""
    for label, stats in (("NPU time     ", result.npu), ("End-to-end   ", result.e2e)):
        if stats is not None:
            times = " / ".join(f"{t:.1f}" for t in (stats.avg_us, stats.min_us, stats.max_us))
            print(f"{label}(avg/min/max us): {times}")
