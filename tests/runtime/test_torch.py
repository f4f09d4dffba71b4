"""Tensors and torch, where torch is installed. What the bridge asks of it is in test_tensor.py."""

import ml_dtypes
import numpy as np
import pytest

import iron

torch = pytest.importorskip("torch")

DTYPES = ["int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64", "bfloat16",
          "uint16", "uint32", "bool"]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_goes_both_ways(name):
    kind = ml_dtypes.bfloat16 if name == "bfloat16" else np.dtype(name)
    ours = iron.tensor(np.arange(12).reshape(3, 4).astype(kind))
    theirs = ours.to_torch()
    assert (theirs.dtype, tuple(theirs.shape)) == (getattr(torch, name), (3, 4))
    assert theirs.to(torch.float64).tolist() == ours.numpy().astype(float).tolist()
    back = iron.Tensor.from_torch(theirs)
    assert back.dtype == ours.dtype
    assert back.numpy().tobytes() == ours.numpy().tobytes()
    ours[0, 0] = 1
    assert float(theirs[0, 0]) == 1  # one memory
    assert float(back.numpy()[0, 0]) == 0  # a copy


def test_what_torch_writes_is_seen_and_views_are_parts():
    ours = iron.zeros(64, dtype=np.int32)
    view = ours.subview(64, (4, 4))
    view.torch_view().fill_(5)
    assert ours.numpy()[16:32].tolist() == [5] * 16
    assert ours.numpy().sum() == 80
    view.torch_view()[1:, 2] = torch.tensor([7, 8, 9], dtype=torch.int32)
    assert ours.numpy()[[22, 26, 30]].tolist() == [7, 8, 9]


def test_tensors_of_any_layout_and_with_gradients_are_copied():
    theirs = torch.arange(6.0).reshape(2, 3).T
    theirs.requires_grad_()
    assert not theirs.is_contiguous()
    ours = iron.Tensor.from_torch(theirs, device="cpu")
    assert ours.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
    assert ours.device == "cpu"
    empty = iron.Tensor.from_torch(torch.zeros(0, 3))
    assert empty.shape == (0, 3)
    assert iron.Tensor.from_torch(torch.tensor(3, dtype=torch.int16)).shape == ()
