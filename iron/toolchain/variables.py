"""The environment variables that decide which tools are found and how they are driven, as data:
whoever only compares them loads no tool."""

from __future__ import annotations

HOST = ("IRON_CXX", "CXX", "AR", "PATH")
NPU = (
    "MLIR_AIE_INSTALL_DIR", "PEANO_INSTALL_DIR", "AIE_XCLBINUTIL", "AIE_BOOTGEN", "AIE_AIEBU_ASM",
    "AIE_XCHESSCC", "XILINX_XRT", "AIETOOLS", "IRON_NPU_DRIVER", "PATH",
)  # fmt: skip
