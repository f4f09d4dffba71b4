"""Parts that users write themselves, as mlir-aie's ``Resolvable``: an object with ``tiles()`` and
``resolve()`` among the arguments of a Worker.

``resolve()`` is called once per design, before any body is traced, and writes operations of
`placed` and its neighbours into the device. What it keeps of them, its own verbs use in the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.core import Block
from .context import DesignContext, Scope
from .tiles import Tile


def is_part(arg: Any) -> bool:
    """Whether an argument has something to say before the bodies do."""
    verbs = (getattr(arg, name, None) for name in ("tiles", "resolve"))
    return not isinstance(arg, type) and all(map(callable, verbs))


def resolve_parts(context: DesignContext, args: Sequence[Any]) -> tuple[Block, list[Tile]]:
    """What the parts among `args` write, each once, and the tiles that they name. TypeError for
    tiles that are none."""
    block, tiles = Block(), []
    for part in {id(a): a for a in args if is_part(a)}.values():
        name = type(part).__name__
        named = list(part.tiles())
        for tile in named:
            if not isinstance(tile, Tile):
                raise TypeError(f"{name}.tiles() gives Tiles, found {tile!r}")
        tiles += named
        with context.entered(Scope("device", part, name), block):
            part.resolve()
    return block, tiles
