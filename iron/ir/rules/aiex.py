"""Runtime sequences: tasks, transfers, register writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..attributes import DenseArrayAttr, SymbolRefAttr
from ..core import Operation, defining_op
from ..devices import device_of
from ..directives.common import DYNAMIC_INDEX
from ..types import ShapedType, bit_width
from .aie import tiles
from .dma import CHANNELS, packet_fits
from .places import Rule, around, constant, number, place_of

if TYPE_CHECKING:
    from ..verifier import Check

_SEQUENCES = ("aie.runtime_sequence", "aiex.runtime_sequence")
_TASKS = (
    *("aiex.dma_configure_task", "aiex.dma_configure_task_for"),
    *("aiex.dma_start_bd_chain", "aiex.dma_start_bd_chain_for"),
)


def _in_sequence(op: Operation, check: Check) -> None:
    if around(op, *_SEQUENCES) is None:
        check.fault(op, "stands outside of a runtime sequence")


def _task(op: Operation, check: Check) -> None:
    source = defining_op(op.operands[0])
    if source is not None and source.name.startswith("aie") and source.name not in _TASKS:
        check.fault(
            op,
            f"operand 'task' is {source.name} at {source.location}, a configured task is expected",
        )


def _task_body(op: Operation, check: Check) -> None:
    allowed = ("aie.end", "aie.next_bd")
    for block in op.regions[0].blocks:
        last = block.terminator
        if last is not None and last.name not in allowed:
            check.fault(last, f"ends a block of {op.name}, {' or '.join(allowed)} is expected")


def _channel(op: Operation, check: Check) -> None:
    place = place_of(op.operand("tile"))
    direction, channel = number(op, "direction"), number(op, "channel")
    if place is None or direction not in (0, 1) or channel is None:
        return
    most = CHANNELS[place.kind][direction]
    if not 0 <= channel < most:
        check.fault(
            op,
            f"attribute 'channel' is {channel}, tile {place} has {most} channels of that direction",
        )


def _set_lock(op: Operation, check: Check) -> None:
    lock = defining_op(op.operands[0])
    if lock is None or lock.name != "aie.lock":
        found = lock.name if lock is not None else "a block argument"
        check.fault(op, f"operand 'lock' is {found}, aie.lock is expected")
        return
    device, value = device_of(op), number(op, "value")
    if device is not None and device.generation == 1:
        check.fault(op, f"cannot be done on {device.name}")
    if value is not None and not 0 <= value <= 63:
        check.fault(op, f"attribute 'value' is {value}, a lock holds 0 to 63")


def _transfer(op: Operation, check: Check) -> None:
    before = len(check.faults)
    for name in ("offsets", "sizes", "strides"):
        static = op.attributes[f"static_{name}"]
        assert isinstance(static, DenseArrayAttr)
        if len(static.values) != 4:
            check.fault(op, f"has {len(static.values)} {name}, 4 are expected")
            continue
        dynamic = sum(1 for v in static.values if v == DYNAMIC_INDEX)
        given = len(op.group(name))
        if dynamic != given:
            check.fault(op, f"'static_{name}' leaves {dynamic} open, {given} values are given")
        least = {"sizes": 1}.get(name, 0)
        known = _known(op, name) if dynamic == given else []
        if any(v < least for v in known if v != DYNAMIC_INDEX):
            check.fault(op, f"{name} are {known}, at least {least} is expected")
    packet_fits(op, check)
    if len(check.faults) == before:
        _granules(op, check)


def _granules(op: Operation, check: Check) -> None:
    """Transfers go in words of 4 bytes: known sizes, strides and offsets must be whole words."""
    device, type = device_of(op), op.operands[0].type
    if device is None or device.generation == 1 or not isinstance(type, ShapedType):
        return
    try:
        bits = bit_width(type.element)
    except ValueError:
        return
    sizes, strides = _known(op, "sizes"), _known(op, "strides")
    if sizes and sizes[-1] != DYNAMIC_INDEX and sizes[-1] * bits % 32:
        check.fault(
            op,
            f"innermost size is {sizes[-1]} elements of {type.element}, a multiple "
            "of 4 bytes is expected",
        )
    for k, (size, stride) in enumerate(zip(sizes, strides, strict=False)):
        last = k == len(sizes) - 1
        if DYNAMIC_INDEX in (size, stride) or size == 1 or (last and stride == 1):
            continue
        if stride * bits % 32:
            check.fault(
                op,
                f"stride {stride} of dimension {k} is no multiple of 4 bytes in "
                f"elements of {type.element}",
            )


def _known(op: Operation, name: str) -> list[int]:
    """A list of indices with constants put in; `DYNAMIC_INDEX` where it is not known."""
    static = op.attributes[f"static_{name}"]
    values = iter(op.group(name))
    out: list[int] = []
    for v in static.values if isinstance(static, DenseArrayAttr) else ():
        found = constant(next(values)) if v == DYNAMIC_INDEX else int(v)
        out.append(DYNAMIC_INDEX if found is None else found)
    return out


def _written(*names: str) -> Rule:
    """Each word as an operand, or each as an attribute."""

    def rule(op: Operation, check: Check) -> None:
        missing = [n for n in names if not op.group(n) and n not in op.attributes]
        if missing:
            check.fault(op, f"{', '.join(missing)}: a value or a number is expected")

    return rule


def _configure(op: Operation, check: Check) -> None:
    name = op.attributes["symbol"]
    assert isinstance(name, SymbolRefAttr)
    found, ours = check.symbols.resolve(op, name.path), device_of(op)
    theirs = device_of(found) if found is not None else None
    if found is not None and ours is not None and theirs is not None and ours != theirs:
        check.fault(
            op, f"configures {name} at {found.location} for {theirs.name} from a device {ours.name}"
        )


def _run(op: Operation, check: Check) -> None:
    configure = around(op, "aiex.configure")
    name = op.attributes["runtime_sequence_symbol"]
    device = configure.attributes.get("symbol") if configure is not None else None
    if configure is None or not isinstance(device, SymbolRefAttr):
        return
    assert isinstance(name, SymbolRefAttr)
    found = check.symbols.resolve(configure, (*device.path, *name.path))
    if found is None or found.name not in _SEQUENCES:
        check.fault(
            op,
            f"attribute 'runtime_sequence_symbol' refers to {name}, which is no "
            f"runtime sequence of {device}",
        )
        return
    wanted = [a.type for a in found.regions[0].entry.arguments]
    given = [v.type for v in op.operands]
    if wanted != given:
        check.fault(
            op,
            f"gives ({', '.join(map(str, given))}) to {name} at {found.location}, "
            f"which takes ({', '.join(map(str, wanted))})",
        )


def _in_core(op: Operation, check: Check) -> None:
    if around(op, "aie.core", "func.func") is None:
        check.fault(op, "stands outside of a core")


_SYNC = ("column", "row", "direction", "channel", "column_num", "row_num")

RULES: dict[str, tuple[Rule, ...]] = {
    "aiex.dma_configure_task": (_in_sequence, tiles, _channel, _task_body),
    "aiex.dma_configure_task_for": (_in_sequence, _task_body),
    "aiex.dma_start_bd_chain": (tiles, _channel),
    **{f"aiex.dma_{verb}_task": (_in_sequence, _task) for verb in ("start", "await", "free")},
    "aiex.set_lock": (_set_lock,),
    "aiex.dma_channel_reset": (tiles, _channel),
    "aiex.core_reset": (tiles,),
    "aiex.npu.dma_memcpy_nd": (_transfer,),
    "aiex.npu.rtp_write": (_written("value"),),
    "aiex.npu.write32": (_written("address", "value"),),
    "aiex.npu.maskwrite32": (_written("address", "value", "mask"),),
    "aiex.npu.sync": (_written(*_SYNC),),
    "aiex.npu.push_queue": (_written("bd_id", "repeat_count"),),
    "aiex.npu.address_patch": (_written("arg_plus"),),
    "aiex.configure": (_configure,),
    "aiex.run": (_run,),
    "aiex.read_scratchpad_parameter": (_in_core,),
}
