"""Random ObjectFifo graphs against a model in NumPy.

Most graphs have no core: data goes from tile to tile through links, so that only the network
changes from case to case and nothing is compiled. Cores come with a few fixed bodies.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field

import numpy as np
import pytest
from designs import acquire, core, fifo, in_and_out, link, loop, module, release, sequence, transfer
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

COUNTS = (120, 240, 600)  # elements that go in
SIZES = (12, 24, 40, 60, 120)  # of objects; all divide the counts
ASKED = os.environ.get("IRON_RANDOM_EXAMPLES")  # how many of each; the same few otherwise

quick = settings(
    max_examples=int(ASKED or 40),
    deadline=None,
    derandomize=ASKED is None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
few = settings(quick, max_examples=int(ASKED or 10))  # where each takes long


def layouts(n: int) -> st.SearchStrategy[tuple[tuple[int, int], ...]]:
    """Ways to walk over n elements: a permuted row-major array, or none."""
    pairs = [(a, n // a) for a in range(2, n) if n % a == 0]
    two = st.sampled_from(pairs).map(lambda p: ((p[1], 1), (p[0], p[1])))
    triples = [(a, b, n // a // b) for a, _ in pairs for b in range(2, n) if n // a % b == 0]

    def permuted(t: tuple[int, int, int], order: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        strides = (t[1] * t[2], t[2], 1)
        return tuple((t[k], strides[k]) for k in order)

    three = st.builds(permuted, st.sampled_from(triples), st.permutations((0, 1, 2)).map(tuple))
    # The outermost of three once more apart, then walked in the order it had.
    split = [(a // 2, 2, b, c) for a, b, c in triples if a % 2 == 0 and a > 2]

    def halved(t: tuple[int, int, int, int]) -> tuple[tuple[int, int], ...]:
        _, _, b, c = t
        return ((t[0], 2 * b * c), (c, 1), (2, b * c), (b, c))

    four = [st.sampled_from(split).map(halved)] if split else []
    return st.one_of(st.just(()), two, three, *four)


def walk(layout: tuple[tuple[int, int], ...], n: int) -> np.ndarray:
    """Addresses in the order of the stream."""
    if not layout:
        return np.arange(n)
    addresses = np.zeros(1, int)
    for size, stride in layout:
        addresses = (addresses[:, None] + np.arange(size) * stride).reshape(-1)
    return addresses


@dataclass
class Graph:
    """Text and model grow together, tile by tile."""

    draw: st.DrawFn
    data: np.ndarray
    parts: list[str] = field(default_factory=list)
    tiles: list[str] = field(default_factory=lambda: [f"{c}_1" for c in range(8)])
    cores: list[str] = field(
        default_factory=lambda: [f"{c}_{r}" for c in range(8) for r in range(2, 6)]
    )
    count: int = 0
    pending: tuple[tuple[int, int], ...] = ()  # layout of the fifo that leaves next
    repeat: int = 1  # and how often it sends each object

    def name(self) -> str:
        self.count += 1
        return "in" if self.count == 1 else f"f{self.count}"

    def depth(self) -> int:
        return self.draw(st.integers(1, 5))

    def emit(
        self,
        name: str,
        source: str,
        consumers: list[str],
        size: int,
        element: str,
        fro: list[tuple[tuple[int, int], ...]] | None = None,
    ) -> None:
        """A fifo, over DMA; what its source does besides is pending."""
        depths = [self.depth() for _ in ["", *consumers]]
        self.parts.append(
            fifo(
                name,
                source,
                consumers,
                f"{size}x{element}",
                depths,
                to=self.pending,
                fro=fro or [],
                attributes=f"repeat_count = {self.repeat} : i32" if self.repeat > 1 else "",
            )
        )
        self.pending, self.repeat = (), 1

    def through(self, objects: int, incoming: np.ndarray, outgoing: np.ndarray) -> None:
        """What a tile does: objects are written in one order and read in another."""
        rows = self.data.reshape(-1, objects)
        memory = np.empty_like(rows)
        memory[:, incoming] = rows
        self.data = memory[:, outgoing].reshape(-1)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[str, np.ndarray]:
    """The text, and which element of the input each element of the output is."""
    n = draw(st.sampled_from(COUNTS))
    g = Graph(draw, np.arange(n))
    element = draw(st.sampled_from(tuple(NUMPY)))
    name, source, size = g.name(), "0_0", draw(st.sampled_from(SIZES))
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(("forward", "forward", "spread", "broadcast")))
        memory = kind == "spread" or draw(st.booleans())
        tile = (g.tiles if memory else g.cores).pop(0)
        following = g.name()
        if kind == "forward":
            after = draw(st.sampled_from(SIZES))
            held = max(size, after)
            fro, to = draw(layouts(held)), draw(layouts(held))
            g.emit(name, source, [tile], size, element, [fro])
            g.parts.append(link(f"@{name}", f"@{following}"))
            g.through(held, walk(fro, held), walk(to, held))
            g.pending = to
            if memory and after == size:  # every object several times
                g.repeat = draw(st.integers(1, 3))
                g.data = np.repeat(g.data.reshape(-1, size), g.repeat, axis=0).reshape(-1)
            name, source, size = following, tile, after
            continue
        # To several tiles, in parts or whole, and together again in another order.
        fitting = [k for k in (2, 3, 4) if kind == "broadcast" or size % k == 0]
        ways = draw(st.sampled_from(fitting))
        order = draw(st.permutations(range(ways)))
        part = size // ways if kind == "spread" else size
        stops = [g.cores.pop(0) for _ in order]
        meeting = g.tiles.pop(0)
        rows = g.data.reshape(-1, size)
        if kind == "spread":
            g.emit(name, source, [tile], size, element)
            offsets = ", ".join(str(part * i) for i in range(ways))
            there = [g.name() for _ in order]
            links = [link(f"@{name}", ", ".join(f"@{n}" for n in there), f"[] [{offsets}]")]
            for a, stop in zip(there, stops, strict=True):
                g.emit(a, tile, [stop], part, element)
            copies = [rows[:, part * i : part * (i + 1)] for i in range(ways)]
        else:
            fros = [draw(layouts(size)) for _ in order]
            g.emit(name, source, stops, size, element, fros)
            there, links, copies = [name] * ways, [], []
            for fro in fros:
                copies.append(np.empty_like(rows))
                copies[-1][:, walk(fro, size)] = rows
        back = [g.name() for _ in order]
        for a, b, stop in zip(there, back, stops, strict=True):
            g.emit(b, stop, [meeting], part, element)
            links.append(link(f"@{a}", f"@{b}"))
        offsets = ", ".join(str(part * i) for i in range(ways))
        links.append(
            link(", ".join(f"@{back[i]}" for i in order), f"@{following}", f"[{offsets}] []")
        )
        g.parts += links
        g.data = np.concatenate([copies[i] for i in order], axis=1).reshape(-1)
        name, source, size = following, meeting, part * ways
    # The fifo that leaves: its layout is that of the tile it leaves.
    bridge, tile = g.name(), g.cores.pop(0)
    g.emit(name, source, [tile], size, element)
    g.parts.append(link(f"@{name}", f"@{bridge}"))
    g.emit(bridge, tile, ["0_0"], size, element)
    m = len(g.data)
    text = module(
        *g.parts,
        sequence(
            [f"{n}x{element}", f"{m}x{element}"],
            transfer(0, "in", 0, n, f"{n}x{element}"),
            transfer(1, bridge, 1, m, f"{m}x{element}", wait=True),
            wait=[1],
        ),
        device="npu2",
        columns=8,
    )
    return text, g.data


NUMPY = {
    "i8": np.int8,
    "ui8": np.uint8,
    "i16": np.int16,
    "i32": np.int32,
    "bf16": np.int16,
    "f16": np.int16,
    "f32": np.float32,
    "i64": np.int64,
}


def check_graph(build, monkeypatch, case, seed):
    """The same values in any order of serving."""
    text, order = case
    element = text.split("%a0: memref<")[1].split(">")[0].split("x")[1]
    monkeypatch.setenv("IRON_HOST_SCHEDULE", f"seed:{seed}" if seed else "")
    design = build(text)
    x = (np.arange(order.max() + 1) % 251).astype(NUMPY[element])
    y = np.zeros(len(order), x.dtype)
    try:
        for _ in range(2):
            np.testing.assert_array_equal(design(x, y)[1], x[order])
    finally:
        design.kernel.close()


SEEDS = st.sampled_from((0, 0, 1, 2, 3))


@quick
@given(graphs(), SEEDS)
def test_graphs_without_cores(build, monkeypatch, case, seed):
    check_graph(build, monkeypatch, case, seed)


@pytest.mark.slow
@settings(quick, max_examples=3000, derandomize=False)
@given(graphs(), SEEDS)
def test_many_graphs_without_cores(build, monkeypatch, case, seed):
    check_graph(build, monkeypatch, case, seed)


def window(name: str, out: str, n: int, width: int) -> str:
    """A core that sums `width` objects that follow each other."""
    code = "%sum0 = arith.constant 0 : i32\n"
    for k in range(width):
        code += f"%v{k} = memref.load %{name}{k}[%i] : memref<{n}xi32>\n"
        code += f"%sum{k + 1} = arith.addi %sum{k}, %v{k} : i32\n"
    code += f"memref.store %sum{width}, %{out}0[%i] : memref<{n}xi32>"
    return "\n".join(
        [
            acquire(name, "Consume", f"{n}xi32", width),
            acquire(out, "Produce", f"{n}xi32"),
            loop("i", n, code),
            release(name, "Consume"),
            release(out, "Produce"),
        ]
    )


STAGES = st.lists(
    st.tuples(st.integers(1, 3), st.integers(0, 2), st.booleans()), min_size=1, max_size=4
)


@few
@given(STAGES, st.data(), SEEDS)
def test_windows_along_a_chain_of_cores(build, monkeypatch, stages, data, seed):
    monkeypatch.setenv("IRON_HOST_SCHEDULE", f"seed:{seed}" if seed else "")
    check_windows(build, stages, data)


@pytest.mark.slow
@settings(quick, max_examples=400, derandomize=False)
@given(STAGES, st.data(), SEEDS)
def test_many_windows(build, monkeypatch, stages, data, seed):
    monkeypatch.setenv("IRON_HOST_SCHEDULE", f"seed:{seed}" if seed else "")
    check_windows(build, stages, data)


def check_windows(build, stages, data):
    n, rounds = 8, 20
    parts, name, source, place = [], "in", "0_0", 0
    x = np.arange(n * rounds, dtype=np.int32)
    rows = x.reshape(rounds, n)
    for i, (width, spare, far) in enumerate(stages):
        # Two steps up are no neighbours: over DMA. One step: shared memory.
        place += 1 if i == 0 or not far else 2
        column, row = divmod(place - 1, 4)
        tile = f"{column}_{row + 2}"
        depth = width + spare
        # A depth for each side, where there are sides: over DMA.
        over_dma = i == 0 or far or row == 0
        depths = [data.draw(st.integers(1, 3)), depth] if over_dma else depth
        parts.append(fifo(name, source, tile, f"{n}xi32", depths))
        following = f"w{i}"
        parts.append(core(tile, window(name, following, n, width)))
        rows = sum(rows[k : len(rows) - width + 1 + k] for k in range(width))
        name, source = following, tile
    parts.append(fifo(name, source, "0_0", f"{n}xi32"))
    total = rows.size
    design = build(
        module(
            *parts,
            sequence(
                [f"{n * rounds}xi32", f"{n * rounds}xi32"],
                transfer(0, "in", 0, n * rounds, f"{n * rounds}xi32"),
                transfer(1, name, 1, total, f"{n * rounds}xi32", wait=True),
                wait=[1],
            ),
            device="npu2",
            columns=2,
        )
    )
    try:
        _, y = design(x, 0 * x)
    finally:
        design.kernel.close()
    np.testing.assert_array_equal(y[:total], rows.reshape(-1))


STEPS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 4), st.integers(1, 3)).map(
        lambda t: (t[0], min(t[0], t[1]), t[2])  # gives back no more than it takes
    ),
    min_size=1,
    max_size=4,
).filter(lambda steps: any(back for _, back, _ in steps))


@few
@given(STEPS, st.integers(0, 2), st.integers(0, 2), SEEDS)
def test_patterns_that_change_from_step_to_step(build, monkeypatch, steps, more, spare, seed):
    """A core takes several objects, gives some back and makes others, in numbers that go round."""
    monkeypatch.setenv("IRON_HOST_SCHEDULE", f"seed:{seed}" if seed else "")
    n, rounds = 4, 5
    code, most, kept = [], 0, 0
    for taken, back, _ in steps * 2:  # the second time round, it begins with what it has kept
        most = max(most, taken, kept)
        kept = max(taken, kept) - back
    for i, (taken, back, made) in enumerate(steps):
        code += [
            acquire("in", "Consume", f"{n}xi32", taken, f"s{i}"),
            acquire("out", "Produce", f"{n}xi32", made, f"s{i}"),
            f"%s{i}sum0 = arith.constant 0 : i32",
        ]
        for k in range(taken):
            code += [
                f"%s{i}v{k} = memref.load %s{i}in{k}[%c1] : memref<{n}xi32>",
                f"%s{i}w{k} = arith.constant {k + 1} : i32",
                f"%s{i}p{k} = arith.muli %s{i}v{k}, %s{i}w{k} : i32",
                f"%s{i}sum{k + 1} = arith.addi %s{i}sum{k}, %s{i}p{k} : i32",
            ]
        for k in range(made):
            value = f"%s{i}sum{taken}" if k == 0 else f"%s{i}sum{taken - 1}"
            code.append(f"memref.store {value}, %s{i}out{k}[%c1] : memref<{n}xi32>")
        code += [release("in", "Consume", back)] * bool(back)
        code.append(release("out", "Produce", made))
    out_most = max(made for _, _, made in steps)
    objects = rounds * sum(back for _, back, _ in steps) + most
    total = rounds * sum(made for _, _, made in steps)
    design = build(
        module(
            fifo("in", "0_0", "0_2", f"{n}xi32", [1 + more, most + spare]),
            fifo("out", "0_2", "0_0", f"{n}xi32", [out_most + more, 2]),
            core("0_2", "\n".join(code)),
            in_and_out("in", "out", n * objects, n * total),
        )
    )
    x = np.arange(n * objects, dtype=np.int32) * 7
    seen, wanted, at = x.reshape(objects, n)[:, 1], [], 0
    for taken, back, made in steps * rounds:
        products = seen[at : at + taken] * np.arange(1, taken + 1)
        wanted += [products.sum()] + [products[:-1].sum()] * (made - 1)
        at += back
    try:
        _, y = design(x, np.zeros(n * total, np.int32))
    finally:
        design.kernel.close()
    np.testing.assert_array_equal(y.reshape(total, n)[:, 1], wanted)


@st.composite
def paddings(draw: st.DrawFn) -> tuple[str, np.ndarray, np.ndarray]:
    """The text, what goes in and what comes out."""
    element = draw(st.sampled_from(("i8", "ui8", "i16", "bf16", "i32", "f32")))
    width = {"i8": 4, "ui8": 4, "i16": 2, "bf16": 2}.get(element, 1)  # elements of a word
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    pads = [draw(st.tuples(st.integers(0, 3), st.integers(0, 3))) for _ in sizes]
    order = draw(st.permutations(range(len(sizes) - 1)))  # the innermost stays where it is
    value, rounds = draw(st.integers(-(2**31), 2**31 - 1)), draw(st.integers(1, 4))
    words = np.arange(rounds * np.prod(sizes), dtype=np.int32) * 0x01030507
    x = words.reshape(rounds, *sizes)
    strides = [int(np.prod(sizes[i + 1 :])) * width for i in range(len(sizes))]
    strides[-1] = 1
    axes = [*order, len(sizes) - 1]
    to = [(sizes[a] * (width if a == axes[-1] else 1), strides[a]) for a in axes]
    out = np.pad(
        x.transpose(0, *(a + 1 for a in axes)), [(0, 0), *(pads[a] for a in axes)],
        constant_values=value,
    ).reshape(rounds, -1)  # fmt: skip
    before_after = ", ".join(
        f"<const_pad_before = {a * (width if i == axes[-1] else 1)}, "
        f"const_pad_after = {b * (width if i == axes[-1] else 1)}>"
        for i, (a, b) in ((i, pads[i]) for i in axes)
    )
    held, made = x[0].size * width, out.shape[1] * width
    depths = [draw(st.integers(1, 3)) for _ in range(5)]
    ends = draw(st.sampled_from(("0_0", "1_2")))  # straight to the host, or by way of a core's tile
    parts = [
        fifo("in", "0_0", "0_1", f"{held}x{element}", depths[:2]),
        fifo(
            "mid", "0_1", ends, f"{made}x{element}", depths[2:4], to=to,
            attributes=f"padDimensions = #aie<bd_pad_layout_array[{before_after}]>, "
            f"padValue = {value} : i32",
        ),
        link("@in", "@mid"),
    ]  # fmt: skip
    last = "mid"
    if ends != "0_0":
        last = "out"
        parts += [fifo("out", ends, "0_0", f"{made}x{element}", depths[4]), link("@mid", "@out")]
    whole = in_and_out("in", last, rounds * held, rounds * made, element=element)
    return module(*parts, whole, device="npu2", columns=2), x.reshape(-1), out.reshape(-1)


@few
@given(paddings(), SEEDS)
def test_padding_in_any_dimension(build, monkeypatch, case, seed):
    text, x, out = case
    monkeypatch.setenv("IRON_HOST_SCHEDULE", f"seed:{seed}" if seed else "")
    element = text.split("%a0: memref<")[1].split(">")[0].split("x")[1]
    design = build(text)
    try:
        for _ in range(2):
            _, y = design(x.view(NUMPY[element]), np.zeros(out.size, np.int32).view(NUMPY[element]))
            np.testing.assert_array_equal(y.view(np.int32), out)
    finally:
        design.kernel.close()


def test_the_model_knows_a_transpose():
    np.testing.assert_array_equal(
        np.arange(6)[walk(((3, 1), (2, 3)), 6)], np.arange(6).reshape(2, 3).T.reshape(-1)
    )
