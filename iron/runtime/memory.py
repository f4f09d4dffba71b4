"""Memory that other processes can map: what tensors of the host target live in.

Knows nothing of tensors and of workers.
"""

from __future__ import annotations

import itertools
import mmap
import os
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

_identities = itertools.count(1)


class SharedBuffer:
    """Anonymous shared memory of `nbytes` bytes, zeroed, freed with its last reference.

    `fd` can be handed to another process; `array` is a view of all bytes (np.uint8) that keeps
    the memory alive; `identity` tells two buffers of a process apart and is never used again.
    """

    __slots__ = ("__weakref__", "_finalizer", "array", "fd", "identity", "nbytes")

    def __init__(self, nbytes: int) -> None:
        if nbytes < 0:
            raise ValueError(f"a buffer cannot have {nbytes} bytes")
        self.nbytes = nbytes
        self.identity = next(_identities)
        self.fd = _anonymous_file(max(nbytes, 1))
        self._finalizer = weakref.finalize(self, os.close, self.fd)
        mapped = mmap.mmap(self.fd, max(nbytes, 1))
        # The array holds the mapping; the mapping goes when the last view of it goes.
        self.array: npt.NDArray[np.uint8] = np.frombuffer(mapped, dtype=np.uint8)[:nbytes]

    def slice(self, offset: int, nbytes: int) -> SharedSlice:
        """`nbytes` bytes from byte `offset` on; ValueError when they are not all inside."""
        if offset < 0 or nbytes < 0 or offset + nbytes > self.nbytes:
            raise ValueError(
                f"bytes {offset} to {offset + nbytes} are not inside a buffer of {self.nbytes}"
            )
        return SharedSlice(self, offset, nbytes)

    def __repr__(self) -> str:
        return f"SharedBuffer({self.nbytes})"


@dataclass(frozen=True)
class SharedSlice:
    """A part of a buffer, in bytes; keeps the buffer alive."""

    buffer: SharedBuffer
    offset: int
    nbytes: int

    @property
    def array(self) -> npt.NDArray[np.uint8]:
        return self.buffer.array[self.offset : self.offset + self.nbytes]


def _anonymous_file(nbytes: int) -> int:
    """A descriptor of `nbytes` bytes of memory without a name in any directory."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("iron", os.MFD_CLOEXEC)
    else:
        import tempfile

        fd, path = tempfile.mkstemp(prefix="iron-")
        os.unlink(path)
    os.ftruncate(fd, nbytes)
    return fd
