"""The aiex dialect: runtime sequences, NPU instructions, scratchpad parameters (AIEX.td).

As in `aie`, a name that is an operand and an attribute moved from the one to the other in 2026.
"""

from __future__ import annotations

from ..definition import OpDefinition as Op

_END = "aie.end"
_SEQUENCE = "aie.runtime_sequence aiex.runtime_sequence aiex.configure"
_PORT = "bundle:WireBundle channel:i32"
_PLACE = "buffer:sym? column:i32? row:i32?"
_TASK = "issue_token:bool=false repeat_count:i32=0"
_SYNC = ("column", "row", "direction", "channel", "column_num", "row_num")
_BD_WORDS = (
    *("column", "bd_id", "buffer_length", "buffer_offset", "enable_packet", "out_of_order_id"),
    *("packet_id", "packet_type", "d0_size", "d0_stride", "d1_size", "d1_stride", "d2_size"),
    *("d2_stride", "iteration_current", "iteration_size", "iteration_stride", "next_bd", "row"),
    *("use_next_bd", "valid_bd", "lock_rel_val", "lock_rel_id", "lock_acq_enable"),
    *("lock_acq_val", "lock_acq_id", "d0_zero_before", "d1_zero_before", "d2_zero_before"),
    *("d0_zero_after", "d1_zero_after", "d2_zero_after"),
)


def _written(name: str, *words: str) -> Op:
    """A register write: its words are operands, or attributes in the older spelling."""
    return Op(
        f"aiex.npu.{name}",
        f"[? ({', '.join(f'%{w}' for w in words)}) ?] attrs "
        f"[? : {', '.join(f'type({w})' for w in words)} ?]",
        operands=" ".join(f"{w}:i32&" for w in words),
        attributes=" ".join(f"{w}:ui32?" for w in words) + f" {_PLACE}",
    )


def _named_region(name: str, head: str, attributes: str, region: str = "body") -> Op:
    return Op(
        f"aiex.{name}",
        f"{head} {{{region}}} attrs",
        attributes=attributes,
        regions=region,
        terminator=_END,
    )


