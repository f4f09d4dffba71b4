"""Tensors against the NumPy arrays they stand for."""

import gc
import sys
import types

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import iron
from iron.runtime.makers import tensor_class
from iron.runtime.tensor import COHERENCE_GRANULE, Tensor

DTYPES = [np.int8, np.uint8, np.int16, np.int32, np.int64, np.float32, ml_dtypes.bfloat16]


@pytest.mark.parametrize("dtype", DTYPES)
def test_makers_give_what_numpy_gives(dtype):
    def same(made, wanted):
        assert made.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(made.numpy(), np.asarray(wanted, dtype=dtype))

    same(iron.zeros(2, 3, dtype=dtype), np.zeros((2, 3)))
    same(iron.ones((2, 3), dtype=dtype), np.ones((2, 3)))
    same(iron.full([4], 7, dtype=dtype), np.full(4, 7))
    same(iron.full(4, 7, dtype=dtype), np.full(4, 7))
    same(iron.arange(3, 9, 2, dtype=dtype), [3, 5, 7])
    same(iron.arange(6, shape=(2, 3), dtype=dtype), [[0, 1, 2], [3, 4, 5]])
    same(iron.tensor([[1, 2], [3, 4]], dtype=dtype), [[1, 2], [3, 4]])
    same(iron.tensor((3,), dtype=dtype), [0, 0, 0])
    same(iron.zeros_like(iron.ones(5, dtype=dtype)), np.zeros(5))


def test_dtypes_that_are_not_given_are_those_of_torch_and_of_the_data():
    assert iron.zeros(2).dtype == iron.ones(2).dtype == iron.rand(2).dtype == np.float32
    assert iron.arange(3).dtype == iron.randint(0, 2, (3,)).dtype == np.int64
    assert iron.arange(0, 1, 0.5).dtype == np.float32
    assert iron.tensor((3,)).dtype == np.uint32
    assert iron.tensor(np.array([1.5, -1], np.float32)).numpy().tolist() == [1.5, -1.0]


def test_generators_make_the_same_numbers_again_and_so_does_numpys_seed():
    for make in (
        lambda g: iron.randint(-5, 50, (64,), dtype=np.int32, generator=g),
        lambda g: iron.rand(64, generator=g),
    ):
        one, two = (make(np.random.default_rng(3)).numpy() for _ in range(2))
        np.testing.assert_array_equal(one, two)
        np.random.seed(11)
        three = make(None).numpy().copy()
        np.random.seed(11)
        np.testing.assert_array_equal(three, make(None).numpy())
    with pytest.raises(ValueError, match=r"\[0, 300\) is out of bounds for int8"):
        iron.randint(0, 300, (4,), dtype=np.int8)


def test_a_uniform_number_is_never_rounded_up_to_one():
    class Highest:
        def random(self, shape):
            return np.full(shape, np.nextafter(1.0, 0.0))

    for dtype in (np.float32, ml_dtypes.bfloat16):
        assert (iron.rand(8, dtype=dtype, generator=Highest()).numpy().astype(np.float64) < 1).all()
    with pytest.raises(ValueError, match="no arguments"):
        iron.rand()


def test_out_is_written_when_it_fits_and_refused_when_not():
    out = iron.zeros(4, dtype=np.int32)
    assert iron.arange(4, out=out) is out
    assert out.numpy().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"out is a tensor of shape \(4,\)"):
        iron.ones(5, out=out)
    with pytest.raises(ValueError, match="dtype int32"):
        iron.ones(4, out=out, dtype=np.float32)


@given(st.data())
def test_a_view_is_that_slice_of_the_bytes(data):
    dtype = np.dtype(data.draw(st.sampled_from([np.int8, np.int16, np.int32])))
    lines = data.draw(st.integers(1, 6))
    whole = iron.zeros(lines * COHERENCE_GRANULE, dtype=np.uint8)
    whole[:] = np.arange(whole.nbytes, dtype=np.uint8)
    first = data.draw(st.integers(0, lines - 1))
    last = data.draw(st.integers(first + 1, lines))
    begin, end = first * COHERENCE_GRANULE, last * COHERENCE_GRANULE
    view = whole.subview(begin, ((end - begin) // dtype.itemsize,), dtype)
    np.testing.assert_array_equal(view.numpy(), whole.numpy()[begin:end].view(dtype))
    view[0] = 77
    assert whole.numpy()[begin : begin + dtype.itemsize].view(dtype)[0] == 77
    assert (view.base, view.storage_offset, view.is_view) == (whole, begin, True)
    assert (view.storage, view.buffer.nbytes) == (whole.storage, end - begin)


def test_views_of_views_belong_to_the_owner_and_keep_its_memory():
    whole = iron.zeros(64, dtype=np.int32)
    inner = whole.subview(64, (32,)).subview(64, (4, 4))
    inner[1, 0] = 9
    assert whole.numpy()[16 + 16 + 4] == 9
    assert inner.base is whole
    assert inner.storage_offset == 128
    del whole
    gc.collect()
    assert inner[1, 0] == 9


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((32, (16,)), ValueError, "not aligned.*bytes 32 to 96"),
        ((0, (20,)), ValueError, "not aligned"),
        ((-64, (16,)), ValueError, "out of bounds for a buffer of 256 bytes"),
        ((192, (32,)), ValueError, "out of bounds"),
        ((1.5, (16,)), TypeError, "integer number of bytes"),
    ],
)
def test_a_view_that_shares_a_line_or_leaves_the_buffer_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        iron.zeros(64, dtype=np.int32).subview(*arguments)


