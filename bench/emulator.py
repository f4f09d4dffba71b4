"""The host target against NumPy, in one process: ``python bench/emulator.py``.

Every ratio is of minima that were taken in turns, so that a busy machine meets both alike.
Targets: within 3 times NumPy at tile 1024, 8 times at tile 64, a worker's round trip of at most
20 microseconds, a 32-core design no slower to build than 1.3 times one with 4 cores.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import time
from collections.abc import Callable

import numpy as np

from iron.cli.run_mlir import MlirProgram
from iron.runtime.host import HostKernel
from iron.runtime.memory import SharedBuffer

SCALE = """
#include <cstdint>
extern "C" void work(const int32_t *__restrict a, int32_t *__restrict b, int32_t n) {
  for (int32_t i = 0; i < n; i++) b[i] = a[i] * 3;
}
"""
COPY = """
#include <cstdint>
#include <cstring>
extern "C" void work(const int32_t *a, int32_t *b, int32_t n) { std::memcpy(b, a, 4 * n); }
"""


def design(cores: int, tile: int, count: int) -> str:
    """Shim to core to shim, each core its own stretch of the data."""
    columns = max(1, cores // 4)
    lines = ["module {", f"aie.device({'npu2' if columns > 4 else 'npu1'}) {{"]
    memref = f"memref<{tile}xi32>"
    used = [(i % columns, 2 + i // columns) for i in range(cores)]
    per_column = cores // columns
    # Two channels each way on a shim: more than two cores of a column share one through a link.
    lines += [f"%s{c} = aie.tile({c}, 0)" for c in range(columns)]
    lines += [f"%m{c} = aie.tile({c}, 1)" for c in range(columns)]
    lines += [f"%t{i} = aie.tile({c}, {r})" for i, (c, r) in enumerate(used)]
    lines.append(
        f'func.func private @work({memref}, {memref}, i32) attributes {{link_with = "work.o"}}'
    )
    whole = f"memref<{tile * per_column}xi32>"
    for c in range(columns):
        mine = [i for i, place in enumerate(used) if place[0] == c]
        parts = ", ".join(str(k * tile) for k in range(per_column))
        ins, outs = ", ".join(f"@in{i}" for i in mine), ", ".join(f"@out{i}" for i in mine)
        lines += [
            f"aie.objectfifo @all{c}(%s{c}, {{%m{c}}}, 2 : i32) : !aie.objectfifo<{whole}>",
            f"aie.objectfifo @res{c}(%m{c}, {{%s{c}}}, 2 : i32) : !aie.objectfifo<{whole}>",
        ]
        for i in mine:
            lines += [
                f"aie.objectfifo @in{i}(%m{c}, {{%t{i}}}, 2 : i32) : !aie.objectfifo<{memref}>",
                f"aie.objectfifo @out{i}(%t{i}, {{%m{c}}}, 2 : i32) : !aie.objectfifo<{memref}>",
            ]
        lines += [
            f"aie.objectfifo.link [@all{c}] -> [{ins}]([] [{parts}])",
            f"aie.objectfifo.link [{outs}] -> [@res{c}]([{parts}] [])",
        ]
    for i in range(cores):
        lines.append(core(i, tile))
    lines.append(sequence(columns, count))
    return "\n".join([*lines, "}", "}"])


def plain(cores: int, tile: int, count: int) -> str:
    """Shim to core to shim without memory tiles: one column for every two cores."""
    columns = -(-cores // 2)
    memref = f"memref<{tile}xi32>"
    lines = ["module {", f"aie.device({'npu2' if columns > 4 else 'npu1'}) {{"]
    lines.append(
        f'func.func private @work({memref}, {memref}, i32) attributes {{link_with = "work.o"}}'
    )
    lines += [f"%s{c} = aie.tile({c}, 0)" for c in range(columns)]
    for i in range(cores):
        c = i // 2
        lines += [
            f"%t{i} = aie.tile({c}, {2 + i % 2})",
            f"aie.objectfifo @in{i}(%s{c}, {{%t{i}}}, 2 : i32) : !aie.objectfifo<{memref}>",
            f"aie.objectfifo @out{i}(%t{i}, {{%s{c}}}, 2 : i32) : !aie.objectfifo<{memref}>",
            core(i, tile),
        ]
    pairs = [(f"in{i}", f"out{i}") for i in range(cores)]
    return "\n".join([*lines, transfers(pairs, count), "}", "}"])


def core(i: int, tile: int) -> str:
    memref = f"memref<{tile}xi32>"
    view = f"!aie.objectfifosubview<{memref}>"
    return f"""%core{i} = aie.core(%t{i}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant {tile} : i32
  %forever = arith.constant 9223372036854775807 : index
  scf.for %k = %c0 to %forever step %c1 {{
    %a = aie.objectfifo.acquire @in{i}(Consume, 1) : {view}
    %x = aie.objectfifo.subview.access %a[0] : {view} -> {memref}
    %b = aie.objectfifo.acquire @out{i}(Produce, 1) : {view}
    %y = aie.objectfifo.subview.access %b[0] : {view} -> {memref}
    func.call @work(%x, %y, %n) : ({memref}, {memref}, i32) -> ()
    aie.objectfifo.release @in{i}(Consume, 1)
    aie.objectfifo.release @out{i}(Produce, 1)
  }}
  aie.end
}}"""


def sequence(columns: int, count: int) -> str:
    return transfers([(f"all{c}", f"res{c}") for c in range(columns)], count)


def transfers(pairs: list[tuple[str, str]], count: int) -> str:
    share = count // len(pairs)
    memref = f"memref<{count}xi32>"
    lines = [f"aie.runtime_sequence(%a: {memref}, %b: {memref}) {{"]
    for k, (source, target) in enumerate(pairs):
        for name, argument, token in ((source, "a", "false"), (target, "b", "true")):
            lines.append(
                f"%{name} = aiex.dma_configure_task_for @{name} {{\n"
                f"  aie.dma_bd(%{argument} : {memref} offset = {k * share} len = {share})\n"
                f"  aie.end\n}} {{issue_token = {token}}}\naiex.dma_start_task(%{name})"
            )
    lines += [f"aiex.dma_await_task(%{target})" for _, target in pairs]
    return "\n".join([*lines, "}"])


def least(*actions: Callable[[], object], times: int) -> list[float]:
    """The least seconds of each action, taken in turns."""
    best = [float("inf")] * len(actions)
    for _ in range(times):
        for i, action in enumerate(actions):
            start = time.perf_counter()
            action()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def built(text: str, source: str, directory: str) -> tuple[str, float]:
    """The package, and the seconds it took."""
    path = os.path.join(directory, f"work{abs(hash(source))}.cc")
    with open(path, "w", encoding="utf-8") as f:
        f.write(source)
    start = time.perf_counter()
    program = MlirProgram(text=text, objects={"work.o": path}, limits=False)
    return program.build(), time.perf_counter() - start


def throughput(package: str, factor: int, count: int, times: int) -> tuple[float, float]:
    """(ratio to NumPy, million elements a second)"""
    kernel = HostKernel(package)
    a, b = SharedBuffer(4 * count), SharedBuffer(4 * count)
    x = a.array.view(np.int32)
    x[:] = np.arange(count)
    y = np.empty(count, np.int32)
    kernel.run([a, b], 600)
    assert np.array_equal(b.array.view(np.int32), x * np.int32(factor))

    def numpy() -> object:
        return np.multiply(x, np.int32(factor), out=y) if factor != 1 else np.copyto(y, x)

    ours, theirs = least(lambda: kernel.run([a, b], 600), numpy, times=times)
    kernel.close()
    return ours / theirs, count / ours / 1e6


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--times", type=int, default=9)
    p.add_argument("--quick", action="store_true", help="4 cores at tile 1024 and 64 only")
    options = p.parse_args()
    count = 4 << 20
    with tempfile.TemporaryDirectory() as directory:
        print(f"{'cores':>5} {'tile':>5} {'work':>6} {'x NumPy':>8} {'Melem/s':>8}")
        cases = [(4, 1024), (4, 64)] if options.quick else [(4, 1024), (4, 64), (4, 16), (32, 1024)]
        for cores, tile in cases:
            for word, source, factor in (("copy", COPY, 1), ("scale", SCALE, 3)):
                n = count if tile > 16 else count // 4
                make = plain if cores <= 16 else design
                package, _ = built(make(cores, tile, n), source, directory)
                ratio, rate = throughput(package, factor, n, options.times)
                print(f"{cores:>5} {tile:>5} {word:>6} {ratio:>8.2f} {rate:>8.0f}", flush=True)
        package, _ = built(plain(4, 16, 256), SCALE, directory)
        kernel = HostKernel(package)
        a, b = SharedBuffer(1024), SharedBuffer(1024)
        start = time.perf_counter()
        kernel.run([a, b])
        first = time.perf_counter() - start
        (trip,) = least(lambda: kernel.run([a, b]), times=2000)
        kernel.close()
        print(f"round trip {trip * 1e6:.1f} us, start-up with the first run {first * 1e3:.2f} ms")
        if not options.quick:
            pairs = []
            for _ in range(4):
                tile, rounds = 8 * random.randrange(8, 128), random.randrange(1, 10000)
                pairs.append([new_build(cores, tile, rounds, directory) for cores in (4, 32)])
            few, many = zip(*pairs, strict=True)
            print(f"build: 4 cores {min(few):.2f} s, 32 cores {min(many) / min(few):.2f} times it")


def new_build(cores: int, tile: int, rounds: int, directory: str) -> float:
    """Seconds to build a design of which nothing is in the store but the emulator itself.

    Its kernel's source and symbol, its bodies and its sequence are of this run alone: the symbol
    is new, and so are the lengths.
    """
    symbol = f"work_{os.urandom(6).hex()}"
    text = design(cores, tile, 128 * tile * rounds).replace("@work(", f"@{symbol}(")
    return built(text, SCALE.replace("work(", f"{symbol}("), directory)[1]


if __name__ == "__main__":
    main()
