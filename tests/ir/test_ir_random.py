"""Random modules and random attributes survive print and parse, in both forms."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iron import ir
from iron.ir import (
    F32,
    I1,
    I8,
    I32,
    I64,
    INDEX,
    ArrayAttr,
    Attribute,
    Block,
    BoolAttr,
    Builder,
    DenseArrayAttr,
    DenseElementsAttr,
    DictAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    OpaqueAttr,
    Operation,
    Region,
    StringAttr,
    StructAttr,
    SymbolRefAttr,
    TypeAttr,
    Value,
)

QUIET = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30)

# attributes

names = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x24F), min_size=1, max_size=6
).filter(lambda s: s.strip() == s)
words = st.from_regex(r"[a-z_][a-z0-9_$.]{0,5}", fullmatch=True)
scalars = st.sampled_from([I1, I8, I32, I64, INDEX, F32, ir.F64, ir.BF16, ir.F16])
types = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(
            MemRefType, st.lists(st.sampled_from([-1, 1, 3, 16]), max_size=3).map(tuple), scalars
        ),
        st.builds(
            ir.VectorType, st.lists(st.integers(1, 9), min_size=1, max_size=2).map(tuple), scalars
        ),
        st.builds(
            ir.FunctionType,
            st.lists(inner, max_size=2).map(tuple),
            st.lists(inner, max_size=2).map(tuple),
        ),
        st.builds(ir.ObjectFifoType, st.builds(MemRefType, st.just((4,)), scalars)),
    ),
    max_leaves=4,
)
integers = st.integers(-(2**31), 2**31 - 1)
f32s = st.floats(width=32)
leaves: st.SearchStrategy[Attribute] = st.one_of(
    st.builds(IntegerAttr, integers, st.sampled_from([I32, I64, I8, INDEX])),
    st.builds(FloatAttr, f32s, st.just(F32)),
    st.builds(FloatAttr, st.floats(), st.just(ir.F64)),
    st.builds(StringAttr, st.text(max_size=8)),
    st.builds(BoolAttr, st.booleans()),
    st.builds(TypeAttr, types),
    st.builds(SymbolRefAttr, st.lists(names, min_size=1, max_size=3).map(tuple)),
    st.builds(DenseArrayAttr, st.just(I32), st.lists(integers, max_size=4).map(tuple)),
    st.builds(
        DenseElementsAttr,
        st.lists(integers, min_size=6, max_size=6).map(tuple),
        st.just(ir.TensorType((2, 3), I32)),
    ),
    st.builds(DenseElementsAttr, st.tuples(f32s), st.just(ir.VectorType((4,), F32))),
    st.builds(
        lambda a, b: StructAttr("aie.bd_dim_layout", (("size", a), ("stride", b))),
        st.integers(0, 99),
        st.integers(0, 99),
    ),
    st.just(OpaqueAttr("affine_map<(d0) -> (d0 mod 4)>")),
    st.just(ir.UNIT),
)
attributes = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(ArrayAttr, st.lists(inner, max_size=3).map(tuple)),
        st.builds(
            DictAttr, st.dictionaries(words, inner, max_size=3).map(lambda d: tuple(d.items()))
        ),
    ),
    max_leaves=6,
)


@QUIET
@given(st.dictionaries(st.one_of(words, names), attributes, max_size=4))
def test_attributes_read_back(values: dict[str, Attribute]) -> None:
    values.pop("operandSegmentSizes", None)
    values.pop("resultSegmentSizes", None)
    op = Operation("test.op", [], [], values)
    again = ir.parse(ir.print_module(op)).body.operations[0]
    assert {k: str(v) for k, v in again.attributes.items()} == {
        k: str(v) for k, v in values.items()
    }
    assert ir.equivalent(op, again)


# modules


class Author:
    """Writes a random but right module; `draw` takes the next decision."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.builder = Builder(location=ir.Location("author.py", 1, 1))
        self.wishes = st.sampled_from([None, None, "x", "x_0", "arg0", "c0", "7", "a b"])

    def choose(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def keep(self, op: Operation, pool: list[Value]) -> None:
        for result in op.results:
            result.name = self.draw(self.wishes)
        pool += op.results

    def pick(self, pool: list[Value], type: ir.Type) -> Value:
        fitting = [v for v in pool if v.type == type]
        if not fitting:
            value: Attribute = IntegerAttr(self.choose(0, 1), type)
            if type == F32:
                value = FloatAttr(self.draw(st.floats(width=32)), F32)
            self.keep(self.builder.create("arith.constant", [], [type], {"value": value}), pool)
            return pool[-1]
        return self.draw(st.sampled_from(fitting))

    def body(self, block: Block, pool: list[Value], depth: int) -> None:
        pool = list(pool)
        with self.builder.at(block):
            for _ in range(self.choose(0, 4)):
                step = self.draw(st.sampled_from(STEPS if depth else STEPS[:4]))
                step(self, pool, depth)

    def number(self, pool: list[Value], depth: int) -> None:
        type = self.draw(st.sampled_from([I32, INDEX, I64]))
        name = self.draw(st.sampled_from(["addi", "muli", "subi", "maxsi"]))
        left, right = self.pick(pool, type), self.pick(pool, type)
        self.keep(self.builder.create(f"arith.{name}", [left, right], [type]), pool)

    def compare(self, pool: list[Value], depth: int) -> None:
        left, right = self.pick(pool, F32), self.pick(pool, F32)
        predicate = {"predicate": IntegerAttr(self.choose(0, 15), I64)}
        self.keep(self.builder.create("arith.cmpf", [left, right], [I1], predicate), pool)

    def memory(self, pool: list[Value], depth: int) -> None:
        space = IntegerAttr(1, I32) if self.choose(0, 1) else None
        type = MemRefType((4, 8), F32, space=space)
        self.keep(self.builder.create("memref.alloc", [], [type]), pool)
        memory = self.pick(pool, type)
        indices = [self.pick(pool, INDEX), self.pick(pool, INDEX)]
        self.keep(self.builder.create("memref.load", [memory, *indices], [F32]), pool)
        self.builder.create("memref.store", [self.pick(pool, F32), memory, *indices])

    def unknown(self, pool: list[Value], depth: int) -> None:
        extra = {"note": self.draw(attributes)}
        operands = [self.pick(pool, I32)]
        self.keep(self.builder.create("test.unknown", operands, [I32, F32], extra), pool)

    def loop(self, pool: list[Value], depth: int) -> None:
        low, high, step = (self.pick(pool, INDEX) for _ in range(3))
        carried = [self.pick(pool, F32) for _ in range(self.choose(0, 2))]
        kinds = [v.type for v in carried]
        region = Region([Block([INDEX, *kinds])])
        inside = [*pool, *region.entry.arguments]
        self.body(region.entry, inside, depth - 1)
        with self.builder.at(region.entry):
            self.builder.create("scf.yield", region.entry.arguments[1:])
        operands = [low, high, step, *carried]
        self.keep(self.builder.create("scf.for", operands, kinds, {}, [region]), pool)

    def branch(self, pool: list[Value], depth: int) -> None:
        condition = self.pick(pool, I1)
        kinds = [I32] * self.choose(0, 2)
        regions = []
        for _ in range(2):
            region = Region([Block()])
            self.body(region.entry, pool, depth - 1)
            with self.builder.at(region.entry):
                values = [self.pick(list(pool), k) for k in kinds]
                self.builder.create("scf.yield", values)
            regions.append(region)
        if not kinds and self.choose(0, 1):
            regions[1] = Region()
        self.keep(self.builder.create("scf.if", [condition], kinds, {}, regions), pool)

    def function(self, index: int) -> None:
        blocks = [Block([I32, INDEX, I1])]
        blocks += [Block([I32] * self.choose(0, 2), f"b{k}") for k in range(self.choose(0, 4))]
        region = Region(blocks)
        for block in blocks:
            pool: list[Value] = [*blocks[0].arguments, *block.arguments]
            self.body(block, pool, 2)
            with self.builder.at(block):
                self.leave(blocks, pool)
        kind = ir.FunctionType((I32, INDEX, I1), ())
        described = {"sym_name": StringAttr(f"f{index}"), "function_type": TypeAttr(kind)}
        self.builder.create("func.func", [], [], described, [region])

    def leave(self, blocks: list[Block], pool: list[Value]) -> None:
        count = self.choose(0, 2) if len(blocks) > 1 else 0
        targets = [self.draw(st.sampled_from(blocks[1:])) for _ in range(count)]
        given = [(t, [self.pick(pool, I32) for _ in t.arguments]) for t in targets]
        if count == 2:
            condition = self.pick(pool, I1)
            self.builder.create("cf.cond_br", [condition], successors=given)
        elif count == 1:
            self.builder.create("cf.br", successors=given)
        else:
            self.builder.create("func.return")

    def device(self) -> None:
        region = Region([Block()])
        device = {"device": IntegerAttr(8, I32)}
        self.builder.create("aie.device", [], [], device, [region])
        with self.builder.at(region.entry):
            tiles = []
            for row in (0, 1, 2, 3):
                place = {"col": IntegerAttr(0, I32), "row": IntegerAttr(row, I32)}
                tiles.append(self.builder.create("aie.tile", [], [INDEX], place).result)
            for k in range(self.choose(0, 3)):
                self.fifo(f"of{k}", tiles)
            for tile in tiles[2:]:
                if self.choose(0, 1):
                    self.core(tile)

    def fifo(self, name: str, tiles: list[Value]) -> None:
        ends = self.draw(st.lists(st.sampled_from(tiles[1:]), min_size=1, max_size=3, unique=True))
        depth: Attribute = IntegerAttr(self.choose(1, 4), I32)
        if self.choose(0, 1):
            depth = ArrayAttr((depth,) * (len(ends) + 1))
        layout = StructAttr("aie.bd_dim_layout", (("size", 4), ("stride", self.choose(1, 2))))
        shapes = [ArrayAttr((layout,) * self.choose(0, 2)) for _ in ends]
        described: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "elemNumber": depth,
            "elemType": TypeAttr(ir.ObjectFifoType(MemRefType((8,), I32))),
            "dimensionsToStream": ArrayAttr(()),
            "dimensionsFromStreamPerConsumer": ArrayAttr(tuple(shapes)),
        }
        if self.choose(0, 1):
            described["via_DMA"] = BoolAttr(True)
        self.builder.create("aie.objectfifo", [tiles[0], *ends], [], described)

    def core(self, tile: Value) -> None:
        region = Region([Block()])
        self.body(region.entry, [], 2)
        with self.builder.at(region.entry):
            self.builder.create("aie.end")
        self.builder.create("aie.core", [tile], [INDEX], {}, [region])


