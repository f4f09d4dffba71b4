"""Who answers ``import aie``, when, and with what."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

import iron
from iron import compat
from iron.compat.modules import MODULES

SCRIPT = """
import sys
import numpy as np
import aie.iron as iron
from aie.iron import ObjectFifo, Program, Runtime, In, Out, CompileTime
from aie.utils.verify import assert_pass
import beside

@iron.jit
def copied(a: In, b: Out, *, n: CompileTime[int]):
    whole = np.ndarray[(n,), np.dtype[np.int32]]
    source = ObjectFifo(whole, name="source")
    result = source.cons().forward()
    def sequence(a, b, source, result):
        source.fill(a)
        result.drain(b, wait=True)
    runtime = Runtime(sequence, [whole, whole, source.prod(), result.cons()])
    return Program(iron.get_current_device(), runtime).resolve_program()

a, b = iron.arange(beside.N, dtype=np.int32), iron.zeros(beside.N, dtype=np.int32)
copied(a, b, n=beside.N)
assert_pass(b.numpy(), a.numpy())
print(sys.argv[1:], __name__, iron.ObjectFifo.__module__.partition(".")[0])
"""


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_module_answers_all_its_names(aie, name):
    module = importlib.import_module(name)
    for attribute in dir(module):
        assert getattr(module, attribute) is not None
    assert all(hasattr(module, n) for n in module.__all__)


def test_the_names_are_irons_own(aie):
    import aie.iron
    from aie.dialects.aie import DMAChannelDir, device, tile
    from aie.helpers.taplib.tap import TensorAccessPattern
    from aie.iron.controlflow import range_
    from aie.iron.device import NPU2Col1
    from aie.iron.kernel import ExternalFunction
    from aie.utils import tensor

    assert aie.iron.Lock is iron.Lock
    assert issubclass(aie.iron.Buffer, iron.Buffer)
    assert (range_, ExternalFunction) == (iron.range_, iron.ExternalFunction)
    assert NPU2Col1 is iron.NPU2Col1
    assert TensorAccessPattern is iron.TensorAccessPattern
    assert isinstance(tensor((2,)), iron.Tensor)
    assert aie.iron.kernels is importlib.import_module("iron.kernels") or aie.iron.kernels.mm
    assert isinstance(iron.ObjectFifo(np.ndarray[(1,), np.dtype[np.int8]]), aie.iron.ObjectFifo)
    assert all((device, tile, DMAChannelDir.S2MM is not None))


def test_a_name_that_is_not_there_says_what_is_near(aie):
    import aie.iron

    with pytest.raises(
        AttributeError, match=r"'aie.iron'.*no 'ObjectFif'; near it are: ObjectFifo"
    ):
        _ = aie.iron.ObjectFif
    with pytest.raises(ImportError, match=r"'aie.iron.*no 'ObjectFif'; near it are: ObjectFifo"):
        from aie.iron import ObjectFif  # noqa: F401
    with pytest.raises(ImportError):
        importlib.import_module("aie.iron.nothing")


def test_nothing_is_answered_until_it_is_asked_for_and_all_is_taken_back():
    assert "aie" not in sys.modules
    with pytest.raises(ImportError):
        importlib.import_module("aie.iron")
    assert compat.install()
    assert compat.install()  # once is enough
    importlib.import_module("aie.iron.device")
    compat.uninstall()
    assert not [n for n in sys.modules if n.partition(".")[0] == "aie"]
    with pytest.raises(ImportError):
        importlib.import_module("aie.iron")


def run(*command, **environment):
    return subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture
def script(tmp_path):
    directory = tmp_path / "a user"
    directory.mkdir()
    (directory / "beside.py").write_text("N = 64\n")
    (directory / "script.py").write_text(SCRIPT)
    return directory / "script.py"


@pytest.mark.parametrize("how", [("-m", "iron", "run"), ("-m", "iron.compat")])
def test_a_script_runs_unchanged(script, how):
    done = run(*how, script, "--flag", "7")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["PASS!", "['--flag', '7'] __main__ iron"]


def test_one_import_line_does_as_well(script):
    script.write_text("import iron.compat.aie\n" + SCRIPT)
    done = run(script)
    assert done.returncode == 0, done.stderr
    assert "PASS!" in done.stdout


def test_a_real_mlir_aie_is_never_shadowed(script, tmp_path):
    real = tmp_path / "site"
    (real / "aie").mkdir(parents=True)
    (real / "aie" / "__init__.py").write_text("")
    (real / "aie" / "iron.py").write_text("raise SystemExit('the real one')")
    done = run("-m", "iron", "run", script, PYTHONPATH=str(real))
    assert "the real one" in done.stderr
    script.write_text("import iron.compat.aie\n")
    done = run(script, PYTHONPATH=str(real))
    assert "ImportError: mlir-aie is installed" in done.stderr
    assert str(real) in done.stderr


def test_a_directory_of_the_name_is_no_mlir_aie(script):
    (script.parent / "aie").mkdir()
    done = run("-m", "iron", "run", script)
    assert done.returncode == 0, done.stderr


def test_a_script_that_is_not_there():
    with pytest.raises(FileNotFoundError, match=r"no such script: nothing\.py"):
        compat.run_script("nothing.py")
