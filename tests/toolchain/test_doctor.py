"""`iron doctor` on a bare machine, with everything, and half installed."""

import json

import pytest

from iron.cli.main import main


@pytest.fixture
def bare(monkeypatch, tmp_path):
    from iron.toolchain.variables import NPU

    for name in NPU:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("IRON_CXX", "/bin/sh")


def report(capsys, *arguments):
    try:
        status = main(["doctor", "--json", *arguments])
    except SystemExit as e:
        status = e.code
    found = json.loads(capsys.readouterr().out)
    return status, found["works"], {f["what"]: f for f in found["npu"]}


def test_a_bare_machine(bare, capsys):
    status, works, npu = report(capsys, "--target", "npu")
    assert status == 1
    assert not works["npu"]
    assert npu["mlir-aie"]["state"] == npu["Peano"]["state"] == "missing"
    assert any("aie-opt on PATH" in place for place in npu["mlir-aie"]["looked"])
    assert npu["xclbinutil"]["state"] == "ok"  # we write xclbins ourselves
    with pytest.raises(SystemExit):
        main(["doctor", "--target", "npu"])
    words = capsys.readouterr().out
    assert "target npu: does not work" in words
    assert "missing  mlir-aie: not found. Install its wheel" in words
    assert "looked at the mlir_aie wheel: not there" in words


def test_everything_is_there(tools, capsys):
    status, works, npu = report(capsys, "--target", "npu")
    assert (status, works["npu"]) == (0, True)
    assert "step by step as of 2026-03" in npu["mlir-aie"]["text"]
    assert npu["mlir-aie"]["source"] == "MLIR_AIE_INSTALL_DIR"
    assert npu["Peano"]["source"] == "beside mlir-aie"
    assert npu["xclbinutil"]["text"] == "2.18.0"
    assert npu["bootgen"]["path"] == str(tools.tool("bootgen"))
    assert main(["doctor"]) == 0
    assert "target npu: works" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("gone", "what"),
    [
        ("mlir_aie/peano/lib/aie2-none-unknown-elf/libc.a", "Peano"),
        ("mlir_aie/peano/bin/llc", "Peano"),
        ("mlir_aie/bin/aie-translate", "mlir-aie"),
    ],
)
def test_half_installed(tools, capsys, gone, what):
    (tools.root / gone).unlink()
    status, _, npu = report(capsys, "--target", "npu")
    assert status == 1
    assert npu[what]["state"] == "missing"
    assert gone.removeprefix("mlir_aie/").removeprefix("peano/") in npu[what]["text"]


@pytest.mark.parametrize(
    ("tool", "what"),
    [("mlir_aie/bin/aie-opt", "mlir-aie"), ("mlir_aie/peano/bin/clang++", "Peano")],
)
def test_a_program_that_does_not_run_is_told(tools, capsys, tool, what):
    (tools.root / tool).write_text("#!/bin/sh\necho libxyz.so: cannot open >&2\nexit 127\n")
    status, works, npu = report(capsys, "--target", "npu")
    assert (status, works["npu"]) == (1, False)
    assert npu[what]["state"] == "missing"
    assert "does not run: libxyz.so: cannot open; reinstall it" in npu[what]["text"]


def test_an_unknown_version_and_an_old_packager_are_warnings(tools, capsys):
    tools.configure(passes=["something-new"], xclbinutil="2.8.1")
    for name in ("aie-opt", "xclbinutil"):
        tools.upgrade(name)
    status, works, npu = report(capsys, "--target", "npu")
    assert (status, works["npu"]) == (0, True)
    assert "built by its own aiecc as a whole" in npu["mlir-aie"]["text"]
    assert "AIE_PARTITION needs 2.13" in npu["xclbinutil"]["text"]
    assert npu["xclbinutil"]["state"] == "warning"


def test_exit_status_is_that_of_the_target_asked_for(bare, capsys):
    assert report(capsys, "--target", "host")[0] == 1  # /bin/sh is there, no archiver is
    status, works, _ = report(capsys)
    assert (status, works) == (1, {"host": False, "npu": False})
