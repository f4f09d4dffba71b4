"""Which module of mlir-aie answers from where.

Keys are the import paths that its examples, guide and tests use; values are modules of ours,
looked through in order, and single names written ``name=module.attribute``.
"""

from __future__ import annotations

TOP = "aie"

_DESIGN = "iron.design"
_TENSORS = "iron.runtime.makers"
_HOST = "iron.compat.hostruntime"
_TAPS = "iron.design.taps"
# Where the words of `aie.dialects.aie` and `aie.dialects.aiex` are: scripts ask either for them.
_DIALECTS = (
    "T=iron.compat.mlir_types.T",
    "iron.design.placed",
    "iron.design.placed_dma",
    "iron.design.placed_fifo",
    "iron.design.placed_routes",
    "iron.design.placed_writes",
    "iron.ir.dialects.enums",
)
_JIT = "iron.jit"
_SPELLINGS = "iron.compat.spellings"

MODULES: dict[str, tuple[str, ...]] = {
    "aie": (),
    # What designs are written with.
    "aie.iron": (_SPELLINGS, "iron", "NPU=iron.design.devices.NPU1"),
    "aie.iron.algorithms": ("iron.compat.march.algorithms", "iron.algorithms"),
    "aie.iron.kernels": ("iron.kernels",),
    "aie.iron.buffer": (_SPELLINGS, _DESIGN),
    "aie.iron.controlflow": (_DESIGN,),
    "aie.iron.dataflow": (_SPELLINGS, _DESIGN),
    "aie.iron.dataflow.cascadeflow": (_DESIGN,),
    "aie.iron.dataflow.endpoint": ("ObjectFifoEndpoint=iron.compat.endpoints.ObjectFifoEndpoint",),
    "aie.iron.dataflow.flow": (_DESIGN,),
    "aie.iron.dataflow.objectfifo": (_SPELLINGS, _DESIGN),
    "aie.iron.dataflow.tile_dma": (_DESIGN,),
    "aie.iron.device": ("iron.design.devices", "iron.design.tiles"),
    "aie.iron.device.device": ("iron.design.devices", "iron.design.tiles"),
    "aie.iron.device.tile": ("iron.design.tiles",),
    "aie.iron.dtype": ("iron.design.dtypes",),
    "aie.iron.kernel": (_DESIGN,),
    "aie.iron.lock": (_DESIGN,),
    "aie.iron.placers": ("iron.compat.placers",),
    "aie.iron.program": (_SPELLINGS, _DESIGN),
    "aie.iron.resolvable": ("iron.compat.endpoints",),
    "aie.iron.runtime": (_SPELLINGS, _DESIGN),
    "aie.iron.runtime.endpoint": ("RuntimeEndpoint=iron.compat.endpoints.RuntimeEndpoint",),
    "aie.iron.runtime.runtime": (_SPELLINGS, _DESIGN),
    "aie.iron.runtime.task": (_DESIGN,),
    "aie.iron.runtime.taskgroup": (_DESIGN,),
    "aie.iron.scratchpad_parameter": (_DESIGN,),
    "aie.iron.worker": (_SPELLINGS, _DESIGN),
    # Running, timing, checking.
    "aie.utils": (
        _HOST,
        _TENSORS,
        "iron.design.current",
        "iron.benchmark",
        "set_current_device=iron.runtime.device.set_current_device",
        "TraceConfig=iron.compat.trace.TraceConfig",
    ),
    "aie.utils.benchmark": ("iron.benchmark",),
    "aie.utils.callabledesign": (_JIT,),
    "aie.utils.compile": ("iron.compat.compiling",),
    "aie.utils.compile.jit": (_JIT,),
    "aie.utils.compile.jit.compilabledesign": (_JIT,),
    "aie.utils.compile.jit.compileconfig": (_JIT,),
    "aie.utils.compile.jit.context": (_JIT,),
    "aie.utils.compile.jit.markers": (_JIT,),
    "aie.utils.compile.utils": ("iron.compat.compiling",),
    "aie.utils.config": ("iron.compat.config",),
    "aie.utils.hostruntime": (
        _HOST,
        "set_current_device=iron.runtime.device.set_current_device",
    ),
    "aie.utils.hostruntime.argparse": ("iron.compat.arguments",),
    "aie.utils.hostruntime.cli": ("iron.compat.design_cli",),
    "aie.utils.hostruntime.hostruntime": (_HOST,),
    "aie.utils.hostruntime.tensor_class": (_HOST, "iron.runtime.tensor", _TENSORS),
    "aie.utils.jit": (_SPELLINGS, _JIT),
    "aie.utils.ml": ("iron.compat.ml",),
    "aie.utils.npukernel": (_HOST,),
    "aie.utils.tensor_factory": (_TENSORS,),
    "aie.utils.test": ("iron.compat.testing",),
    "aie.utils.trace": ("iron.compat.trace",),
    "aie.utils.trace.config": ("iron.compat.trace",),
    "aie.utils.trace.events": ("iron.compat.events",),
    "aie.utils.trace.utils": ("iron.compat.trace",),
    "aie.utils.verify": ("iron.verify",),
    # Access patterns and the traced language.
    "aie.helpers": (),
    "aie.helpers.dialects": (),
    "aie.helpers.dialects.func": (_DESIGN,),
    "aie.helpers.dialects.scf": (
        _DESIGN,
        "_for=iron.design.range_",
        "for_=iron.design.range_",
    ),
    "aie.helpers.taplib": (_TAPS,),
    "aie.helpers.taplib.tap": (_TAPS,),
    "aie.helpers.taplib.tas": (_TAPS,),
    "aie.helpers.taplib.tensortiler2d": (_TAPS,),
    "aie.helpers.util": ("iron.compat.types",),
    # Placed designs.
    "aie.dialects": (),
    "aie.dialects._aie_enum_gen": ("iron.ir.dialects.enums",),
    "aie.dialects.aie": _DIALECTS,
    "aie.dialects.aiex": _DIALECTS,
    "aie.dialects.arith": ("iron.compat.arith", "iron.ir.dialects.enums"),
    "aie.dialects.func": (_DESIGN,),
    "aie.dialects.memref": ("iron.compat.memory",),
    "aie.dialects.scf": (_DESIGN, "_for=iron.design.range_", "for_=iron.design.range_"),
    "aie.extras": ("T=iron.compat.mlir_types.T",),
    "aie.extras.context": ("mlir_mod_ctx=iron.design.placed.mlir_mod_ctx",),
    "aie.extras.dialects": (),
    "aie.extras.types": ("iron.compat.mlir_types",),
    "aie.extras.util": ("iron.compat.types",),
    "aie.extras.dialects.arith": ("iron.compat.arith",),
    "aie.ir": ("iron.compat.types",),
}
