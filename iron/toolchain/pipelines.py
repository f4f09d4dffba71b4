"""Pass pipelines and options of mlir-aie by version: data, and the choice between them.

Each `Generation` is a range of mlir-aie whose tools take the same pipelines. A version is known by
its wheel's date or, for a build from source, by the passes that its aie-opt lists. What fits no
generation is driven through its own aiecc.

Each pipeline is what mlir-aie's own driver of that time runs, pass by pass and option by option
(options at the value that the pass has anyway are left out); where it is written down stands beside
it. Paths are those of mlir-aie's repository.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

# 2026-03: LOWER_TO_LLVM_PIPELINE and _create_aie_lower_to_llvm_pipeline, main.py (see below).
# 2026-08: getCoreLLVMLoweringPipeline, tools/aiecc/IRTransforms.h; `expand` is the option that
# test/aiecc/peano_compat_minmax_expand.mlir asks for.
_CORES = (
    "builtin.module(aie.device(aie-localize-locks,aie-normalize-address-spaces,"
    "aie-transform-bfp-types),aie-standard-lowering{{device={device} tilecol={column} "
    "tilerow={row}}},aiex-standard-lowering,convert-aievec-to-llvm{{aie-target={target}}},"
    "canonicalize,cse,expand-strided-metadata,lower-affine,arith-expand{expand},"
    "finalize-memref-to-llvm,convert-func-to-llvm{{use-bare-ptr-memref-call-conv=1}},"
    "convert-to-llvm{{dynamic=1}},convert-vector-to-llvm,convert-ub-to-llvm,canonicalize,cse)"
)
# 2026-03: process_txn, main.py. 2026-08: getTransactionPipeline, tools/aiecc/IRTransforms.h.
_TRANSACTION = (
    "builtin.module(aie.device(convert-aie-to-transaction{{device-name={device} elf-dir={elfs}}}))"
)


@dataclass(frozen=True)
class Placing:
    """Choices about the placing of a design that mlir-aie's driver has options for: which buffer
    allocator (its own choice when empty), and how ObjectFifos are lowered (None: as usual)."""

    alloc_scheme: str = ""
    dynamic_fifos: bool | None = None
    packet_fifos: bool | None = None


@dataclass(frozen=True)
class Generation:
    """One range of versions. Pipelines are format strings over device, column, row, target
    (``aie2``, ``aie2p``) and elfs (a directory)."""

    name: str
    first: int
    last: int
    """Dates (yyyymmdd) of the first and the last wheel it holds for."""
    passes: tuple[str, ...]
    """An aie-opt of this range lists these..."""
    foreign: tuple[str, ...]
    """... and none of these."""
    place: str
    """From the design to ``input_with_addresses.mlir``; over target, alloc (options of the buffer
    allocator), dynamic and packet (how ObjectFifos are lowered). See `placing`."""
    truth: tuple[str, str]
    """How the pipelines spell no and yes."""
    dynamic_fifos: bool
    """What the driver does about ObjectFifos when it is not told."""
    route: str
    lower_core: str
    lower_sequence: str
    transaction: str
    opt_passes: str
    starts_from_one: bool
    """How partitions count the columns where they may start."""
    core_links: bool
    """Objects are named on the core (one) and not on the functions (a list for each core)."""
    link_flags: tuple[str, ...]
    """Of the clang that links a core, beside those of all generations."""
    unfolded: tuple[str, ...]
    """Options of aie-translate for instructions that go into a full ELF, whose loader adds the
    array's view of host memory to addresses itself."""

    def placing(self, target: str, choices: Placing) -> str:
        """The pipeline `place` for cores of `target`."""
        scheme = choices.alloc_scheme
        dynamic = choices.dynamic_fifos
        return self.place.format(
            target=target,
            alloc=f"{{alloc-scheme={scheme}}}" if scheme else "",
            dynamic=self.truth[self.dynamic_fifos if dynamic is None else dynamic],
            packet=self.truth[bool(choices.packet_fifos)],
        )

    def fits(self, listed: frozenset[str]) -> bool:
        return listed.issuperset(self.passes) and listed.isdisjoint(self.foreign)


# python/compiler/aiecc/main.py at 5ff2ab97 (2026-03-04).
MARCH_2026 = Generation(
    name="2026-03",
    first=20260201,
    last=20260430,
    passes=("aie-register-objectFifos", "aie-inline-trace-config", "aie-trace-pack-reg-writes"),
    foreign=("aie-place-tiles", "aie-assign-core-link-files"),
    # _create_input_with_addresses_pipeline
    place=(
        "builtin.module(convert-vector-to-aievec{{aie-target={target} target-backend=llvmir}},"
        "lower-affine,aie-canonicalize-device,aie.device(aie-trace-to-config,"
        "aie-trace-pack-reg-writes,aie-inline-trace-config,aie-assign-lock-ids,"
        "aie-register-objectFifos,aie-objectFifo-stateful-transform{{dynamic-objFifos={dynamic} "
        "packet-sw-objFifos={packet}}},aie-assign-bd-ids,aie-lower-cascade-flows,"
        "aie-lower-broadcast-packet,aie-lower-multicast,aie-assign-tile-controller-ids,"
        "aie-generate-column-control-overlay{{route-shim-to-tile-ctrl=0}},"
        "aie-assign-buffer-addresses{alloc},aie-vector-transfer-lowering{{max-transfer-rank=1}}),"
        "convert-scf-to-cf)"
    ),
    truth=("0", "1"),
    dynamic_fifos=False,
    route="builtin.module(aie.device(aie-create-pathfinder-flows))",  # run_flow
    lower_core=_CORES.replace("{expand}", ""),
    # _create_npu_lowering_pipeline
    lower_sequence=(
        "builtin.module(aie-materialize-runtime-sequences,aie.device(aie-materialize-bd-chains,"
        "aie-substitute-shim-dma-allocations,aie-assign-runtime-sequence-bd-ids,"
        "aie-dma-tasks-to-npu,aie-dma-to-npu,aie-lower-set-lock))"
    ),
    transaction=_TRANSACTION,
    opt_passes="default<O1>,strip",  # process_cores, process_core
    starts_from_one=True,  # emit_partition
    core_links=True,
    link_flags=(),  # process_core
    unfolded=(),  # aie-translate has no such option yet
)

