"""The trace operations of the aie dialect (AIETraceOps.td)."""

from __future__ import annotations

from ..definition import OpDefinition as Op

_END = "aie.end"

ROWS = (
    Op(
        "aie.trace",
        "@sym_name (%tile) {body} attrs",
        operands="tile:index",
        attributes="sym_name:name",
        regions="body",
        traits="symbol",
        terminator=_END,
        parents="aie.device",
    ),
    Op("aie.trace.mode", "$mode attrs", attributes="mode:TraceMode", parents="aie.trace"),
    Op(
        "aie.trace.event",
        "& $event [? label = $label ?] attrs",
        attributes="event:aie.trace_event label:str?",
        parents="aie.trace",
    ),
    Op(
        "aie.trace.packet",
        "[? id = $id ?] type = $type attrs",
        attributes="id:i32{1..31}? type:TracePacketType",
        parents="aie.trace",
    ),
    Op(
        "aie.trace.port",
        "<$slot> port = $port channel = $channel direction = $direction attrs",
        attributes="slot:i32{0..7} port:WireBundle channel:i32 direction:DMAChannelDir",
        parents="aie.trace",
    ),
    *(
        Op(
            f"aie.trace.{end}",
            "!aie.Event() attrs",
            attributes="broadcast:i32? event:aie.trace_event?",
            parents="aie.trace",
        )
        for end in ("start", "stop")
    ),
    Op(
        "aie.trace.config",
        "@sym_name (%tile) [? packet_type = $packet_type ?] {body} attrs",
        operands="tile:index",
        attributes="sym_name:name packet_type:TracePacketType?",
        regions="body",
        traits="symbol",
        terminator=_END,
        parents="aie.device",
    ),
    Op(
        "aie.trace.reg",
        "register = $reg_name [? field = $field ?] value = !aie.RegisterValue() "
        "[? mask = $mask ?] [? comment = $comment ?] attrs",
        attributes="reg_name:str field:str? value:any mask:i32? comment:str?",
        parents="aie.trace.config",
    ),
    Op(
        "aie.trace.combo_event",
        "<$slot> $eventA $logic $eventB attrs",
        attributes="slot:i32 eventA:aie.trace_event logic:ComboLogic eventB:aie.trace_event",
        parents="aie.trace",
    ),
    Op(
        "aie.trace.edge_event",
        "<$slot> event = $event trigger = $trigger attrs",
        attributes="slot:i32 event:aie.trace_event trigger:EdgeTrigger",
        parents="aie.trace",
    ),
    Op(
        "aie.trace.host_config",
        "attrs",
        attributes="""
            buffer_size:i32 reuse_output_buffer:bool=false routing:TraceShimRouting=0
            egress_shim_col:i32=0 arg_idx:i32?
        """,
        parents="aie.runtime_sequence aiex.runtime_sequence",
    ),
    Op(
        "aie.trace.start_config",
        "$trace_config attrs",
        attributes="trace_config:sym",
    ),
)
