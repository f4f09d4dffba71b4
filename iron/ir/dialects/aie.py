"""The aie dialect: tiles, memories, locks, DMAs, streams, ObjectFifos, traces (AIEOps.td).

Where a row has an operand and an attribute of one name, mlir-aie moved it from the one to the
other during 2026; an operation has one of the two.
"""

from __future__ import annotations

from ..definition import OpDefinition as Op
from .aie_trace import ROWS as TRACES

_END = "aie.end"
_MEMORIES = "aie.mem aie.memtile_dma aie.shim_dma"
_PORT = "tile:index"
_CHANNEL = "bundle:WireBundle channel:i32>=0"


def _on_tile(name: str, region: str, attributes: str = "", terminator: str | None = None) -> Op:
    return Op(
        f"aie.{name}",
        f"(%tile) {{{region}}} attrs",
        operands="tile:index",
        attributes=attributes,
        results="result:index",
        regions=region,
        terminator=terminator,
    )


ROWS = (
    Op(
        "aie.device",
        "($device) [? @sym_name ?] {body_region} attrs",
        attributes="device:AIEDevice sym_name:name?",
        regions="body_region",
        traits="symbol table isolated",
        terminator=_END,
        parents="builtin.module",
    ),
    Op(
        "aie.tile",
        "($col, $row) attrs",
        attributes="""
            col:i32>=0 row:i32>=0 allocation_scheme:str? controller_id:aie.packet_info?
        """,
        results="result:index",
    ),
    Op(
        "aie.logical_tile",
        "<$tile_type> & !aie.TilePlace() attrs",
        attributes="tile_type:AIETileType col:i32>=0? row:i32>=0? allocation_scheme:str?",
        results="result:index",
    ),
    Op("aie.end", "attrs", traits="terminator"),
    _on_tile("switchbox", "connections", terminator=_END),
    _on_tile("shim_mux", "connections", terminator=_END),
    _on_tile("shim_dma", "body"),
    _on_tile(
        "core",
        "body",
        """
        stack_size:i32>=1? link_with:str? link_files:str[]? link_merge_files:str[]? elf_file:str?
        dynamic_objfifo_lowering:bool? emit_parameter_sync_preamble:bool?
        """,
    ),
    _on_tile("mem", "body"),
    _on_tile("memtile_dma", "body"),
    Op("aie.debug", "(%arg : type(arg)) attrs", operands="arg:any"),
    Op("aie.plio", "($col) attrs", attributes="col:i32", results="result:index"),
    # streams and switches
    Op(
        "aie.connect",
        "<$source_bundle : $source_channel, $dest_bundle : $dest_channel> attrs",
        attributes="""
            source_bundle:WireBundle source_channel:i32>=0 dest_bundle:WireBundle
            dest_channel:i32>=0
        """,
        parents="aie.switchbox aie.shim_mux",
    ),
    Op(
        "aie.flow",
        "(%source, $source_bundle : $source_channel, %dest, $dest_bundle : $dest_channel) attrs",
        operands="source:index dest:index",
        attributes="""
            source_bundle:WireBundle source_channel:i32>=0 dest_bundle:WireBundle
            dest_channel:i32>=0
        """,
    ),
    Op(
        "aie.amsel",
        "<$arbiterID> ($msel) attrs",
        attributes="arbiterID:i8{0..5} msel:i8{0..3}",
        results="result:index",
        parents="aie.switchbox",
    ),
    Op(
        "aie.masterset",
        "($dest_bundle : $dest_channel, %amsels) attrs",
        operands="amsels:index*",
        attributes="dest_bundle:WireBundle dest_channel:i32>=0 keep_pkt_header:bool?",
        results="result:index",
        parents="aie.switchbox",
    ),
    Op(
        "aie.wire",
        "(%source : $source_bundle, %dest : $dest_bundle) attrs",
        operands="source:index dest:index",
        attributes="source_bundle:WireBundle dest_bundle:WireBundle",
    ),
    Op(
        "aie.packet_rules",
        "($source_bundle : $source_channel) {rules} attrs",
        attributes="source_bundle:WireBundle source_channel:i32>=0",
        regions="rules",
        terminator=_END,
    ),
    Op(
        "aie.rule",
        "($mask, $value, %amsel) attrs",
        operands="amsel:index",
        attributes="mask:i8 value:i8 packet_ids:any?",
        parents="aie.packet_rules",
    ),
    Op(
        "aie.packet_flow",
        "($ID) {ports} attrs",
        attributes="ID:i8 keep_pkt_header:bool? priority_route:bool?",
        regions="ports",
        terminator=_END,
    ),
    *(
        Op(
            f"aie.packet_{end}",
            "<%tile, $bundle : $channel> attrs",
            operands=_PORT,
            attributes=_CHANNEL,
            parents="aie.packet_flow",
        )
        for end in ("source", "dest")
    ),
    Op(
        "aie.cascade_flow",
        "(%source_tile, %dest_tile) attrs",
        operands="source_tile:index dest_tile:index",
    ),
    Op(
        "aie.configure_cascade",
        "(%tile, $inputDir, $outputDir) attrs",
        operands="tile:index",
        attributes="inputDir:CascadeDir outputDir:CascadeDir",
        parents="aie.device",
    ),
    Op("aie.get_cascade", "() attrs : type(cascade_value)", results="cascade_value:any"),
    Op(
        "aie.put_cascade",
        "(%cascade_value : type(cascade_value)) attrs",
        operands="cascade_value:any",
    ),
    Op(
        "aie.get_stream",
        "(%channel : type(channel)) attrs : type(stream_value)",
        operands="channel:int",
        results="stream_value:f32|i32|i128",
        parents="aie.core",
    ),
    Op(
        "aie.put_stream",
        "(%channel : type(channel), %stream_value : type(stream_value)) attrs",
        operands="channel:int stream_value:f32|i32|i128",
        parents="aie.core",
    ),
    # memories, locks, DMAs
    Op(
        "aie.dma_bd_packet",
        "($packet_type, $packet_id) attrs",
        attributes="packet_type:i32 packet_id:i32",
    ),
    Op(
        "aie.dma_bd",
        "(%buffer : type(buffer) !aie.Positions() "
        "[? offset = !aie.ValueOr(offset, static_offset) ?] "
        "[? len = !aie.ValueOr(len, static_len) ?] "
        "[? sizes = !common.Indices(sizes, static_sizes) ?] "
        "[? strides = !common.Indices(strides, static_strides) ?] !aie.Padding()) attrs",
        operands="buffer:memref offset:i32? len:i32? sizes:i64* strides:i64*",
        attributes="""
            static_offset:i32? static_len:i32? static_sizes:dense:i64? static_strides:dense:i64?
            pad_dimensions:aie.bd_pad_layout[]? bd_id:i32? packet:aie.packet_info?
            burst_length:i32=0 iteration:aie.bd_iteration? offset_parameter:sym?
            offset_state_table_idx:ui8? next_bd_id:i32?
            offset:i32? len:i32? dimensions:aie.bd_dim_layout[]?
        """,
    ),
    Op(
        "aie.dma_start",
        "($channel_dir, $channel_index, ^dest, ^chain [? , repeat_count = $repeat_count ?]) attrs",
        attributes="""
            channel_dir:DMAChannelDir channel_index:i32>=0 repeat_count:i32=0 pad_value:i32=0
        """,
        results="valid:i1",
        successors="dest chain",
        traits="terminator",
        parents=f"{_MEMORIES} func.func",
    ),
    Op(
        "aie.dma",
        "($channel_dir, $channel_index) attrs !aie.Chain()",
        attributes="""
            channel_dir:DMAChannelDir channel_index:i32>=0 loop:bool=true repeat_count:i32=0
            sym_name:str? pad_value:i32=0
        """,
        results="valid:i1",
        regions="bds:any*",
        traits="free",
        parents=_MEMORIES,
    ),
    Op("aie.next_bd", "^dest attrs", successors="dest", traits="terminator"),
    Op(
        "aie.lock",
        "(%tile [? , $lockID ?]) attrs",
        operands="tile:index",
        attributes="lockID:i32>=0? init:i32? sym_name:str?",
        results="result:index",
    ),
    Op(
        "aie.use_lock",
        "(%lock, $action, !aie.ValueOr(value, value) [? , $blocking ?]) attrs",
        operands="lock:index value:i32?",
        attributes="action:LockAction value:i32? blocking:LockBlocking? acq_en:bool=true",
    ),
    Op(
        "aie.buffer",
        "(%tile) attrs : type(buffer) !aie.Contents()",
        operands="tile:index",
        attributes="""
            sym_name:str? address:i32? initial_value:elements? mem_bank:i32? aligned:bool=true
        """,
        results="buffer:memref",
    ),
    Op(
        "aie.external_buffer",
        "attrs : type(buffer)",
        attributes="sym_name:str? address:i64?",
        results="buffer:memref",
    ),
    Op("aie.event", "($val) attrs", attributes="val:i32{0..1}"),
    Op(
        "aie.shim_dma_allocation",
        "@sym_name (%tile, $channel_dir, $channel_index [? , $packet ?]) attrs",
        operands="tile:index",
        attributes="""
            sym_name:name channel_dir:DMAChannelDir channel_index:i64 plio:bool=false
            packet:aie.packet_info?
        """,
        traits="symbol",
        parents="aie.device",
    ),
    # ObjectFifos
    Op(
        "aie.objectfifo",
        "@sym_name (!aie.Producer(), { !aie.Consumers() }, $elemNumber) attrs : !aie.FifoTypes()",
        operands="producerTile:index consumerTiles:index*",
        attributes="""
            sym_name:name elemNumber:i32|array elemType:type consumerElemType:type?
            dimensionsToStream:aie.bd_dim_layout[]?
            dimensionsFromStreamPerConsumer:aie.bd_dim_layout[][]?
            via_DMA:bool=false plio:bool=false disable_synchronization:bool=false
            repeat_count:i32>=1? aie_stream:i32{0..2}? aie_stream_port:i32{0..1}?
            prod_dma_channel:i32>=0? cons_dma_channels:dense:i32? initValues:elements[]?
            padDimensions:aie.bd_pad_layout[]? padValue:i32=0 iter_count:i32?
        """,
        traits="symbol",
        parents="aie.device",
    ),
    Op(
        "aie.objectfifo.allocate",
        "$objFifo_name (%delegateTile) attrs",
        operands="delegateTile:index",
        attributes="objFifo_name:sym",
        parents="aie.device",
    ),
    Op(
        "aie.objectfifo.link",
        "$fifoIns -> $fifoOuts ($src_offsets $dst_offsets) attrs",
        attributes="fifoIns:symref[] fifoOuts:symref[] src_offsets:i64[] dst_offsets:i64[]",
        parents="aie.device",
    ),
    Op(
        "aie.objectfifo.register_external_buffers",
        "attrs $objFifo_name (%tile, { %externalBuffers }) : (type(externalBuffers))",
        operands="tile:index externalBuffers:memref*",
        attributes="objFifo_name:sym",
        parents="aie.device",
    ),
    Op(
        "aie.objectfifo.acquire",
        "attrs $objFifo_name ($port, $size) : type(subview)",
        attributes="port:ObjectFifoPort objFifo_name:sym size:i32>=1",
        results="subview:subview",
    ),
    Op(
        "aie.objectfifo.release",
        "attrs $objFifo_name ($port, $size)",
        attributes="port:ObjectFifoPort objFifo_name:sym size:i32>=1",
    ),
    Op(
        "aie.objectfifo.subview.access",
        "%subview & [$index] attrs : type(subview) -> type(output)",
        operands="subview:subview",
        attributes="index:i32>=0",
        results="output:memref",
    ),
    Op(
        "aie.objectfifo_rearm_binding",
        "@sym_name channels ([? %channel_tiles : type(channel_tiles) ?]) "
        "locks ([? %locks : type(locks) ?]) attrs",
        operands="channel_tiles:index* locks:index*",
        attributes="""
            sym_name:name channel_dirs:dense:i32 channel_indices:dense:i32 lock_inits:dense:i32
            head_bd_ids:dense:i32? repeat_counts:dense:i32?
        """,
        traits="symbol",
        parents="aie.device",
    ),
    # sequences
    Op(
        "aie.bd_chain",
        "@sym_name !aie.Body()",
        attributes="sym_name:name",
        regions="body",
        traits="symbol",
    ),
    Op(
        "aie.runtime_sequence",
        "!aie.SequenceName() !aie.Body(attributes)",
        attributes="sym_name:name? emit_parameter_sync_preamble:bool?",
        regions="body",
        traits="symbol free",
        parents="aie.device",
    ),
    *TRACES,
)