# tools/aiecc/ at 3ca0193c (2026-08-14): IRTransforms.h for pipelines, aiecc.cpp for their order.
AUGUST_2026 = Generation(
    name="2026-08",
    first=20260801,
    last=20260831,
    passes=(
        "aie-place-tiles",
        "aie-assign-core-link-files",
        "aie-insert-trace-flows",
        "aie-objectFifo-unroll",
        "aie-lower-scratchpad-parameters",
        "aie-decompose-large-dma-bd",
        "aie-lower-dynamic-bd-pool",
        "aie-lower-core-reset",
        "aie-scf-to-control-flow",
    ),
    foreign=("aie-register-objectFifos",),
    # getPlacementPipeline, getTracePipeline, getInputWithAddressesPipeline
    place=(
        "builtin.module(aie.device(aie-place-tiles),aie.device(aie-insert-trace-flows,"
        "aie-trace-to-config,aie-trace-pack-reg-writes,aie-inline-trace-config),"
        "convert-vector-to-aievec{{aie-target={target}}},lower-affine,aie-canonicalize-device,"
        "aie-lower-scratchpad-parameters,"
        "aie.device(aie-objectFifo-stateful-transform{{packet-sw-objFifos={packet}}},"
        "aie-objectFifo-unroll{{default-dynamic={dynamic}}},aie-assign-lock-ids,aie-assign-bd-ids,"
        "aie-lower-cascade-flows,aie-lower-broadcast-packet,aie-lower-multicast,"
        "aie-assign-tile-controller-ids),"
        "aie-generate-column-control-overlay{{route-shim-to-tile-ctrl=false}},"
        "aie.device(aie-assign-buffer-addresses{alloc},aie-assign-core-link-files,"
        "aie-vector-transfer-lowering),aie-scf-to-control-flow)"
    ),
    truth=("false", "true"),
    dynamic_fifos=True,
    route="builtin.module(aie.device(aie-create-pathfinder-flows))",  # getRoutingPipeline
    lower_core=_CORES.replace("{expand}", "{{include-min-max-f=true}}"),
    # getMaterializeRuntimeSeqPipeline, getNpuDmaLoweringPipeline
    lower_sequence=(
        "builtin.module(aie-materialize-runtime-sequences,aie.device(aie-materialize-bd-chains,"
        "aie-substitute-shim-dma-allocations,aie-unroll-runtime-sequence-loops,canonicalize,"
        "aie-decompose-large-dma-bd,aie-lower-dynamic-bd-pool,canonicalize,"
        "aie-assign-runtime-sequence-bd-ids,aie-dma-tasks-to-npu,aie-lower-dma-channel-reset,"
        "aie-dma-to-npu,aie-lower-set-lock,aie-lower-core-reset))"
    ),
    transaction=_TRANSACTION,
    opt_passes="default<O1>",  # buildObjectSubgraph, aiecc.cpp
    starts_from_one=False,  # makePartitionJson, SidecarFiles.h
    core_links=False,
    link_flags=("-fuse-ld=lld",),  # peanoElfs, aiecc.cpp
    unfolded=("--aie-npu-fold-ddr-addr-offset=false",),  # npuProgramFullElf, aiecc.cpp
)

GENERATIONS = MappingProxyType({g.name: g for g in (MARCH_2026, AUGUST_2026)})


def by_version(version: str | None) -> Generation | None:
    """The generation of a wheel's version, which ends in its date (``0.0.1.2026031504+...``)."""
    date = date_of(version)
    return next((g for g in GENERATIONS.values() if date and g.first <= date <= g.last), None)


def date_of(version: str | None) -> int | None:
    """The date in a wheel's version as yyyymmdd, None when it has none."""
    found = re.search(r"(?<!\d)(20\d{6})(?:\d{2})?(?!\d)", version or "")
    return int(found.group(1)) if found else None


def listed_passes(help_text: str) -> frozenset[str]:
    """The options that ``aie-opt --help`` lists."""
    return frozenset(re.findall(r"^\s+--([A-Za-z][\w-]*)", help_text, re.MULTILINE))


def by_passes(help_text: str) -> Generation | None:
    """The generation whose passes an aie-opt lists."""
    listed = listed_passes(help_text)
    return next((g for g in GENERATIONS.values() if g.fits(listed)), None)
