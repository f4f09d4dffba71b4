"""What example scripts do with their flags, and what they run that another command built."""

import argparse

import numpy as np
import pytest

import iron
from iron import CompileTime, In, ObjectFifo, Out, Program, Runtime
from iron.compat.arguments import (
    add_benchmark_args,
    add_compile_args,
    add_runtime_args,
    add_trace_arg,
    device_from_args,
)
from iron.compat.design_cli import run_design_cli
from iron.compat.hostruntime import DefaultNPURuntime, HostRuntimeError, NPUKernel
from iron.compat.testing import create_npu_kernel
from iron.runtime.device import chosen_device, set_current_device
from iron.toolchain.compiler import ToolNotFound


@iron.jit
def moved(a: In, b: Out, *, n: CompileTime[int] = 64):
    whole = np.ndarray[(n,), np.dtype[np.int32]]
    source = ObjectFifo(whole, name="source")
    result = source.cons().forward(name="result")

    def sequence(a, b, source, result):
        source.fill(a)
        result.drain(b, wait=True)

    runtime = Runtime(sequence, [whole, whole, source.prod(), result.cons()])
    return Program(iron.get_current_device(), runtime).resolve_program()


@pytest.fixture(autouse=True)
def device():
    """The device that a script chooses is the process's."""
    yield
    set_current_device(None)


def parsed(*words, **options):
    parser = argparse.ArgumentParser()
    add_compile_args(parser, **options)
    return parser.parse_args(words)


def cli(opts, **options):
    return run_design_cli(moved, opts, compile_kwargs=lambda o: {"n": 32}, **options)


def test_flags():
    everything = {f"with_{n}": True for n in ("elf", "full_elf", "pdi", "emit_mlir")}
    opts = parsed("-d", "npu2", "--emit-mlir", "--elf-path", "e", **everything)
    assert (opts.dev, opts.emit_mlir, opts.elf_path, opts.pdi_path) == ("npu2", True, "e", None)
    with pytest.raises(SystemExit):
        parsed("--dev", "xcvc1902")
    parser = argparse.ArgumentParser()
    add_benchmark_args(parser, default_iters=9)
    add_trace_arg(parser)
    opts = parser.parse_args(["-w", "3", "--trace-size", "8"])
    assert (opts.warmup, opts.iters, opts.trace_size) == (3, 9, 8)


def test_the_device_of_the_flags():
    assert device_from_args(argparse.Namespace(dev=None)) is None
    assert device_from_args(argparse.Namespace(dev="npu")) == iron.NPU1Col1()
    assert device_from_args(argparse.Namespace(dev="npu2"), n_cols=4) == iron.NPU2Col4()
    assert device_from_args(argparse.Namespace(dev="npu2", n_cols=2)) == iron.NPU2Col2()
    assert device_from_args(argparse.Namespace(dev="npu2"), n_cols=None) == iron.NPU2()
    with pytest.raises(ValueError, match="int, None or 'auto'"):
        device_from_args(argparse.Namespace(dev="npu2"), n_cols="all")


def test_a_script_runs_by_default_on_the_device_asked_for(capsys):
    ran = []
    cli(parsed("--dev", "npu"), run_and_verify=ran.append, device=device_from_args)
    assert chosen_device() == iron.NPU1Col1()
    opts = parsed()
    cli(opts, run_and_verify=ran.append, device=device_from_args)
    assert opts.dev == "npu"  # the family of the current device
    cli(parsed(), run_and_verify=ran.append, device=iron.NPU2())
    assert chosen_device() == iron.NPU2()
    assert len(ran) == 3
    assert capsys.readouterr().out == ""


def test_a_script_prints_its_design(capsys):
    cli(parsed("--dev", "npu2", "--emit-mlir", with_emit_mlir=True))
    out = capsys.readouterr().out
    assert "aie.device(npu2_1col)" in out
    assert "memref<32xi32>" in out


