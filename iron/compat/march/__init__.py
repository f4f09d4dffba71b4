"""The spellings before August 2026, as thin adapters over iron's own classes.

`design`: ``Runtime()`` with ``rt.sequence``, ``rt.fill``, ``rt.drain``, ``rt.start``; positional
depth; ``placement=``; a placer given to ``resolve_program``. `jit`: generators that receive the
tensors themselves, ``is_placed``. `text`: the MLIR of March 2026.
"""