ROWS = (
    # runtime sequences
    Op(
        "aiex.runtime_sequence",
        "!aie.SequenceName() !aie.Body(attributes)",
        attributes="sym_name:name?",
        regions="body",
        traits="symbol free",
        parents="aie.device",
    ),
    Op(
        "aiex.configure",
        "$symbol {body} attrs",
        attributes="symbol:sym expand_mode:ExpandMode?",
        regions="body",
        traits="free",
        parents="aie.runtime_sequence aiex.runtime_sequence",
    ),
    Op(
        "aiex.run",
        "$runtime_sequence_symbol (%args) : (type(args)) attrs",
        operands="args:any*",
        attributes="runtime_sequence_symbol:sym",
        parents="aiex.configure",
    ),
    Op(
        "aiex.dma_configure_task",
        "(%tile, $direction, $channel [? , $packet ?]) "
        "[? repeat %repeat_count_val : type(repeat_count_val) ?] "
        "[? bd_id %bd_id_val : type(bd_id_val) ?] {body} attrs",
        operands="tile:index repeat_count_val:i32? bd_id_val:i32?",
        attributes=f"direction:DMAChannelDir channel:i32 packet:aie.packet_info? {_TASK}",
        results="result:index",
        regions="body",
    ),
    Op(
        "aiex.dma_configure_task_for",
        "$alloc [? repeat %repeat_count_val : type(repeat_count_val) ?] {body} attrs",
        operands="repeat_count_val:i32?",
        attributes=f"alloc:symref {_TASK}",
        results="result:index",
        regions="body",
    ),
    *(
        Op(f"aiex.dma_{verb}_task", "(%task) attrs", operands="task:index")
        for verb in ("free", "start", "await")
    ),
    Op(
        "aiex.dma_bd_pool_pop",
        "($column, $row) attrs : type(bd_id)",
        attributes="column:i32 row:i32",
        results="bd_id:i32",
    ),
    Op(
        "aiex.dma_bd_pool_push",
        "($column, $row) bd_id %bd_id attrs : type(bd_id)",
        operands="bd_id:i32",
        attributes="column:i32 row:i32",
    ),
    Op(
        "aiex.dma_start_bd_chain",
        "$symbol (%args) : (type(args)) on (%tile, $direction, $channel) attrs",
        operands="args:any* tile:index",
        attributes=f"symbol:sym direction:DMAChannelDir channel:i32 {_TASK}",
        results="result:index",
        parents=_SEQUENCE,
    ),
    Op(
        "aiex.dma_start_bd_chain_for",
        "$symbol (%args) : (type(args)) for $alloc attrs",
        operands="args:any*",
        attributes=f"symbol:sym alloc:sym {_TASK}",
        results="result:index",
        parents=_SEQUENCE,
    ),
    Op(
        "aiex.set_lock",
        "(%lock, $value) attrs",
        operands="lock:index",
        attributes="value:i32",
        parents=_SEQUENCE,
    ),
    Op(
        "aiex.dma_channel_reset",
        "(%tile, $direction, $channel) attrs",
        operands="tile:index",
        attributes="direction:DMAChannelDir channel:i32",
        parents=_SEQUENCE,
    ),
    Op(
        "aiex.dma_channel_reset_for",
        "($objfifo) attrs",
        attributes="objfifo:sym",
        parents=_SEQUENCE,
    ),
    Op("aiex.core_reset", "(%tile) attrs", operands="tile:index", parents=_SEQUENCE),
    # scratchpad parameters
    Op(
        "aiex.scratchpad_parameter",
        "@sym_name : $type attrs",
        attributes="""
            sym_name:name type:type state_table_idx:ui8? kind:ScratchpadParameterKind?
        """,
        traits="symbol",
    ),
    Op(
        "aiex.read_scratchpad_parameter",
        "$parameter : type(result) attrs",
        attributes="parameter:sym buffer:sym?",
        results="result:any",
    ),
    Op("aiex.sync_scratchpad_parameters_from_host", "attrs", parents=_SEQUENCE),
    # NPU instructions
    Op(
        "aiex.npu.dma_memcpy_nd",
        "(%memref & !common.Indices(offsets, static_offsets) & "
        "!common.Indices(sizes, static_sizes) "
        "& !common.Indices(strides, static_strides) [? , packet = $packet ?]) attrs : type(memref)",
        operands="memref:memref offsets:i64* sizes:i64* strides:i64*",
        attributes="""
            static_offsets:dense:i64 static_sizes:dense:i64 static_strides:dense:i64
            packet:aie.packet_info? metadata:symref id:i64 issue_token:bool=false
            d0_zero_before:i64=0 d1_zero_before:i64=0 d2_zero_before:i64=0
            d0_zero_after:i64=0 d1_zero_after:i64=0 d2_zero_after:i64=0 burst_length:i64=0
            offset_parameter:sym? offset_state_table_idx:ui8?
        """,
    ),
    Op("aiex.npu.dma_wait", "attrs", attributes="symbol:sym"),
    Op(
        "aiex.npu.rtp_write",
        "($buffer, $index, !aie.ValueOr(value, value)) attrs [? : type(value) ?]",
        operands="value:i32?",
        attributes="buffer:sym index:ui32 value:i32?",
    ),
    Op(
        "aiex.npu.push_queue",
        "($column, $row, $direction : $channel) [? bd_id %bd_id repeat %repeat_count ?] attrs "
        "[? : type(bd_id), type(repeat_count) ?]",
        operands="repeat_count:i32& bd_id:i32&",
        attributes="""
            column:i32 row:i32 direction:DMAChannelDir channel:i32 issue_token:bool
            repeat_count:i32? bd_id:i32?
        """,
    ),
    _written("write32", "address", "value"),
    _written("maskwrite32", "address", "value", "mask"),
    Op(
        "aiex.npu.assert_bd_field",
        "(%value) attrs : type(value)",
        operands="value:i32",
        attributes="max:i32",
    ),
    Op(
        "aiex.npu.assert_bd_divisible",
        "(%value) attrs : type(value)",
        operands="value:i32",
        attributes="divisor:i32 allow_unit:unit?",
    ),
    Op(
        "aiex.npu.blockwrite",
        "(%data) attrs : type(data)",
        operands="data:memref",
        attributes=f"address:ui32 {_PLACE}",
    ),
    Op(
        "aiex.npu.sync",
        f"[? ({', '.join(f'%{w}' for w in _SYNC)}) ?] attrs [? : type(operands) ?]",
        operands=" ".join(f"{w}:i32&" for w in _SYNC),
        attributes=" ".join(f"{w}:i32?" for w in _SYNC),
    ),
    Op(
        "aiex.npu.address_patch",
        "[? (%arg_plus : type(arg_plus)) ?] [? addr %addr_val : type(addr_val) ?] attrs",
        operands="addr_val:i32? arg_plus:i32&",
        attributes="addr:ui32 arg_idx:i32 arg_plus:i32?",
    ),
    Op("aiex.npu.preempt", "attrs", attributes="level:ui8"),
    Op("aiex.npu.create_scratchpad", "attrs", attributes="size:ui32 usage_type:ui8=0"),
    Op(
        "aiex.npu.update_from_scratchpad",
        "[? <$func> ?] attrs",
        attributes=f"""
            state_table_idx:ui8 func:StateTableFunc=1 func_arg:ui32=0 address:ui32 {_PLACE}
        """,
    ),
    Op(
        "aiex.control_packet",
        "attrs",
        attributes="address:ui32 length:i32? opcode:i32 stream_id:i32 data:dense:i32?",
    ),
    Op(
        "aiex.npu.writebd",
        "attrs",
        attributes=" ".join(f"{w}:i32" for w in _BD_WORDS) + " burst_length:i32=0",
    ),
    Op(
        "aiex.npu.load_pdi",
        "attrs",
        attributes="device_ref:sym? id:i32=0 size:i32=0 address:ui64=0 expand_mode:ExpandMode?",
    ),
    # older abstractions of routes and copies
    *(
        Op(
            f"aiex.{name}",
            "(%tile, $bundle : $channel) {ports} attrs",
            operands="tile:index",
            attributes=_PORT,
            regions="ports",
            terminator=_END,
        )
        for name in ("multicast", "broadcast_packet")
    ),
    *(
        Op(
            f"aiex.{name}",
            "<%tile, $bundle : $channel> attrs",
            operands="tile:index",
            attributes=_PORT,
            parents=parent,
        )
        for name, parent in (("multi_dest", "aiex.multicast"), ("bp_dest", "aiex.bp_id"))
    ),
    _named_region("bp_id", "($ID)", "ID:i8", "ports"),
    Op("aiex.token", "($value) attrs", attributes="value:i32 sym_name:str?", traits="symbol"),
    Op(
        "aiex.useToken",
        "$tokenName ($action, $value) attrs",
        attributes="tokenName:sym value:i32 action:LockAction",
    ),
    Op(
        "aiex.memcpy",
        "$tokenName ($acqValue, $relValue) (%srcTile : <%srcBuf, $srcOffset, $srcLen>, "
        "%dstTile : <%dstBuf, $dstOffset, $dstLen>) attrs : (type(srcBuf), type(dstBuf))",
        operands="srcTile:index srcBuf:memref dstTile:index dstBuf:memref",
        attributes="""
            tokenName:sym acqValue:i32 relValue:i32 srcOffset:i32 srcLen:i32 dstOffset:i32
            dstLen:i32
        """,
    ),
    # control code for the microcontroller (CERTOps.td)
    _named_region("cert.uc_dma_chain", "[? @sym_name ?]", "sym_name:name?"),
    Op(
        "aiex.cert.uc_dma_bd",
        "$remote_address, $local_address, $length, $next_bd attrs",
        attributes="remote_address:sym local_address:i32 length:i32 next_bd:bool",
        parents="aiex.cert.uc_dma_chain",
    ),
    _named_region("cert.page", "", attributes=""),
    _named_region("cert.job", "($job_id)", "job_id:i32"),
    _named_region("cert.section", "@sym_name", "sym_name:name"),
    _named_region("cert.attach_to_group", "($group_id)", "group_id:i32"),
    *(
        Op(
            f"aiex.cert.{name}",
            f"({', '.join('$' + w.partition(':')[0] for w in words.split())}) attrs",
            attributes=words,
            parents="aiex.cert.job",
        )
        for name, words in (
            ("write32", "address:ui32 value:ui32"),
            ("maskwrite32", "address:ui32 mask:ui32 value:ui32"),
            ("apply_offset_57", "symbol:sym num_entries:i16 offset:i16"),
            ("wait_tcts", "tile_id:i32 channel_id:i32 target_tcts:i32"),
            ("uc_dma_write_des_sync", "symbol:sym"),
            ("local_barrier", "local_barrier_id:i32 num_participants:i32"),
            ("remote_barrier", "remote_barrier_id:i32 party_mask:i32"),
            ("preempt", "id:i32 save_section:sym restore_section:sym"),
            ("load_pdi", "pdi_id:ui32 symbol:sym"),
        )
    ),
    Op("aiex.cert.nop", "attrs"),
)
