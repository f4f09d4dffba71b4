"""What bodies do besides computing: memory and its views, functions, ObjectFifos, locks, streams.

Owns one method for each of these operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from iron.ir.core import Operation, Value, defining_op
from iron.ir.types import DYNAMIC, MemRefType

from . import reading as r
from .cpp import local
from .cpp_contract import ContractOps
from .cpp_ops import ctype
from .errors import refuse
from .layout import dense_strides, known, strides


class Body(ContractOps):
    # ---- functions
    def do_func_call(self, op: Operation) -> None:
        name = r.symbol(op, "callee")
        self.called.setdefault(name, op)
        values = [self.value(op, v) for v in op.operands]
        target = self.callee(op, name)
        if target.startswith("f_"):
            values.insert(0, "c")
        call = f"{target}({', '.join(values)})"
        if len(op.results) > 1:
            raise refuse(op, "a function with several results cannot be called")
        handed = self.checked and target.startswith("k_")
        for v in op.operands if handed else ():
            if isinstance(v.type, MemRefType) and DYNAMIC not in v.type.shape:
                size = r.size_in_bytes(op, v.type)
                self.write(f"iron::hand(c, {self.value(op, v)}, {size}, {self.site(op)});")
        if op.results:
            self.let(op, op.results[0], call)
        else:
            self.write(call + ";")
        if handed:
            self.write("iron::returned();")

    def callee(self, op: Operation, name: str) -> str:
        return f"k_{name}"

    def do_func_return(self, op: Operation) -> None:
        values = [self.value(op, v) for v in op.operands]
        self.write(f"return {values[0]};" if values else "return;")

    # ---- memory
    def element(self, op: Operation, base: Value, indices: Sequence[Value]) -> str:
        return self.at(op, base, [self.value(op, i) for i in indices])

    def do_memref_load(self, op: Operation) -> None:
        place = self.element(op, op.operands[0], op.operands[1:])
        self.touch(op, place, 1, writes=False)
        self.let(op, op.results[0], place)

    def do_memref_store(self, op: Operation) -> None:
        value, base, *indices = op.operands
        place = self.element(op, base, indices)
        self.touch(op, place, 1, writes=True)
        self.write(f"{place} = {self.value(op, value)};")

    def alias(self, op: Operation) -> None:
        self.let(op, op.results[0], self.value(op, op.operands[0]))

    do_memref_collapse_shape = alias
    do_memref_expand_shape = alias
    do_memref_memory_space_cast = alias

    def do_memref_assume_alignment(self, op: Operation) -> None:
        if op.results:
            self.alias(op)

    def do_memref_cast(self, op: Operation) -> None:
        self.alias(op)
        if not known(r.memref(op, op.results[0].type)):
            self.view_steps[id(op.results[0])] = self.steps(op, op.operands[0])

    def do_memref_subview(self, op: Operation) -> None:
        source = r.required(op, "source")
        steps = self.steps(op, source)
        self.view(op, steps)
        if known(r.memref(op, op.results[0].type)):
            return
        own = [self.number_text(op, n) for n in r.mixed(op, "strides", "static_strides")]
        sizes = r.mixed(op, "sizes", "static_sizes")
        made = [a if b == "1" else f"({a}) * ({b})" for a, b in zip(steps, own, strict=True)]
        extra = len(made) - len(r.memref(op, op.results[0].type).shape)
        ones = [i for i, n in enumerate(sizes) if n == 1]
        if extra and len(ones) != extra:
            raise refuse(op, "which dimensions of size 1 the view leaves out is not known")
        kept = [m for i, m in enumerate(made) if not extra or i not in ones]
        self.view_steps[id(op.results[0])] = kept

    def do_memref_reinterpret_cast(self, op: Operation) -> None:
        self.view(op, ["1"])
        if not known(r.memref(op, op.results[0].type)):
            made = [self.number_text(op, n) for n in r.mixed(op, "strides", "static_strides")]
            self.view_steps[id(op.results[0])] = made

    def number_text(self, op: Operation, n: int | Value) -> str:
        return str(n) if isinstance(n, int) else self.value(op, n)

    def view(self, op: Operation, steps: Sequence[str]) -> None:
        terms = []
        for offset, step in zip(r.mixed(op, "offsets", "static_offsets"), steps, strict=True):
            text = self.number_text(op, offset)
            if text != "0":
                terms.append(text if step == "1" else f"{text} * ({step})")
        base = self.value(op, r.required(op, "source"))
        self.let(op, op.results[0], " + ".join([base, *terms]))

    def do_memref_alloca(self, op: Operation) -> None:
        type = r.memref(op, op.results[0].type)
        if id(op.results[0]) in self.hoisted or op.operands:
            raise refuse(op, "memory on the stack must have a fixed size and stay in its block")
        name = self.names[id(op.results[0])] = self.fresh()
        self.write(f"{ctype(op, type.element)} {name}[{max(1, type.size)}];")

    do_memref_alloc = do_memref_alloca

    def do_memref_copy(self, op: Operation) -> None:
        source, target = op.operands
        type = r.memref(op, source.type)
        dense = dense_strides(type.shape)
        if strides(op, type) != dense or strides(op, r.memref(op, target.type)) != dense:
            raise refuse(op, "only contiguous memory can be copied")
        nbytes = r.size_in_bytes(op, type)
        self.write(f"std::memmove({self.value(op, target)}, {self.value(op, source)}, {nbytes});")

    def do_memref_get_global(self, op: Operation) -> None:
        name = r.symbol(op, "name")
        self.called.setdefault(f"global {name}", op)
        self.let(op, op.results[0], f"g_{name}")

    # ---- cores
    def core(self, op: Operation) -> list[str]:
        """The lines of a core's body."""
        lock = self.s.parameter_locks.get(self.tile.key) if self.tile else None
        if lock is not None:
            self.write(f"iron::acquire_equal(c, {self.lock(lock)}, 1, {self.site(op)});")
        return self.text(op.region)

    def do_aiex_read_scratchpad_parameter(self, op: Operation) -> None:
        key = (r.symbol(op, "parameter"), self.tile.key if self.tile else "")
        cell = self.s.parameters.get(key)
        if cell is None:
            raise refuse(op, "only a core can read a scratchpad parameter")
        type = ctype(op, op.results[0].type)
        self.let(op, op.results[0], f"{self.buffer(op, cell, f'{type} *')}[0]")

    def end(self, op: Operation, port: int) -> int:
        """The side of the ObjectFifo an acquire or release speaks of."""
        fifo = r.symbol(op, "objFifo_name")
        word = "produce" if port == 0 else "consume"
        key = (fifo, word, self.tile.key if self.tile else "")
        found = self.s.ends.get(key)
        if found is None:
            sides = [f"{p} on {t}" for f, p, t in self.s.ends if f == fifo]
            raise refuse(
                op,
                f"a core on tile {key[2]} cannot {word} objects of fifo '{fifo}'"
                + (f"; it has: {', '.join(sides)}" if sides else ""),
            )
        return local(self.uses.ends, found)

    def do_aie_objectfifo_acquire(self, op: Operation) -> None:
        end = self.end(op, r.integer(op, "port"))
        call = f"iron::acquire(c, {end}, {r.integer(op, 'size')}, {self.site(op)})"
        result = op.results[0]
        if id(result) in self.hoisted:
            self.write(f"{self.names[id(result)]} = {call};")
            return
        name = self.names[id(result)] = self.fresh("first")
        self.write(f"int64_t {name} = {call};")

    def do_aie_objectfifo_subview_access(self, op: Operation) -> None:
        subview = r.required(op, "subview")
        acquire = defining_op(subview)
        if acquire is None or acquire.name != "aie.objectfifo.acquire":
            raise refuse(op, "its subview is not the result of an acquire")
        index = r.integer(op, "index")
        if index >= r.integer(acquire, "size"):
            raise refuse(op, f"object {index} is none of the {r.integer(acquire, 'size')} acquired")
        end = self.end(acquire, r.integer(acquire, "port"))
        element = ctype(op, r.memref(op, op.results[0].type).element)
        self.let(
            op,
            op.results[0],
            f"iron::object<{element}>(c, {end}, {self.value(op, subview)}, {index})",
        )

    def do_aie_objectfifo_release(self, op: Operation) -> None:
        end = self.end(op, r.integer(op, "port"))
        self.write(f"iron::release(c, {end}, {r.integer(op, 'size')}, {self.site(op)});")

    def do_aie_use_lock(self, op: Operation) -> None:
        lock = self.lock(self.s.lock(op, r.single(op, "lock")))
        amount = r.number_or_value(op, "value", "value")
        if amount is None:
            raise refuse(op, "has no value")
        text = str(amount) if isinstance(amount, int) else self.value(op, amount)
        action = r.integer(op, "action")
        if action == 1:
            self.write(f"iron::release_lock(c, {lock}, {text});")
        else:
            word = "acquire_equal" if action == 0 else "acquire_at_least"
            self.write(f"iron::{word}(c, {lock}, {text}, {self.site(op)});")

    def do_aie_put_stream(self, op: Operation) -> None:
        channel, value = op.operands
        type = ctype(op, value.type)
        name = self.fresh("word")
        self.write(f"{type} {name} = {self.value(op, value)};")
        self.write(f"c.site = {self.site(op)};")
        self.write(f"iron_api->stream_put({self.value(op, channel)}, &{name}, sizeof {name}, 0);")

    def do_aie_get_stream(self, op: Operation) -> None:
        type = ctype(op, op.results[0].type)
        name = self.fresh("word")
        self.write(f"{type} {name};")
        self.write(f"c.site = {self.site(op)};")
        channel = self.value(op, op.operands[0])
        self.write(f"iron_api->stream_get({channel}, &{name}, sizeof {name});")
        self.let(op, op.results[0], name)
