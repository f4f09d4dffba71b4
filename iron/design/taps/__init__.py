"""Access patterns: in which order the elements of a tensor are visited. Pure NumPy."""

from .pattern import TensorAccessPattern
from .sequence import TensorAccessSequence
from .tiler import TensorTiler2D

__all__ = ["TensorAccessPattern", "TensorAccessSequence", "TensorTiler2D"]
