"""Registers of the array, written from the runtime sequence: the words of mlir-aie's dialect that
say which descriptor a channel gets, word by word.

Numbers are known or traced. What they mean is the hardware's business, and the host target's, which
knows those of descriptors, locks, queues and buffers. The module and its devices are `placed`'s.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.attributes import Attribute, BoolAttr, IntegerAttr, SymbolRefAttr
from ..ir.core import Value
from ..ir.types import I32, IntegerType
from .context import in_sequence
from .placed import symbol_of
from .values import Number, as_value

__all__ = [
    "npu_address_patch", "npu_maskwrite32", "npu_push_queue", "npu_sync", "npu_write32",
    "npu_writebd",
]  # fmt: skip

_WORD = IntegerType(32, "u")


def npu_write32(
    address: Any, value: Any, buffer: Any = None, column: Any = None, row: Any = None
) -> None:
    """Write one word: to a byte `address` of a tile, or of a `buffer`, by name, counted in words.
    ScopeError outside of a runtime sequence."""
    _write("npu_write32", {"address": address, "value": value}, buffer, column, row)


def npu_maskwrite32(
    address: Any, value: Any, mask: Any, buffer: Any = None, column: Any = None, row: Any = None
) -> None:
    """Write the bits of one word that `mask` has; otherwise as `npu_write32`."""
    words = {"address": address, "value": value, "mask": mask}
    _write("npu_maskwrite32", words, buffer, column, row)


def _write(name: str, words: dict[str, Any], buffer: Any, column: Any, row: Any) -> None:
    where: dict[str, Attribute] = {
        key: IntegerAttr(int(n), I32)
        for key, n in (("column", column), ("row", row))
        if n is not None
    }
    if buffer is not None:
        where["buffer"] = SymbolRefAttr((symbol_of(buffer),))
    _emit(name, words, _WORD, where)


def npu_sync(
    column: Any, row: Any, direction: Any, channel: Any, column_num: Any = 1, row_num: Any = 1
) -> None:
    """Wait for the token of a channel (`direction` 0 into the tile, 1 out of it) of one tile, or of
    a rectangle of them."""
    words = {"column": column, "row": row, "direction": direction, "channel": channel}
    _emit("npu_sync", words | {"column_num": column_num, "row_num": row_num}, I32, {})


def npu_push_queue(
    column: int,
    row: int,
    direction: int,
    channel: int,
    issue_token: bool,
    repeat_count: Any,
    bd_id: Any,
) -> None:
    """Give a channel a descriptor by number, `repeat_count` times more than once."""
    numbers = {"column": column, "row": row, "direction": direction, "channel": channel}
    attributes: dict[str, Attribute] = {k: IntegerAttr(int(n), I32) for k, n in numbers.items()}
    attributes["issue_token"] = BoolAttr(bool(issue_token))
    _emit("npu_push_queue", {"repeat_count": repeat_count, "bd_id": bd_id}, I32, attributes)


def npu_address_patch(addr: int, arg_idx: int, arg_plus: Any) -> None:
    """Put the address of the sequence's argument `arg_idx`, and `arg_plus` bytes more, into the
    descriptor whose word lies at `addr`."""
    context = in_sequence("npu_address_patch()")
    attributes: dict[str, Attribute] = {
        "addr": IntegerAttr(addr, _WORD),
        "arg_idx": IntegerAttr(arg_idx, I32),
    }
    operands, lengths = _split({"arg_plus": arg_plus}, I32, attributes)
    context.create("aiex.npu.address_patch", operands, (), attributes, segments=(0, *lengths))


def npu_writebd(**words: int) -> None:
    """Write a whole descriptor of a tile: every word of ``aiex.npu.writebd`` by name. The verifier
    names those that are missing."""
    context = in_sequence("npu_writebd()")
    attributes = {name: IntegerAttr(int(n), I32) for name, n in words.items()}
    context.create("aiex.npu.writebd", (), (), attributes)


def _emit(
    name: str, words: dict[str, Any], type: IntegerType, attributes: dict[str, Attribute]
) -> None:
    context = in_sequence(f"{name}()")
    operands, lengths = _split(words, type, attributes)
    op = f"aiex.{name.replace('npu_', 'npu.')}"
    context.create(op, operands, (), attributes, segments=lengths)


def _split(
    words: dict[str, Any], type: IntegerType, attributes: dict[str, Attribute]
) -> tuple[list[Value], Sequence[int]]:
    """Words that are all known become attributes; as soon as one is not, all are operands."""
    if all(isinstance(word, Number) for word in words.values()):
        for name, word in words.items():
            number = int(word) & 0xFFFFFFFF if type is _WORD else int(word)
            attributes[name] = IntegerAttr(number, type)
        return [], [0] * len(words)
    return [as_value(word, I32, name) for name, word in words.items()], [1] * len(words)
