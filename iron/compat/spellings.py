"""What ``aie.iron`` has that iron spells differently, or not at all.

Each name is iron's own thing with a wider door: it takes the spelling of August 2026, which is
iron's, and the older ones. Which spelling a design uses is seen at its calls.
"""

from __future__ import annotations

from .march.design import Buffer, ObjectFifo, ObjectFifoHandle, Program, Runtime, Worker
from .march.jit import jit

__all__ = ["Buffer", "ObjectFifo", "ObjectFifoHandle", "Program", "Runtime", "Worker", "jit"]
