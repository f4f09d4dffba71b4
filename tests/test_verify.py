"""The helpers of scripts that check and time themselves."""

import subprocess
import sys

import numpy as np
import pytest

from iron.benchmark import BenchmarkResult, Stats, print_benchmark, run_iters
from iron.verify import (
    VerificationError,
    assert_close_with_benchmark,
    assert_pass,
    count_mismatches,
    nearly_equal,
)


def test_nearly_equal_is_relative_to_both_sides():
    assert nearly_equal([100.0], [124.0], rtol=0.128).tolist() == [True]  # 24 < 0.128 * 224
    assert nearly_equal([100.0], [130.0], rtol=0.128).tolist() == [False]
    assert nearly_equal([0.0, 0.0], [0.4, 0.6], atol=0.5, rtol=0).tolist() == [True, False]
    inf, nan = np.inf, np.nan
    assert nearly_equal([inf, inf, nan], [inf, -inf, nan]).tolist() == [True, False, False]


def test_counting_ends_before_the_first_infinity_unless_asked():
    actual, wanted = [1.0, 9.0, np.inf, 5.0], [1.0, 1.0, 3.0, 1.0]
    assert count_mismatches(actual, wanted) == (1, 2)
    assert count_mismatches(actual, wanted, stop_at_nonfinite=False) == (3, 4)
    with pytest.raises(ValueError, match="same shape"):
        count_mismatches([1], [1, 2])


def test_pass_is_printed_and_a_difference_is_named(capsys):
    assert_pass([1, 2], [1, 2])
    assert_pass([1.0], [1.05], rtol=0.1, print_pass=False)
    assert capsys.readouterr().out == "PASS!\n"
    with pytest.raises(VerificationError, match=r"FAIL! sums: 1 of 3 .*\(1,\): 5, expected 2"):
        assert_pass(np.array([1, 5, 3]), [1, 2, 3], fail_msg="sums")
    with pytest.raises(VerificationError, match=r"the shape is \(2,\), expected \(3,\)"):
        assert_pass([1, 2], [1, 2, 3])


def test_a_failed_check_fails_a_test_and_ends_a_script():
    with pytest.raises(AssertionError):
        assert_pass([1], [2])
    with pytest.raises(SystemExit):
        assert_pass([1], [2])
    script = "from iron.verify import assert_pass; assert_pass([1], [2], fail_msg='sums')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("FAIL! sums: 1 of 1 elements differ")


def test_calls_are_timed_after_the_warm_up():
    calls = []

    class Report:
        npu_time = 2000

    def call(x, *, k):
        calls.append((x, k))
        return object(), Report()

    result = run_iters(call, 1, k=2, warmup=2, iters=3)
    assert calls == [(1, 2)] * 5
    assert result.npu == Stats(2.0, 2.0, 2.0)
    assert 0 < result.e2e.min_us <= result.e2e.avg_us <= result.e2e.max_us
    assert run_iters(lambda: None).npu is None
    with pytest.raises(ValueError, match="at least 1"):
        run_iters(call, iters=0)


def test_times_and_rates_are_printed(capsys):
    result = BenchmarkResult(Stats(3, 2, 4), Stats(2, 1, 3))
    print_benchmark(result)
    assert capsys.readouterr().out.splitlines() == [
        "NPU time     (avg/min/max us): 2.0 / 1.0 / 3.0",
        "End-to-end   (avg/min/max us): 3.0 / 2.0 / 4.0",
    ]
    assert_close_with_benchmark([1.01], [1.0], bench=result, ops=4000)
    out = capsys.readouterr().out
    assert "NPU GFLOPS                    : 2.00" in out
    assert out.endswith("PASS!\n")
    with pytest.raises(VerificationError):
        assert_close_with_benchmark([2], [1], bench=result)
