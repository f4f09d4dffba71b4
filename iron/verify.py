"""Comparing what a design gave with what was expected, for scripts that check themselves.

Knows arrays only. The tolerance rule and its default of 0.128 are those of mlir-aie's test
utilities: a difference is small when it is below ``rtol * (|a| + |b|)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .benchmark import BenchmarkResult

DEFAULT_RTOL = 0.128
SHOWN = 5
"""How many differing elements a message names."""


class VerificationError(AssertionError, SystemExit):
    """Results that differ from what was expected.

    It is an AssertionError, for tests and notebooks, and a SystemExit, so that a script that does
    not catch it ends with the message on stderr and status 1, as scripts of mlir-aie expect.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = message


def nearly_equal(
    a: npt.ArrayLike, b: npt.ArrayLike, *, rtol: float = DEFAULT_RTOL, atol: float | None = None
) -> npt.NDArray[np.bool_]:
    """Element by element, whether ``|a - b| < max(atol, rtol * (|a| + |b|))``, in float32.

    Equal infinities are equal, NaN is equal to nothing. `atol` defaults to the smallest normal
    float32.
    """
    limits = np.finfo(np.float32)
    left, right = np.asarray(a, dtype=np.float32), np.asarray(b, dtype=np.float32)
    floor = np.float32(limits.tiny if atol is None else atol)
    with np.errstate(over="ignore", invalid="ignore"):
        size = np.minimum(np.abs(left) + np.abs(right), limits.max)
        near = np.abs(left - right) < np.maximum(floor, np.float32(rtol) * size)
    return np.asarray(near | (left == right))


def count_mismatches(
    actual: npt.ArrayLike,
    ref: npt.ArrayLike,
    *,
    rtol: float = DEFAULT_RTOL,
    atol: float | None = None,
    stop_at_nonfinite: bool = True,
) -> tuple[int, int]:
    """(elements that are not nearly equal, elements compared).

    With `stop_at_nonfinite` the comparison ends before the first infinity or NaN of either side.
    ValueError when there are not as many elements on both sides.
    """
    left = np.asarray(actual, dtype=np.float32).ravel()
    right = np.asarray(ref, dtype=np.float32).ravel()
    if left.shape != right.shape:
        raise ValueError(
            f"actual and ref must have the same shape, got {left.shape} vs {right.shape}"
        )
    end = left.size
    if stop_at_nonfinite:
        odd = np.flatnonzero(~(np.isfinite(left) & np.isfinite(right)))
        end = int(odd[0]) if odd.size else end
    near = nearly_equal(left[:end], right[:end], rtol=rtol, atol=atol)
    return end - int(np.count_nonzero(near)), end


def assert_pass(
    actual: npt.ArrayLike,
    expected: npt.ArrayLike,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    fail_msg: str | None = None,
    print_pass: bool = True,
) -> None:
    """Print ``PASS!`` when both are the same, exactly unless a tolerance is given.

    VerificationError naming shape or first elements that differ, after `fail_msg`.
    """
    left, right = np.asarray(actual), np.asarray(expected)
    fault = _shape_fault(left, right)
    if not fault and rtol is None and atol is None:
        fault = _difference(left, right, left == right)
    elif not fault:
        tolerance = DEFAULT_RTOL if rtol is None else rtol
        errors, compared = count_mismatches(left, right, rtol=tolerance, atol=atol)
        if errors:
            near = nearly_equal(
                left.ravel()[:compared], right.ravel()[:compared], rtol=tolerance, atol=atol
            )
            fault = _difference(left.ravel()[:compared], right.ravel()[:compared], near)
    if fault:
        raise VerificationError(f"FAIL! {fail_msg + ': ' if fail_msg else ''}{fault}")
    if print_pass:
        print("PASS!")


def assert_close_with_benchmark(
    actual: npt.ArrayLike,
    expected: npt.ArrayLike,
    *,
    bench: BenchmarkResult,
    ops: float | None = None,
    gflops_fmt: str = ".2f",
    float_rtol: float = 0.05,
    float_atol: float = 0.5,
    fail_msg: str | None = None,
    mismatch_indices: bool = False,
) -> None:
    """Compare (integers exactly, floats within the tolerances), then print times and ``PASS!``.

    With `ops`, the arithmetic operations of one run, their rate is printed as well. Where elements
    differ is always said, so `mismatch_indices` changes nothing. Raises as `assert_pass`.
    """
    from .benchmark import print_benchmark

    exact = np.issubdtype(np.asarray(expected).dtype, np.integer)
    tolerance: dict[str, Any] = {} if exact else {"rtol": float_rtol, "atol": float_atol}
    assert_pass(actual, expected, fail_msg=fail_msg, print_pass=False, **tolerance)
    print()
    print_benchmark(bench)
    if ops is not None and bench.npu is not None:
        print(f"NPU GFLOPS                    : {ops / (1000 * bench.npu.avg_us):{gflops_fmt}}")
    print("PASS!")


def _shape_fault(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> str:
    if left.shape == right.shape or right.ndim == 0:
        return ""
    return f"the shape is {left.shape}, expected {right.shape}"


def _difference(left: npt.NDArray[Any], right: npt.NDArray[Any], same: npt.NDArray[Any]) -> str:
    """What differs and where; empty when nothing does."""
    wrong = np.argwhere(~np.asarray(same))
    if not len(wrong):
        return ""
    right = np.broadcast_to(right, left.shape)
    shown = ", ".join(
        f"{tuple(int(i) for i in at)}: {left[tuple(at)]}, expected {right[tuple(at)]}"
        for at in wrong[:SHOWN]
    )
    return f"{len(wrong)} of {left.size} elements differ: {shown}"