def test_a_view_may_end_anywhere_when_the_tensor_ends_there():
    odd = iron.arange(25, dtype=np.int32)
    assert odd.subview(64, (9,)).numpy().tolist() == list(range(16, 25))
    assert odd.subview(0, 25).numpy().tolist() == list(range(25))


@pytest.mark.parametrize("scope", ["mutate", "overwrite"])
def test_the_array_of_a_write_scope_is_closed_with_it(scope):
    t = iron.zeros(4, dtype=np.int32)
    with getattr(t, scope)() as array:
        array[:] = [1, 2, 3, 4]
    assert t.numpy().tolist() == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 9
    t[0] = 9
    assert t.numpy()[0] == 9


def test_devices_by_name():
    t = iron.zeros(2, device="npu")
    assert t.device == "npu"
    assert t.to("cpu").device == t.device == "cpu"
    with pytest.raises(ValueError, match="Unsupported device: 'gpu'"):
        t.to("gpu")


def test_arrays_of_tensors():
    t = iron.arange(4, dtype=np.int32)
    assert np.asarray(t) is t.numpy()
    assert np.array(t, copy=True) is not t.numpy()
    assert np.asarray(t, dtype=np.float32).tolist() == [0, 1, 2, 3]
    assert (len(t), t.numel(), t.nbytes, t.element_size) == (4, 4, 16, 4)
    assert "device='npu'" in repr(t)
    with pytest.raises(TypeError, match="the data is int64 but dtype=int32"):
        iron.tensor(np.arange(3), dtype=np.int32)


def test_the_class_that_makers_make_can_be_chosen():
    class Own(Tensor):
        pass

    try:
        iron.set_tensor_class(Own)
        assert type(iron.zeros(2)) is type(iron.tensor([1])) is Own
        assert type(iron.zeros(64).subview(0, 64)) is Own
    finally:
        iron.set_tensor_class(Tensor)
    assert tensor_class() is Tensor
    with pytest.raises(ValueError, match="subclass of Tensor"):
        iron.set_tensor_class(dict)


class FakeTorchTensor:
    """As much of a torch tensor as the bridge uses."""

    def __init__(self, array, dtype=None):
        self.array, self.dtype = array, dtype or array.dtype

    def view(self, dtype):
        if dtype == "bfloat16":
            return FakeTorchTensor(self.array, "bfloat16")
        return FakeTorchTensor(self.array.view(np.uint16))

    def numpy(self):
        return self.array

    def detach(self):
        return self

    cpu = contiguous = detach


@pytest.fixture
def torch(monkeypatch):
    fake = types.ModuleType("torch")
    fake.from_numpy, fake.bfloat16, fake.uint16 = FakeTorchTensor, "bfloat16", "uint16"
    monkeypatch.setitem(sys.modules, "torch", fake)
    return fake


def test_torch_tensors_share_the_memory_and_come_back_as_copies(torch):
    t = iron.arange(4, dtype=np.int32)
    assert t.to_torch().array is t.numpy()
    t.torch_view().array[0] = 8
    assert t.numpy()[0] == 8
    back = Tensor.from_torch(FakeTorchTensor(t.numpy()))
    assert back.numpy().tolist() == t.numpy().tolist()
    assert back.numpy() is not t.numpy()


def test_torch_has_bfloat16_by_its_bits(torch):
    t = iron.tensor(np.array([1.5, -2], ml_dtypes.bfloat16))
    there = t.to_torch()
    assert there.dtype == "bfloat16"
    back = Tensor.from_torch(there)
    assert back.dtype == ml_dtypes.bfloat16
    assert back.numpy().tolist() == [1.5, -2.0]
