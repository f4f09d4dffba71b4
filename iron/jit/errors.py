"""What can go wrong between a generator and a loaded design, besides what it is called with."""

from __future__ import annotations


class GenerationError(Exception):
    """A generator that does not give a design."""


class ReloadError(Exception):
    """An edited source file that cannot be taken over into the running process."""


class ExportError(Exception):
    """A design that cannot be exported as asked, or a directory that holds no exported one."""
