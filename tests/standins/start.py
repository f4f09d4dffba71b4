"""Starts the stand-in of a tool: start.py ROOT TOOL ARGUMENTS..."""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.dirname(os.path.dirname(HERE))]

if __name__ == "__main__":
    name = sys.argv[2]
    if name in ("aie-opt", "aie-translate"):
        import mlir

        tools = {"aie-opt": mlir.opt, "aie-translate": mlir.translate}
    elif name in ("bootgen", "xclbinutil", "hrx-xclbinutil", "aiecc", "aiecc.py", "aiebu-asm"):
        import package

        tools = dict.fromkeys(("xclbinutil", "hrx-xclbinutil"), package.xclbinutil)
        tools |= {"bootgen": package.bootgen, "aiecc": package.aiecc, "aiecc.py": package.aiecc}
        tools |= {"aiebu-asm": package.aiebu}
    else:
        import llvm

        tools = llvm.TOOLS
    sys.exit(tools[name](sys.argv[3:]))