STEPS = (Author.number, Author.compare, Author.memory, Author.unknown, Author.loop, Author.branch)


@st.composite
def modules(draw: st.DrawFn) -> Operation:
    author = Author(draw)
    module = ir.module()
    with author.builder.at(module.body):
        for k in range(author.choose(0, 2)):
            author.function(k)
        if author.choose(0, 1):
            author.device()
    return module


@QUIET
@given(modules())
def test_random_modules_verify_and_read_back(module: Operation) -> None:
    ir.verify(module)
    text = ir.print_module(module)
    again = ir.parse(text)
    assert ir.equivalent(module, again)
    assert ir.print_module(again) == text
    generic = ir.parse(ir.print_module(module, generic=True))
    assert ir.equivalent(module, generic)
    assert ir.print_module(generic) == text
    ir.verify(again)


@QUIET
@given(modules(), st.data())
def test_a_change_is_seen(module: Operation, data: st.DataObject) -> None:
    again = ir.parse(ir.print_module(module))
    ops = [op for op in again.walk() if op.name != "builtin.module"]
    if not ops:
        return
    op = data.draw(st.sampled_from(ops))
    changes = ["attribute"]
    if len(op.operands) > 1 and op.operands[0] is not op.operands[1]:
        changes.append("operands")
    if op.name not in ("aie.end", "scf.yield") and not op.results and not op.successors:
        changes.append("removal")
    change = data.draw(st.sampled_from(changes))
    if change == "attribute":
        op.attributes["changed"] = ir.UNIT
    elif change == "operands":
        op.operands[0], op.operands[1] = op.operands[1], op.operands[0]
    else:
        op.detach()
    assert not ir.equivalent(module, again)
    assert not ir.equivalent(again, module)
