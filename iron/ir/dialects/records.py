"""The record attributes of the AIE dialect: their fields, in order (AIEAttrs.td).

A field without a name is the record's only value.
"""

from __future__ import annotations

RECORDS: dict[str, tuple[str, ...]] = {
    "aie.bd_dim_layout": ("size", "stride"),
    "aie.bd_pad_layout": ("const_pad_before", "const_pad_after"),
    "aie.packet_info": ("pkt_type", "pkt_id"),
    "aie.bd_iteration": ("size", "stride", "current"),
    "aie.trace_event": ("",),
}
