"""Errors of designs: what was asked, what was found, on which line of the user's."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from design_parts import TILE, WHOLE, copy_program, line

from iron.design import (
    AnyMemTile,
    AnyShimTile,
    Buffer,
    IronRuntimeError,
    Lock,
    ObjectFifo,
    Program,
    Runtime,
    ScopeError,
    Task,
    TaskGroup,
    TensorAccessPattern,
    Tile,
    Worker,
    WorkerRuntimeBarrier,
    range_,
    sync_parameters,
)
from iron.design.devices import NPU2Col1

RTP = np.ndarray[(4,), np.dtype[np.int32]]


def resolve(sequence, args=(), workers=()):
    return Program(NPU2Col1(), Runtime(sequence, list(args)), list(workers)).resolve_program()


def run_in_core(body):
    copy_program(lambda i, o: body()).resolve_program()


def fed(name="in"):
    """A fifo with a core at its end."""
    fifo = ObjectFifo(TILE, name=name)
    return fifo, Worker(lambda x: None, [fifo.cons()])


# Verbs in the wrong place --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        (lambda f: f.prod().acquire(1), r"acquire\(\) of ObjectFifo f belongs into a core"),
        (lambda f: f.cons().release(1), r"release\(\) of ObjectFifo f belongs into a core"),
        (lambda f: Lock(Tile(0, 2)).acquire(), r"Lock.acquire\(\) belongs into a core"),
        (lambda f: WorkerRuntimeBarrier().wait_for_value(1), "belongs into a core"),
        (lambda f: f.prod().fill(None), r"No active runtime sequence: fill\(\) of ObjectFifo f"),
        (lambda f: f.cons().drain(None), r"No active runtime sequence: drain\(\) of"),
        (lambda f: TaskGroup(), r"No active runtime sequence: TaskGroup\(\)"),
        (lambda f: WorkerRuntimeBarrier().set(1), "No active runtime sequence"),
        (lambda f: Task(None).free(), "No active runtime sequence"),
        (lambda f: sync_parameters(), "No active runtime sequence"),
        (lambda f: Buffer(RTP)[0], "outside of a core"),
    ],
)
def test_verbs_outside_of_a_design(verb, message):
    with pytest.raises(ScopeError, match=message) as fault:
        verb(ObjectFifo(TILE, name="f"))
    assert isinstance(fault.value, RuntimeError)
    assert "core_fn" in str(fault.value) or "Runtime(seq_fn, fn_args)" in str(fault.value)


def test_buffers_before_a_design_are_attribute_errors_too():
    with pytest.raises(AttributeError, match="fn_args of a Worker"):
        Buffer(RTP)[0] = 1


def test_sequence_verbs_in_a_core():
    fifo = ObjectFifo(TILE, name="f")
    with pytest.raises(ScopeError, match=r"the core of Worker .*is being traced here"):
        run_in_core(lambda: fifo.prod().fill(None))


def test_core_verbs_in_a_sequence():
    fifo, w = fed()
    with pytest.raises(ScopeError, match="a runtime sequence is being traced here"):
        resolve(lambda: fifo.cons().acquire(1), workers=[w])


# Fifos ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, -1, 3])
@pytest.mark.parametrize("verb", ["acquire", "release"])
def test_counts_beyond_the_depth(verb, count):
    fifo = ObjectFifo(TILE, name="f", depth=2)
    for handle in (fifo.prod(), fifo.cons()):
        with pytest.raises(ValueError, match=rf"{verb}.*ObjectFifo f"):
            getattr(handle, verb)(count)


def test_counts_are_numbers():
    with pytest.raises(TypeError, match="takes an int"):
        ObjectFifo(TILE).prod().acquire("1")


@pytest.mark.parametrize("depth", [0, -1])
def test_depths_are_at_least_one(depth):
    with pytest.raises(ValueError, match="at least 1"):
        ObjectFifo(TILE, depth=depth)
    for end in (ObjectFifo(TILE).cons, ObjectFifo(TILE).prod):
        with pytest.raises(ValueError, match="at least 1"):
            end(depth=depth)


def test_a_depth_must_come_from_somewhere():
    fifo = ObjectFifo(TILE, depth=None, name="f")
    with pytest.raises(ValueError, match="f has no depth of its own"):
        fifo.cons()
    assert fifo.cons(depth=4).depth == 4


@pytest.mark.parametrize("count", [0, 257, 1.5])
def test_iter_count_has_a_range(count):
    with pytest.raises(ValueError, match=r"\[1, 256\]"):
        ObjectFifo(TILE).set_iter_count(count)


def test_the_producer_is_pinned_once():
    fifo = ObjectFifo(TILE, name="f")
    handle = fifo.prod(channel=1, tile=Tile(0, 0))
    at = line() - 1
    assert fifo.prod() is fifo.prod(channel=1, tile=Tile(0, 0)) is handle
    with pytest.raises(ValueError, match="pinned to channel 1") as fault:
        fifo.prod(channel=0)
    assert f"{__file__}:{at}" in str(fault.value)
    with pytest.raises(ValueError, match="pinned to shim tile"):
        fifo.prod(tile=Tile(1, 0))


def test_consumers_are_new_each_time():
    fifo = ObjectFifo(TILE)
    assert fifo.cons() is not fifo.cons()


def test_links_need_the_right_end():
    fifo = ObjectFifo(TILE, name="f")
    with pytest.raises(ValueError, match=r"Cannot join\(\) a cons"):
        fifo.cons().join([0])
    with pytest.raises(ValueError, match=r"Cannot split\(\) a prod"):
        fifo.prod().split([0])
    with pytest.raises(ValueError, match="Cannot forward a prod"):
        fifo.prod().forward()


@pytest.mark.parametrize(
    "what",
    ["depths", "obj_types", "names", "dims_to_stream", "dims_from_stream", "repeat_counts"],
)
@pytest.mark.parametrize("verb", ["split", "join"])
def test_lists_of_links_have_one_entry_per_offset(verb, what):
    fifo = ObjectFifo(TILE, name="f")
    handle = fifo.cons() if verb == "split" else fifo.prod()
    with pytest.raises(ValueError, match=f"Number of {what} does not match number of offsets"):
        getattr(handle, verb)([0, 8], **{what: [None]})


def test_a_handle_is_linked_once():
    handle = ObjectFifo(TILE, name="f").cons()
    handle.forward()
    at = line() - 1
    with pytest.raises(ValueError, match=r"already linked at .*call .cons\(\) again") as fault:
        handle.split([0])
    assert f"{__file__}:{at}" in str(fault.value)


def test_links_are_no_steps():
    fifo = ObjectFifo(TILE, name="f")
    with pytest.raises(ScopeError, match="belong outside of core_fn and seq_fn"):
        run_in_core(lambda: fifo.cons().forward())


def test_a_worker_is_called_after_its_function():
    at = line() + 1
    w = Worker(functools.partial(print, 1))
    assert w.label == f"Worker partial ({__file__}:{at})"
    assert Worker(None).label.startswith("Worker without a core_fn")


def test_a_fifo_without_a_producer():
    fifo, w = fed()
    with pytest.raises(ValueError, match="has no producer") as fault:
        resolve(lambda: None, workers=[w])
    assert f"{__file__}:{fifo.where.line}" in str(fault.value)


def test_a_fifo_without_a_consumer():
    fifo = ObjectFifo(TILE, name="f")
    with pytest.raises(ValueError, match=r"'f' \(.*has no consumer"):
        resolve(lambda a: fifo.prod().fill(a), [WHOLE])


def test_a_consumer_nobody_uses():
    fifo, w = fed()
    fifo.cons()
    at = line() - 1
    with pytest.raises(ValueError, match=r"used by nobody.*workers") as fault:
        resolve(lambda a: fifo.prod().fill(a), [WHOLE], [w])
    assert f"{__file__}:{at}" in str(fault.value)


def test_one_handle_for_two_workers():
    fifo = ObjectFifo(TILE, name="f")
    handle = fifo.cons()
    a, b = (Worker(lambda x: None, [handle]) for _ in range(2))
    with pytest.raises(ValueError, match=r"used by Worker .* and by Worker .*\.cons\(\) once"):
        resolve(lambda d: fifo.prod().fill(d), [WHOLE], [a, b])


def test_two_producers():
    fifo = ObjectFifo(TILE, name="f")
    w = Worker(lambda x: None, [fifo.prod()])
    with pytest.raises(ValueError, match="a fifo has one producer"):
        resolve(lambda d: fifo.prod().fill(d), [WHOLE], [w])


def test_two_parts_of_one_name():
    a, v = fed("same")
    b, w = fed("same")

    def sequence(d):
        a.prod().fill(d)
        b.prod().fill(d)

    with pytest.raises(ValueError, match="'same'") as fault:
        resolve(sequence, [WHOLE], [v, w])
    assert str(fault.value).count(__file__) == 2


def test_the_host_drains_a_fifo_in_one_way():
    fifo = ObjectFifo(TILE, name="f")
    w = Worker(lambda x: None, [fifo.prod()])

    def sequence(a):
        fifo.cons().drain(a, wait=True)
        fifo.cons().drain(a, wait=True)
        fifo.cons(depth=4).drain(a, wait=True)

    with pytest.raises(ValueError, match="two different handles"):
        resolve(sequence, [WHOLE], [w])


@pytest.mark.parametrize("place", ["Worker", "Runtime"])
def test_a_whole_fifo_in_place_of_an_end(place):
    fifo = ObjectFifo(TILE, name="f")
    with pytest.raises(ValueError, match=r"pass f\.prod\(\) or f\.cons\(\)") as fault:
        Worker(lambda x: None, [[fifo]]) if place == "Worker" else Runtime(lambda x: None, [fifo])
    assert f"{__file__}:{fifo.where.line}" in str(fault.value)


# Tiles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", [AnyMemTile, AnyShimTile])
def test_workers_need_compute_tiles(tile):
    with pytest.raises(ValueError, match="Worker requires a compute tile"):
        Worker(None, tile=tile)


def test_the_host_needs_shim_tiles():
    fifo, w = fed()
    with pytest.raises(ValueError, match="requires a shim tile"):
        resolve(lambda a: fifo.prod(tile=AnyMemTile).fill(a), [WHOLE], [w])


# Transfers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tap": TensorAccessPattern((4, 16), 0, [1], [1]), "offset": 1}, "not both"),
        ({"sizes": [1] * 5, "strides": [1] * 5}, "at most 4 dimensions, got 5"),
        ({"sizes": [1, 2], "strides": [1]}, "2 sizes but 1 strides"),
        ({"sizes": [65], "strides": [1]}, r"element 64 of a tensor of shape \(64,\)"),
        ({"offset": 64}, "element 64"),
        ({"sizes": [2, 16], "strides": [49, 1]}, "element 64"),
        ({"sizes": [0], "strides": [1]}, "sizes are at least 1"),
        ({"sizes": [1], "strides": [-1]}, "strides and offset at least 0"),
    ],
)
def test_access_patterns_that_cannot_be(options, message):
    fifo, w = fed()
    with pytest.raises(ValueError, match=message) as fault:
        resolve(lambda a: fifo.prod().fill(a, **options), [WHOLE], [w])
    assert "fill() of ObjectFifo in" in str(fault.value)


def test_what_is_moved_is_the_sequences_own_tensor():
    fifo, w = fed()
    with pytest.raises(ValueError, match=r"tensor argument.*found array"):
        resolve(lambda a: fifo.prod().fill(np.zeros(4)), [WHOLE], [w])
    kept = []
    resolve(lambda a: (kept.append(a), fifo.prod().fill(a)), [WHOLE], [w])
    with pytest.raises(ValueError, match="another runtime sequence"):
        resolve(lambda a: fifo.prod().fill(kept[0]), [WHOLE], [w])


def test_fill_and_drain_take_their_own_ends():
    fifo, w = fed()
    with pytest.raises(ValueError, match=r"fill\(\) of ObjectFifo in needs a producer"):
        resolve(lambda a: fifo.cons().fill(a), [WHOLE], [w])
    with pytest.raises(ValueError, match=r"drain\(\) of ObjectFifo in needs a consumer"):
        resolve(lambda a: fifo.prod().drain(a), [WHOLE], [w])


def test_groups_left_open():
    fifo, w = fed()

    def sequence(a):
        fifo.prod().fill(a, group=TaskGroup())
        at.append(line() - 1)

    at: list[int] = []
    with pytest.raises(IronRuntimeError, match="Failed to close task groups") as fault:
        resolve(sequence, [WHOLE], [w])
    assert f"{__file__}:{at[0]}" in str(fault.value)


def test_groups_are_used_throughout_or_not_at_all():
    fifo, w = fed()

    def sequence(a):
        group = TaskGroup()
        fifo.prod().fill(a, group=group)
        fifo.prod().fill(a)
        group.finish()

    with pytest.raises(IronRuntimeError, match="Mixing explicit task groups"):
        resolve(sequence, [WHOLE], [w])
    rt = Runtime(sequence, [WHOLE], strict_task_groups=False)
    Program(NPU2Col1(), rt, [w]).resolve_program()


def test_a_group_that_is_finished():
    fifo, w = fed()

    def sequence(a):
        group = TaskGroup()
        group.finish()
        fifo.prod().fill(a, group=group)

    with pytest.raises(IronRuntimeError, match="finished already"):
        resolve(sequence, [WHOLE], [w])


def test_a_transfer_cannot_be_awaited_outside_of_its_loop():
    fifo, w = fed()

    def sequence(a):
        for _ in range_(2):
            at.append(line() + 1)
            fifo.prod().fill(a)

    at: list[int] = []
    with pytest.raises(IronRuntimeError, match="outside of it") as fault:
        resolve(sequence, [WHOLE], [w])
    assert str(fault.value).startswith(f"{__file__}:{at[0]}")


def test_an_unmanaged_transfer_has_no_group():
    fifo, w = fed()
    with pytest.raises(ValueError, match="managed=False belongs to no TaskGroup"):
        resolve(lambda a: fifo.prod().fill(a, managed=False, group=TaskGroup()), [WHOLE], [w])


# Buffers and barriers ------------------------------------------------------------------------


def test_a_buffer_of_two_workers_needs_a_tile():
    shared = Buffer(RTP, name="shared")
    ws = [Worker(lambda b: None, [shared]) for _ in range(2)]
    with pytest.raises(ValueError, match="no explicit tile and is shared across Workers") as fault:
        resolve(lambda: None, workers=ws)
    assert f"{__file__}:{shared.where.line}" in str(fault.value)


def test_parameters_are_written_only_where_declared():
    plain = Buffer(RTP, name="plain")
    w = Worker(lambda b: None, [plain])
    with pytest.raises(ValueError, match="use_write_rtp=True"):
        resolve(lambda b: b.__setitem__(0, 1), [plain], [w])
    with pytest.raises(ScopeError, match="cannot be read in a runtime sequence"):
        resolve(lambda b: b[0], [plain], [w])


@pytest.mark.parametrize(("index", "error"), [(4, IndexError), ((0, 0), TypeError)])
def test_parameters_have_bounds(index, error):
    b = Buffer(RTP, name="b", use_write_rtp=True)
    w = Worker(lambda b: None, [b])
    with pytest.raises(error, match="'b'"):
        resolve(lambda b: b.__setitem__(index, 1), [b], [w])


def test_a_buffer_that_lies_nowhere():
    b = Buffer(RTP, name="b", use_write_rtp=True)
    with pytest.raises(ValueError, match="lies nowhere"):
        resolve(lambda b: b.__setitem__(0, 1), [b])


@pytest.mark.parametrize(
    ("type", "value", "message"),
    [
        (None, None, "provide a type"),
        (RTP, np.zeros(3, np.int32), r"shape \(3,\), the type \(4,\)"),
        (RTP, np.zeros(4, np.float32), "is float32, the type int32"),
    ],
)
def test_a_buffer_and_its_value_fit(type, value, message):
    with pytest.raises(ValueError, match=message):
        Buffer(type, initial_value=value)


def test_a_barrier_nobody_takes():
    with pytest.raises(ScopeError, match="no Worker of this design takes the barrier"):
        resolve(lambda b: b.set(1), [WorkerRuntimeBarrier()])


# Programs ------------------------------------------------------------------------------------


def test_a_program_needs_a_device():
    with pytest.raises(ValueError, match="Program requires a device"):
        Program(None, Runtime(lambda: None))


def test_workers_are_workers():
    with pytest.raises(TypeError, match="workers are Workers, found 3"):
        Program(NPU2Col1(), Runtime(lambda: None), [3])


def test_a_failed_resolve_leaves_nothing_behind():
    """After an error the ambient design is gone and the same parts resolve."""
    fail = [True]
    fifo, w = fed()

    def sequence(a):
        if fail[0]:
            raise KeyError("mine")
        fifo.prod().fill(a)

    with pytest.raises(KeyError):
        resolve(sequence, [WHOLE], [w])
    with pytest.raises(ScopeError):
        fifo.prod().acquire(1)
    fail[0] = False
    resolve(sequence, [WHOLE], [w])
