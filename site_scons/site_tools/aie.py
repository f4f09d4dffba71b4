"""``Environment(tools=["aie"])``: the builders of `iron.scons`."""

from iron.scons import exists, generate

__all__ = ["exists", "generate"]
