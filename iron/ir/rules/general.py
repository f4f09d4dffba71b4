"""Functions, structured control flow and branches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..attributes import SymbolRefAttr, TypeAttr
from ..core import Block, Operation, Value
from ..types import FunctionType, Type

if TYPE_CHECKING:
    from ..verifier import Check


def _types(values: Sequence[Value]) -> str:
    return "(" + ", ".join(str(v.type) for v in values) + ")"


def _fits(values: Sequence[Value], types: Sequence[Type]) -> bool:
    return [v.type for v in values] == list(types)


def signature(function: Operation) -> FunctionType | None:
    """The type of a func.func."""
    attribute = function.attributes.get("function_type")
    if isinstance(attribute, TypeAttr) and isinstance(attribute.type, FunctionType):
        return attribute.type
    return None


def _func(op: Operation, check: Check) -> None:
    type = signature(op)
    if type is None:
        check.fault(
            op,
            f"attribute 'function_type' is {op.attributes['function_type']}, "
            "a function type is expected",
        )
        return
    if not op.regions or not op.regions[0].blocks:
        visibility = op.attributes.get("sym_visibility")
        if str(visibility) != '"private"':
            check.fault(op, f"@{op.symbol} has no body: a declaration must be private")
        return
    arguments = op.regions[0].entry.arguments
    if not _fits(arguments, type.inputs):
        check.fault(op, f"the body of @{op.symbol} takes {_types(arguments)}, its type is {type}")


def _call(op: Operation, check: Check) -> None:
    callee = op.attributes["callee"]
    assert isinstance(callee, SymbolRefAttr)
    function = check.symbols.resolve(op, callee.path)
    type = signature(function) if function is not None else None
    if function is None or type is None:
        return
    if not _fits(op.operands, type.inputs) or not _fits(op.results, type.results):
        check.fault(
            op,
            f"calls {callee} with {_types(op.operands)} -> {_types(op.results)}, "
            f"{function.name} at {function.location} is {type}",
        )


def _return(op: Operation, check: Check) -> None:
    function = op.parent
    type = signature(function) if function is not None else None
    if function is not None and type is not None and not _fits(op.operands, type.results):
        check.fault(
            op,
            f"returns {_types(op.operands)}, @{function.symbol} at {function.location} is {type}",
        )


def _last(block: Block, name: str) -> Operation | None:
    last = block.terminator
    return last if last is not None and last.name == name else None


def _yields(op: Operation, block: Block, check: Check, wanted: Sequence[Value]) -> None:
    """The block must end by yielding values like `wanted`."""
    last = _last(block, "scf.yield")
    given = last.operands if last is not None else []
    if last is None and block.terminator is not None and block.terminator.definition is None:
        return
    if [v.type for v in given] != [v.type for v in wanted]:
        check.fault(last or op, f"yields {_types(given)}, {op.name} has results {_types(wanted)}")


def _for(op: Operation, check: Check) -> None:
    start = op.operands[:3]
    initial = op.operands[3:]
    arguments = op.regions[0].entry.arguments
    if len(op.regions[0].blocks) != 1:
        check.fault(op, f"has {len(op.regions[0].blocks)} blocks, one is expected")
        return
    if not arguments or arguments[0].type != start[0].type:
        check.fault(
            op,
            f"the loop's body takes {_types(arguments)}, its variable is of type {start[0].type}",
        )
        return
    if not _fits(arguments[1:], [v.type for v in initial]):
        check.fault(
            op,
            f"the loop's body takes {_types(arguments[1:])} besides its variable, "
            f"'initArgs' are {_types(initial)}",
        )
    if not _fits(op.results, [v.type for v in initial]):
        check.fault(op, f"has results {_types(op.results)}, 'initArgs' are {_types(initial)}")
        return
    _yields(op, op.regions[0].entry, check, op.results)


def _if(op: Operation, check: Check) -> None:
    otherwise = op.regions[1] if len(op.regions) > 1 and op.regions[1].blocks else None
    if op.results and otherwise is None:
        check.fault(op, f"has results {_types(op.results)} but no else region")
    for region in op.regions:
        if region.blocks:
            _yields(op, region.entry, check, op.results)


def _while(op: Operation, check: Check) -> None:
    before, after = op.regions[0].entry, op.regions[1].entry
    if not _fits(before.arguments, [v.type for v in op.operands]):
        check.fault(
            op, f"its condition takes {_types(before.arguments)}, 'inits' are {_types(op.operands)}"
        )
    condition = _last(before, "scf.condition")
    if condition is None:
        check.fault(op, "region 'before' must end in scf.condition")
        return
    given = condition.operands[1:]
    if not _fits(given, [v.type for v in op.results]):
        check.fault(
            condition, f"passes on {_types(given)}, scf.while has results {_types(op.results)}"
        )
    if not _fits(after.arguments, [v.type for v in given]):
        check.fault(
            op, f"its body takes {_types(after.arguments)}, the condition passes on {_types(given)}"
        )
    last = _last(after, "scf.yield")
    if last is None or not _fits(last.operands, [v.type for v in op.operands]):
        shown = _types(last.operands) if last is not None else "nothing"
        check.fault(last or op, f"yields {shown}, 'inits' are {_types(op.operands)}")


def _switch(op: Operation, check: Check) -> None:
    for region in op.regions:
        if region.blocks:
            _yields(op, region.entry, check, op.results)


def _branch(op: Operation, check: Check) -> None:
    for target, values in op.successors:
        region = op.block.region if op.block is not None else None
        label = f"^{target.label}" if target.label else "a block"
        if target.region is not region:
            check.fault(op, f"branches to {label} of another region")
        elif not _fits(values, [a.type for a in target.arguments]):
            check.fault(
                op, f"gives {_types(values)} to {label}, which takes {_types(target.arguments)}"
            )


RULES = {
    "func.func": (_func,),
    "func.call": (_call,),
    "func.return": (_return,),
    "scf.for": (_for,),
    "scf.if": (_if,),
    "scf.while": (_while,),
    "scf.index_switch": (_switch,),
    "cf.br": (_branch,),
    "cf.cond_br": (_branch,),
}
