"""Small designs for the npu target, as text: two cores that do the same with different memory, one
that does something else; an external kernel; one or two runtime sequences."""

from __future__ import annotations

KERNEL = """
#ifndef NAME
#define NAME twice
#endif
extern "C" void NAME(int *x) {
  for (int i = 0; i < 64; i++) x[i] *= FACTOR;
}
"""


def core(column: int, row: int, name: str, calls: str = "twice") -> str:
    return f"""
    %tile_{row} = aie.tile({column}, {row})
    %{name}_ready = aie.lock(%tile_{row}, 0) {{init = 0 : i32, sym_name = "{name}_ready"}}
    %{name} = aie.buffer(%tile_{row}) {{sym_name = "{name}"}} : memref<64xi32>
    %core_{row} = aie.core(%tile_{row}) {{
      aie.use_lock(%{name}_ready, AcquireGreaterEqual, 1)
      func.call @{calls}(%{name}) : (memref<64xi32>) -> ()
      aie.use_lock(%{name}_ready, Release, 1)
      aie.end
    }}"""


def sequence(name: str, value: int) -> str:
    return f"""
    aie.runtime_sequence @{name}(%a: memref<64xi32>, %b: memref<64xi32>) {{
      aiex.npu.write32 {{address = {value} : ui32, value = 1 : ui32}}
    }}"""


def design(
    *bodies: str,
    functions: tuple[tuple[str, str], ...] = (("twice", "twice.o"),),
    device: str = "npu1_1col",
) -> str:
    declared = "".join(
        f'\n    func.func private @{f}(memref<64xi32>) attributes {{link_with = "{o}"}}'
        for f, o in functions
    )
    return f"module {{\n  aie.device({device}) {{{declared}{''.join(bodies)}\n  }}\n}}\n"


def usual(value: int = 64) -> str:
    """Two alike cores and one other, one sequence."""
    return design(
        core(0, 2, "x"),
        core(0, 3, "y"),
        core(0, 4, "z", "thrice"),
        sequence("sequence", value),
        functions=(("twice", "twice.o"), ("thrice", "thrice.o")),
    )
