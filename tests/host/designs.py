"""Small designs as MLIR text, put together from parts."""

from __future__ import annotations

from collections.abc import Sequence

FOREVER = 9223372036854775807


def module(*parts: str, device: str = "npu1_1col", columns: int = 1) -> str:
    """A module with every tile %tC_R of the first columns."""
    tiles = "\n".join(
        f"%t{c}_{row} = aie.tile({c}, {row})" for c in range(columns) for row in range(6)
    )
    body = "\n".join(parts)
    return f"module {{ aie.device({device}) {{\n{tiles}\n{body}\n}} }}\n"


def fifo(
    name: str,
    producer: str,
    consumers: Sequence[str] | str,
    type: str,
    depth: int | Sequence[int] = 2,
    *,
    to: Sequence[tuple[int, int]] = (),
    fro: Sequence[Sequence[tuple[int, int]]] = (),
    attributes: str = "",
    init: str = "",
) -> str:
    consumers = [consumers] if isinstance(consumers, str) else list(consumers)
    per = [*fro, *([()] * (len(consumers) - len(fro)))]
    ends = ", ".join(
        f"%t{c}" + (f" dimensionsFromStream {dims(d)}" if d else "")
        for c, d in zip(consumers, per, strict=True)
    )
    source = f"%t{producer}" + (f" dimensionsToStream {dims(to)}" if to else "")
    many = f"[{', '.join(map(str, depth))}]" if not isinstance(depth, int) else f"{depth} : i32"
    tail = f" {{{attributes}}}" if attributes else ""
    return (
        f"aie.objectfifo @{name}({source}, {{{ends}}}, {many}){tail}"
        f" : !aie.objectfifo<memref<{type}>>{init}"
    )


def dims(pairs: Sequence[tuple[int, int]]) -> str:
    return "[" + ", ".join(f"<size = {n}, stride = {s}>" for n, s in pairs) + "]"


def link(ins: str, outs: str, a: str = "[] []") -> str:
    return f"aie.objectfifo.link [{ins}] -> [{outs}]({a})"


def acquire(name: str, port: str, type: str, count: int = 1, prefix: str = "") -> str:
    """%<prefix><name>0, 1, ... are the objects."""
    view = f"!aie.objectfifosubview<memref<{type}>>"
    lines = [f"%{prefix}{name}v = aie.objectfifo.acquire @{name}({port}, {count}) : {view}"]
    lines += [
        f"%{prefix}{name}{i} = aie.objectfifo.subview.access %{prefix}{name}v[{i}]"
        f" : {view} -> memref<{type}>"
        for i in range(count)
    ]
    return "\n".join(lines)


def release(name: str, port: str, count: int = 1) -> str:
    return f"aie.objectfifo.release @{name}({port}, {count})"


def core(tile: str, body: str, *, times: int = FOREVER, attributes: str = "") -> str:
    tail = f" {{{attributes}}}" if attributes else ""
    return f"""%core{tile} = aie.core(%t{tile}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %times = arith.constant {times} : index
  scf.for %iteration = %c0 to %times step %c1 {{
{body}
  }}
  aie.end
}}{tail}"""


def loop(variable: str, count: int, body: str) -> str:
    return f"""%n{variable} = arith.constant {count} : index
scf.for %{variable} = %c0 to %n{variable} step %c1 {{
{body}
}}"""


def map_core(
    tile: str, source: str, target: str, n: int, code: str, *, element: str = "i32", **more: object
) -> str:
    """A core that makes each object of `target` from one of `source`: %y from %x."""
    type = f"{n}x{element}"
    body = "\n".join(
        [
            acquire(source, "Consume", type),
            acquire(target, "Produce", type),
            loop(
                "i",
                n,
                f"%x = memref.load %{source}0[%i] : memref<{type}>\n{code}\n"
                f"memref.store %y, %{target}0[%i] : memref<{type}>",
            ),
            release(source, "Consume"),
            release(target, "Produce"),
        ]
    )
    return core(tile, body, **more)  # type: ignore[arg-type]


def add(amount: int, element: str = "i32") -> str:
    return f"%k = arith.constant {amount} : {element}\n%y = arith.addi %x, %k : {element}"


def transfer(
    number: int,
    symbol: str,
    argument: int,
    length: int,
    type: str,
    *,
    offset: int = 0,
    layout: Sequence[tuple[int, int]] = (),
    wait: bool = False,
    repeat: int = 0,
) -> str:
    shape = ""
    if layout:
        shape = (
            f" sizes = [{', '.join(str(n) for n, _ in layout)}]"
            f" strides = [{', '.join(str(s) for _, s in layout)}]"
        )
    flags = [f"issue_token = {'true' if wait else 'false'}"]
    if repeat:
        flags.append(f"repeat_count = {repeat} : i32")
    return f"""%task{number} = aiex.dma_configure_task_for @{symbol} {{
  aie.dma_bd(%a{argument} : memref<{type}> offset = {offset} len = {length}{shape})
  aie.end
}} {{{", ".join(flags)}}}
aiex.dma_start_task(%task{number})"""


def sequence(types: Sequence[str], *lines: str, wait: Sequence[int] = (), name: str = "") -> str:
    arguments = ", ".join(
        f"%a{i}: memref<{t}>" if "x" in t else f"%a{i}: {t}" for i, t in enumerate(types)
    )
    waits = [f"aiex.dma_await_task(%task{i})" for i in wait]
    body = "\n".join([*lines, *waits])
    symbol = f" @{name}" if name else ""
    return f"aie.runtime_sequence{symbol}({arguments}) {{\n{body}\n}}"


def in_and_out(source: str, target: str, n: int, m: int | None = None, element: str = "i32") -> str:
    """Argument 0 into one fifo, argument 1 out of another."""
    m = n if m is None else m
    return sequence(
        [f"{n}x{element}", f"{m}x{element}"],
        transfer(0, source, 0, n, f"{n}x{element}"),
        transfer(1, target, 1, m, f"{m}x{element}", wait=True),
        wait=[1],
    )
