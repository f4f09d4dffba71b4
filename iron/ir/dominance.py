"""Which values may be used where: those defined before, on every way that leads there.

Inside a region a value reaches the later operations of its block, the blocks its block dominates,
and the regions inside all of them, up to an isolated operation.
"""

from __future__ import annotations

from collections.abc import Callable

from .core import Block, Operation, OpResult, Region, Value

Complaint = Callable[[Operation, str], None]


def check_visibility(op: Operation, complain: Complaint) -> None:
    """Complain of each operand inside `op` that is not visible where it is used."""
    _Visibility(complain).inside(op)


class _Visibility:
    def __init__(self, complain: Complaint) -> None:
        self.complain = complain
        self.visible: set[Value] = set()

    def inside(self, op: Operation) -> None:
        definition = op.definition
        outer = self.visible
        if definition is not None and definition.is_isolated:
            self.visible = set()
        for region in op.regions:
            self._region(region)
        self.visible = outer

    def _region(self, region: Region) -> None:
        if not region.blocks:
            return
        added: list[Value] = []
        if len(region.blocks) == 1:
            self._block(region.blocks[0], added)
            self.visible.difference_update(added)
            return
        children, unreachable = dominator_tree(region)
        stack: list[tuple[Block, list[Value] | None]] = [(region.blocks[0], None)]
        while stack:
            block, done = stack.pop()
            if done is not None:
                self.visible.difference_update(done)
                continue
            mine: list[Value] = []
            self._block(block, mine)
            stack.append((block, mine))
            stack += [(child, None) for child in reversed(children.get(block, []))]
        if unreachable:
            self._dead(region, unreachable)

    def _dead(self, region: Region, blocks: list[Block]) -> None:
        """What cannot be reached may use everything of its region."""
        for block in region.blocks:
            self.visible.update(block.arguments)
            for op in block.operations:
                self.visible.update(op.results)
        for block in blocks:
            self._block(block, [])
        for block in region.blocks:
            self.visible.difference_update(block.arguments)
            for op in block.operations:
                self.visible.difference_update(op.results)

    def _block(self, block: Block, added: list[Value]) -> None:
        visible = self.visible
        visible.update(block.arguments)
        added += block.arguments
        for op in block.operations:
            for k, value in enumerate(op.operands):
                if value not in visible:
                    self.complain(op, f"{operand_name(op, k)} {_why(op, value)}")
            for target, values in op.successors:
                for value in values:
                    if value not in visible:
                        label = target.label or "a block"
                        self.complain(op, f"a value given to ^{label} {_why(op, value)}")
            if op.regions:
                self.inside(op)
            if op.results:
                visible.update(op.results)
                added += op.results


def operand_name(op: Operation, index: int) -> str:
    """The operand in words: its name where the definition gives one."""
    from .definition import segment_sizes

    definition = op.definition
    if definition is not None:
        try:
            sizes = segment_sizes(op)
        except ValueError:
            return f"operand {index}"
        for part, size in zip(definition.operands, sizes, strict=False):
            if index < size:
                return f"operand '{part.name}'" + (f"[{index}]" if part.arity == "*" else "")
            index -= size
    return f"operand {index}"


def _why(op: Operation, value: Value) -> str:
    if not isinstance(value, OpResult):
        return "is an argument of a block that is not around this operation"
    source = value.owner
    where = f"the result of {source.name} at {source.location}"
    if source is op:
        return "is the operation's own result"
    if source.block is None:
        return f"is {where}, which stands in no block"
    if source.block is op.block:
        return f"is {where}, which comes after this operation"
    return f"is {where}, which does not reach this place"


def dominator_tree(region: Region) -> tuple[dict[Block, list[Block]], list[Block]]:
    """The blocks each block immediately dominates, and those the entry does not reach."""
    order = _reverse_postorder(region.blocks[0])
    position = {block: k for k, block in enumerate(order)}
    before: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for target in _targets(block):
            before[target].append(block)
    above: list[int] = [0] * len(order)
    known = [False] * len(order)
    known[0] = True
    changed = True
    while changed:
        changed = False
        for k in range(1, len(order)):
            new = -1
            for source in before[order[k]]:
                p = position[source]
                if known[p]:
                    new = p if new < 0 else _meet(above, p, new)
            if not known[k] or above[k] != new:
                above[k], known[k], changed = new, True, True
    children: dict[Block, list[Block]] = {}
    for k in range(1, len(order)):
        children.setdefault(order[above[k]], []).append(order[k])
    return children, [b for b in region.blocks if b not in position]


def _meet(above: list[int], a: int, b: int) -> int:
    while a != b:
        while a > b:
            a = above[a]
        while b > a:
            b = above[b]
    return a


def _targets(block: Block) -> list[Block]:
    return [target for op in block.operations for target, _ in op.successors]


def _reverse_postorder(entry: Block) -> list[Block]:
    seen = {entry}
    out: list[Block] = []
    stack = [(entry, iter(_targets(entry)))]
    while stack:
        block, rest = stack[-1]
        for target in rest:
            if target not in seen:
                seen.add(target)
                stack.append((target, iter(_targets(target))))
                break
        else:
            out.append(block)
            stack.pop()
    return out[::-1]
