"""Tiles of matrix products. Block extents are those of the hardware's multipliers (mlir-aie's
aie_kernels, 2026-08), so that layouts made for them fit on every target."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..design.current import get_current_device
from ..design.devices import AIEArch
from ..design.kernel import ExternalFunction
from .sources import declare, scalar_class, tile

bfloat16 = ml_dtypes.bfloat16
Blocks = tuple[int, int, int]

_SHORT = {np.int8: "i8", np.int16: "i16", np.int32: "i32", np.float32: "f32", bfloat16: "bf16"}

# (input, output): (r, s, t) of AIE-ML (AIE2) and of AIE2P
_BLOCKS: dict[tuple[Any, Any], tuple[Blocks, Blocks]] = {
    (np.int8, np.int8): ((4, 8, 8), (8, 8, 8)),
    (np.int8, np.int16): ((4, 8, 8), (8, 8, 8)),
    (np.int8, np.int32): ((4, 8, 8), (8, 8, 8)),
    (np.int16, np.int16): ((4, 4, 4), (4, 4, 8)),
    (np.int16, np.int32): ((4, 4, 4), (4, 4, 8)),
    (bfloat16, bfloat16): ((4, 8, 4), (4, 8, 8)),
    (bfloat16, np.float32): ((4, 8, 4), (4, 8, 8)),
}
_BLOCK_MACROS = ("BLOCK_M", "BLOCK_K", "BLOCK_N")
_EMULATED: Blocks = (8, 8, 8)
_CASCADED = [pair for pair in _BLOCKS if pair[0] is not np.int8]


class MatrixKernel(ExternalFunction):
    """A kernel of a matrix product, with what belongs to it."""

    zero: ExternalFunction
    """``(c)``: sets the accumulator to zero; of the same object."""
    mac_dims: Blocks
    """(r, s, t): A is in blocks of r x s elements, B of s x t, C of r x t; (1, 1, 1): row-major."""
    get_only: ExternalFunction
    put_only: ExternalFunction
    put_get: ExternalFunction


def mm(
    dim_m: int = 64,
    dim_k: int = 64,
    dim_n: int = 64,
    input_dtype: Any = np.int16,
    output_dtype: Any = np.int16,
    vectorized: bool = True,
    b_col_maj: bool = False,
    c_col_maj: bool = False,
    use_chess: bool = False,
    emulate_bf16_mmul_with_bfp16: bool = False,
) -> MatrixKernel:
    """``(a, b, c)``: C += A * B on matrices of `dim_m` x `dim_k` and `dim_k` x `dim_n`.

    `vectorized` kernels take them in blocks of ``mac_dims``, which depend on the current device,
    others row-major, which is blocks of one element. `b_col_maj`, `c_col_maj`: that matrix, and its
    blocks, are column-major. ``.zero`` clears C. `emulate_bf16_mmul_with_bfp16` gives bfloat16 on
    AIE2P blocks of 8 x 8 x 8.

    ValueError for types that do not go together or extents that are no multiple of the blocks.
    """
    pair = _pair("mm", input_dtype, output_dtype, list(_BLOCKS))
    newer = get_current_device().arch == AIEArch.AIE2p
    blocks = _BLOCKS[pair][newer]
    if emulate_bf16_mmul_with_bfp16 and newer and pair[0] is bfloat16:
        blocks = _EMULATED
    fits = not any(n % b for n, b in zip((dim_m, dim_k, dim_n), blocks, strict=True))
    if vectorized and not fits:
        raise ValueError(
            f"mm(): a tile of {dim_m} x {dim_k} x {dim_n} is no multiple of the blocks "
            f"{' x '.join(map(str, blocks))} of this device; use vectorized=False"
        )
    macros: dict[str, Any] = _extents(dim_m, dim_k, dim_n, pair)
    macros |= dict(zip(_BLOCK_MACROS, blocks if fits else (1, 1, 1), strict=True))
    macros |= {"B_COL_MAJ": None} if b_col_maj else {}
    macros |= {"C_COL_MAJ": None} if c_col_maj else {}
    prefix = _prefix("mm", dim_m, dim_k, dim_n, pair, macros)
    source, types = _SHORT[pair[0]], _types(dim_m, dim_k, dim_n, pair)
    result = _SHORT[pair[1]]
    variant = "" if vectorized else "_scalar"
    options: dict[str, Any] = {"prefix": prefix, "use_chess": use_chess}
    name = f"matmul{variant}_{source}_{result}"
    kernel = declare(name, "matmul.cc", types, macros, kind=MatrixKernel, **options)
    kernel.zero = declare(f"zero{variant}_{result}", "matmul.cc", [types[2]], macros, **options)
    kernel.mac_dims = blocks if vectorized else (1, 1, 1)
    return kernel


def mv(
    dim_m: int = 32,
    dim_k: int = 32,
    input_dtype: Any = np.int16,
    output_dtype: Any = np.int32,
    vectorized: bool = True,
    use_chess: bool = False,
) -> MatrixKernel:
    """``(a, b, c)``: c += A * b on a matrix of `dim_m` x `dim_k`, int16 into int32.

    `vectorized` takes A as pairs of columns, each pair row after row, else row-major. ``.zero``
    clears c. ValueError for other types.
    """
    scalar_class(input_dtype, (np.int16,), "mv")
    scalar_class(output_dtype, (np.int32,), "mv")
    types = [tile(np.int16, dim_m * dim_k), tile(np.int16, dim_k), tile(np.int32, dim_m)]
    macros = {"DIM_M": dim_m, "DIM_K": dim_k}
    options: dict[str, Any] = {"prefix": f"mv_{dim_m}x{dim_k}", "use_chess": use_chess}
    variant = "vectorized" if vectorized else "scalar"
    name = f"matvec_{variant}_i16_i32"
    kernel = declare(name, "matvec.cc", types, macros, kind=MatrixKernel, **options)
    kernel.zero = declare(f"zero_{variant}_i32", "matvec.cc", [types[2]], macros, **options)
    kernel.mac_dims = (1, 1, 1)
    return kernel


def cascade_mm(
    dim_m: int = 64,
    dim_k: int = 64,
    dim_n: int = 64,
    input_dtype: Any = np.int16,
    output_dtype: Any = np.int16,
    use_chess: bool = False,
) -> MatrixKernel:
    """A product summed along a cascade of cores, on row-major tiles: ``.put_only`` for the first
    core, ``.put_get`` between, ``.get_only`` (the kernel itself) for the last, which owns C, and
    ``.zero`` to clear C. ValueError for types that do not go together."""
    pair = _pair("cascade_mm", input_dtype, output_dtype, _CASCADED)
    macros = _extents(dim_m, dim_k, dim_n, pair)
    prefix = _prefix("cascade", dim_m, dim_k, dim_n, pair, macros)
    options: dict[str, Any] = {"prefix": prefix, "use_chess": use_chess}
    types = _types(dim_m, dim_k, dim_n, pair)
    suffix = f"{_SHORT[pair[0]]}_{_SHORT[pair[1]]}"

    def part(verb: str) -> MatrixKernel:
        name = f"matmul_scalar_cascade_{verb}_{suffix}"
        return declare(name, "cascade.cc", types, macros, kind=MatrixKernel, **options)

    kernel = part("get_only")
    kernel.get_only, kernel.put_only, kernel.put_get = kernel, part("put_only"), part("put_get")
    zero = f"zero_scalar_{_SHORT[pair[1]]}"
    kernel.zero = declare(zero, "cascade.cc", [types[2]], macros, **options)
    kernel.mac_dims = (1, 1, 1)
    return kernel


def _pair(what: str, input_dtype: Any, output_dtype: Any, allowed: list[Any]) -> tuple[Any, Any]:
    for pair in allowed:
        if (np.dtype(input_dtype), np.dtype(output_dtype)) == tuple(map(np.dtype, pair)):
            found: tuple[Any, Any] = pair
            return found
    known = ", ".join(f"{_SHORT[i]} -> {_SHORT[o]}" for i, o in allowed)
    raise ValueError(
        f"{what}(): unsupported (input_dtype, output_dtype) = ({np.dtype(input_dtype)}, "
        f"{np.dtype(output_dtype)}); it takes {known}"
    )


def _extents(m: int, k: int, n: int, pair: tuple[Any, Any]) -> dict[str, Any]:
    return {"DIM_M": m, "DIM_K": k, "DIM_N": n, "INPUT": _SHORT[pair[0]], "OUTPUT": _SHORT[pair[1]]}


def _types(m: int, k: int, n: int, pair: tuple[Any, Any]) -> list[Any]:
    return [tile(pair[0], m * k), tile(pair[0], k * n), tile(pair[1], m * n)]


def _prefix(
    what: str, m: int, k: int, n: int, pair: tuple[Any, Any], macros: dict[str, Any]
) -> str:
    """Everything the code depends on, as a part of a symbol."""
    layout = "".join(f"_{name.lower()}" for name, value in macros.items() if value is None)
    blocks = "".join(f"_{macros[c]}" for c in _BLOCK_MACROS if c in macros)
    return f"{what}_{m}x{k}x{n}{blocks}{layout}_{_SHORT[pair[0]]}_{_SHORT[pair[1]]}"
