"""The SCons tool for AI Engine designs.

    env = Environment(tools=[iron.tool])      # anywhere iron is installed
    env = Environment(tools=["aie"])          # in a tree with our site_scons

Builders: ``AIEKernel`` (C++ source -> object), ``AIEArchive`` (sources -> static library),
``AIEMlir`` (Python design -> MLIR text) and ``AIEDesign`` (Python design or MLIR text -> package).
Each target is what the JIT makes of the same input: one store, one set of keys, and no command
runs for what either of them has made.
"""

from .tool import exists, generate

__all__ = ["exists", "generate"]
