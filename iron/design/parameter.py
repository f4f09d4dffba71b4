"""Numbers the host writes before a run and cores read: scratchpad parameters."""

from __future__ import annotations

from typing import Any

from ..ir.attributes import SymbolRefAttr
from .context import here, in_core
from .dtypes import scalar_type
from .memory import wrap


class ScratchpadParameter:
    """A named number of a scalar dtype, shared by all devices of a module. Pass it in fn_args of a
    Worker and read it there, or as ``offset_parameter=`` of a transfer."""

    def __init__(self, name: str, dtype: Any) -> None:
        self._name = name
        self._dtype = dtype
        self._type = scalar_type(dtype)
        self.where = here()

    @property
    def name(self) -> str:
        """The name that host and cores know it by."""
        return self._name

    @property
    def dtype(self) -> Any:
        """The NumPy scalar class, as given."""
        return self._dtype

    def read(self) -> Any:
        """Its value, traced; in a core, ScopeError elsewhere."""
        context = in_core(f"ScratchpadParameter {self._name!r}.read()")
        context.parameters.setdefault(self._name, self)
        reference = {"parameter": SymbolRefAttr((self._name,))}
        op = context.create("aiex.read_scratchpad_parameter", (), [self._type], reference)
        return wrap(op.result)
