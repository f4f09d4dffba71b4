"""``aie.utils.ml``: the layouts of convolution examples."""

from __future__ import annotations

from typing import Any

import numpy as np


class DataShaper:
    """Reorders the axes of an array into blocks, by a text such as ``"YCXC8"``.

    Letters name axes; a letter with a number is a part of that axis of that extent.
    """

    def reorder_mat(self, mat: Any, orderTo: str, orderFrom: str) -> np.ndarray[Any, Any]:
        """`mat`, whose axes are the letters of `orderFrom`, in the order of `orderTo`."""
        array = np.asarray(mat)
        extents = dict(zip(orderFrom, array.shape, strict=True))
        axes: list[tuple[str, int | None]] = []
        i = 0
        while i < len(orderTo):
            j = i + 1
            while j < len(orderTo) and orderTo[j].isdigit():
                j += 1
            axes.append((orderTo[i], int(orderTo[i + 1 : j]) if j > i + 1 else None))
            i = j
        shape: list[int] = []
        source: list[tuple[str, int | None]] = []
        for letter in orderFrom:
            parts = [n for name, n in axes if name == letter and n is not None]
            rest = extents[letter] // int(np.prod(parts, dtype=int))
            for name, n in sorted(
                (a for a in axes if a[0] == letter), key=lambda a: a[1] is not None
            ):
                shape.append(rest if n is None else n)
                source.append((name, n))
        order = [source.index(a) for a in axes]
        return np.ascontiguousarray(array.reshape(shape).transpose(order)).ravel()


def run_conv_torch_test(*args: Any, **kwargs: Any) -> None:
    raise NotImplementedError("the convolution harness of mlir-aie needs torch and its kernels")