def test_a_script_builds_to_paths_that_another_one_runs(tmp_path, capsys):
    paths = ["--xclbin-path", str(tmp_path / "a.xclbin"), "--insts-path", str(tmp_path / "a.bin")]
    cli(parsed("--dev", "npu2", *paths))
    parser = argparse.ArgumentParser()
    add_runtime_args(parser, with_io_sizes=True, with_benchmark=True)
    words = ["--xclbin", str(tmp_path / "a.xclbin"), "--instr", str(tmp_path / "a.bin")]
    opts = create_npu_kernel(parser.parse_args(words))
    a, b = iron.arange(32, dtype=np.int32), iron.zeros(32, dtype=np.int32)
    try:
        assert DefaultNPURuntime.run_test(opts.npu_kernel, [a, b], {1: a.numpy()}) == 0
        assert DefaultNPURuntime.run_test(opts.npu_kernel, [a, b], {1: a.numpy() + 1}) == 32
        assert "argument 1: 32 of 32 elements differ" in capsys.readouterr().out
        plain = np.zeros(32, np.int32)
        _, result = opts.npu_kernel(a, plain)
        assert plain.tolist() == list(range(32))
        assert result.is_success()
        assert result.npu_time > 0
        with pytest.raises(HostRuntimeError, match="got 16"):
            opts.npu_kernel(a, iron.zeros(16, dtype=np.int32))
        with pytest.raises(HostRuntimeError, match="sequence takes 2"):
            opts.npu_kernel(a)
    finally:
        DefaultNPURuntime.cleanup()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--xclbin-path", "x"], "--xclbin-path requires --insts-path"),
        (["--xclbin-path", "x", "--insts-path", "i", "--full-elf-path", "f"], "mutually exclusive"),
        ([], "no Python run"),
    ],
)
def test_flags_that_contradict_each_other(words, says):
    with pytest.raises(SystemExit, match=says):
        cli(parsed("--dev", "npu2", *words, with_full_elf=True))


def test_a_check_of_the_flags_comes_first():
    def no(opts):
        raise SystemExit("no")

    with pytest.raises(SystemExit, match="no"):
        cli(parsed("--dev", "npu2"), validate=no, run_and_verify=pytest.fail)
    with pytest.raises(ValueError, match="selector returned None"):
        cli(parsed("--dev", "npu2"), device=lambda opts: None)


def test_a_kernel_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="no built design"):
        NPUKernel(tmp_path / "nothing", tmp_path / "insts")(iron.zeros(1))
    with pytest.raises(ValueError, match="path of a built design"):
        NPUKernel()


# -- compile() and what belongs to it ------------------------------------------------------


def test_building_gives_paths_that_are_there_before_a_second_build(build_log):
    design = moved.compilable.specialize(n=16)
    assert design.get_artifacts() is None
    package, network = design.compile()
    assert package.is_dir()
    assert network.exists()
    build_log.clear()
    assert design.get_artifacts() == design.compile() == (package, network)
    assert build_log.runs() == 0
    assert (design.get_pdi_paths(), design.get_pdi_path()) == ([], None)


@pytest.mark.parametrize(
    ("paths", "error", "says"),
    [
        ({"xclbin_path": "x"}, ValueError, "together"),
        ({"elf_path": "x"}, ValueError, "elf_path needs"),
        ({"pdi_path": "x"}, ValueError, "pdi_path needs"),
        ({"xclbin_path": "x", "inst_path": "i", "full_elf_path": "f"}, ValueError, "give one"),
        ({"xclbin_path": "x", "inst_path": "i", "pdi_path": "p"}, ToolNotFound, "makes none"),
    ],
)
def test_paths_that_do_not_go_together(paths, error, says):
    with pytest.raises(error, match=says):
        moved.compile(**paths)


def test_one_file_with_everything(tmp_path):
    path, nothing = moved.compile(full_elf_path=tmp_path / "whole.elf")
    assert nothing is None
    a, b = iron.arange(64, dtype=np.int32), iron.zeros(64, dtype=np.int32)
    NPUKernel(elf_path=path)(a, b)
    DefaultNPURuntime.cleanup()
    np.testing.assert_array_equal(a.numpy(), b.numpy())
