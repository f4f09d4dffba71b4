"""Every documented name of mlir-aie's IRON API is there and is called as it is documented.

The table states the interface of August 2026: where a name is found here, and its parameters. A
parameter after ``*`` is given by keyword; a default that is an expression is compared by value.
"""

import ast
import importlib
import inspect

import ml_dtypes
import numpy as np
import pytest

import iron

EXPORTED = """
Buffer ExternalFunction Kernel Program Worker WorkerRuntimeBarrier Runtime TaskGroup RuntimeData
Task sync_parameters ObjectFifo PadDims StreamDims Acquire Bd BdIteration CascadeFlow DmaChannel
Flow Lock ScratchpadParameter PacketDest PacketFlow Release TileDma CompileTime In Out InOut
CompilableDesign CallableDesign compileconfig jit compile_context get_compile_arg tensor ones zeros
full randint rand arange zeros_like ceildiv set_tensor_class set_current_device get_current_device
ensure_current_device str_to_dtype dtype_to_str kernels algorithms
"""

FIFO = (
    "obj_type, *, depth=2, name=None, dims_to_stream=None, dims_from_stream_per_cons=None, "
    "plio=False, pad_dimensions=None, pad_value=0, disable_synchronization=False, "
    "repeat_count=None, delegate_tile=None, via_DMA=False, init_values=None, "
    "consumer_obj_type=None, aie_stream=None"
)
TRANSFER = (
    "tap=None, wait=False, packet=None, offset_parameter=None, group=None, sizes=None, "
    "strides=None, offset=None, transfer_len=None, managed=True"
)
PARTS = (
    "offsets, tile=AnyMemTile, depths=None, obj_types=None, names=None, dims_to_stream=None, "
    "dims_from_stream=None, plio=False, repeat_counts=None"
)
PORTS = "src_port=WireBundle.DMA, src_channel=0, dst_port=WireBundle.DMA, dst_channel=0"
PATHS = "xclbin_path=None, inst_path=None, elf_path=None, full_elf_path=None, pdi_path=None"
CONV = "input_width=32, input_channels=64, output_channels=64"
LINE = "line_width=1920, use_chess=False"
PIXELS = "line_width=1920, dtype=np.uint8, use_chess=False"
MADE = "out=None, dtype=None, device=None"

CALLED = f"""
iron Buffer: type=None, initial_value=None, name=None, tile=None, use_write_rtp=False, address=None
iron CascadeFlow: src, dst
iron Flow: src, dst, *, {PORTS}, shim_symbol=None
iron PacketDest: tile, port=WireBundle.DMA, channel=0
iron PacketFlow: pkt_id, src, dst, *, {PORTS}, extra_dsts=(), keep_pkt_header=False, \
shim_symbol=None
iron ObjectFifo: {FIFO}
iron ObjectFifo.set_iter_count: iter_count
iron ObjectFifo.prod: depth=None, channel=None, tile=None
iron ObjectFifo.cons: depth=None, dims_from_stream=None, channel=None, tile=None
iron ObjectFifo.tiles: cons_only=False
iron.design ObjectFifoHandle.acquire: num_elem
iron.design ObjectFifoHandle.release: num_elem
iron.design ObjectFifoHandle.fill: source, {TRANSFER}
iron.design ObjectFifoHandle.drain: dest, {TRANSFER}
iron.design ObjectFifoHandle.join: {PARTS}
iron.design ObjectFifoHandle.split: {PARTS}, pad_dimensions=None, pad_value=None
iron.design ObjectFifoHandle.forward: tile=AnyMemTile, obj_type=None, depth=None, name=None, \
dims_to_stream=None, dims_from_stream=None, plio=False, repeat_count=None, pad_dimensions=None, \
pad_value=0
iron Acquire: lock, value=1, greater_equal=True
iron Release: lock, value=1
iron BdIteration: size, stride, current=0
iron Bd: buffer, offset=0, length=None, acquires=?, releases=?, next="self", packet=None, sizes=?, \
strides=?, pad_dimensions=None, iteration=None
iron DmaChannel: direction, channel, bds, pad_value=0
iron TileDma: tile, channels
iron.design.devices from_name: name, *, n_cols=1
iron Device.get_tile_type: col, row
iron Tile: col=None, row=None, *, tile_type=None, allocation_scheme=None
iron Tile.copy:
iron Tile.with_type: tile_type, *, allocation_scheme=None, mismatch_msg=None
iron str_to_dtype: dtype_str
iron dtype_to_str: dtype
iron Kernel: name, object_file_name, arg_types=None, *, link_with_mode=None
iron Kernel.arg_shape: arg_index=0
iron Kernel.arg_dtype: arg_index=0
iron Kernel.tile_size: arg_index=0
iron Kernel.arg_types:
iron Kernel.__call__: *args, loc=None, ip=None
iron Buffer.tiles:
iron.design ObjectFifoHandle.all_of_endpoints:
iron ExternalFunction: name, object_file_name=None, source_file=None, source_string=None, \
arg_types=None, include_dirs=None, compile_flags=None, *, symbol_prefix=None, use_chess=False, \
inline=False
iron Lock: tile, lock_id=None, init=0, name=None
iron Lock.acquire: value=1
iron Lock.acquire_exact: value=1
iron Lock.release: value=1
iron Program: device, rt, workers=None
iron Program.enable_trace: trace_size=None, workers=None, reuse_output_buffer=False, \
coretile_events=None, coremem_events=None, memtile_events=None, shimtile_events=None, \
egress_shim_col=0, core_trace_mode=?
iron Program.resolve_program: device_name="main"
iron Runtime: seq_fn, fn_args=None, *, strict_task_groups=True
iron Runtime.add_flow: flow
iron Runtime.add_lock: lock
iron Runtime.add_tile_dma: tile_dma
iron sync_parameters:
iron TaskGroup: id=None
iron TaskGroup.finish:
iron Task.free:
iron Task.await_:
iron RuntimeData.default_tap:
iron ScratchpadParameter: name, dtype
iron ScratchpadParameter.read:
iron Worker: core_fn, fn_args=None, tile=AnyComputeTile, while_true=True, stack_size=None, \
allocation_scheme=None, trace=None, trace_events=None, dynamic_objfifo_lowering=None
iron Worker.grid: rows, cols, factory
iron WorkerRuntimeBarrier: initial_value=0
iron WorkerRuntimeBarrier.wait_for_value: value
iron WorkerRuntimeBarrier.set: value
iron WorkerRuntimeBarrier.release_with_value: value
iron range_: *args, iter_args=None, insert_yield=True, loc=None, ip=None
iron yield_: values=?
iron.algorithms transform: func, tensor_ty, *params, tile_size=16, trace_size=0
iron.algorithms transform_binary: func, tensor_ty, tile_size=16, trace_size=0
iron.algorithms transform_parallel: func, tensor_ty, *params, tile_size=16, trace_size=0, \
num_channels=1, pass_size_to_kernel=True
iron.algorithms transform_parallel_binary: func, tensor_ty, tile_size=16, trace_size=0, \
num_channels=1, pass_size_to_kernel=True
iron.algorithms for_each: func, tensor_ty, tile_size=16
iron.algorithms reduce: func, input_ty, output_ty, *, trace_size=0
iron.algorithms make_param_descriptor: tensor_ty
iron.algorithms row_at_a_time: of_in, of_out, *, n_rows, do_kernel, of_wts=None
iron.algorithms row_at_a_time_tiled: of_in, of_out, *, n_rows, n_tiles_per_row, do_kernel, \
of_wts=None
iron.algorithms row_at_a_time_with_skip: of_in, of_out, of_skip, *, n_rows, do_kernel, of_wts=None
iron.algorithms sliding_3row: of_in, of_out, *, n_out_rows, do_kernel, of_wts=None
iron.kernels passthrough: tile_size=4096, dtype=np.int32
iron.kernels scale: tile_size=1024, dtype=np.int32, vectorized=True, use_chess=False
iron.kernels add: tile_size=1024, dtype=bfloat16, vectorized=True
iron.kernels mul: tile_size=1024, dtype=bfloat16, vectorized=True
iron.kernels relu: tile_size=1024
iron.kernels reduce_add: tile_size=1024, dtype=np.int32, vectorized=True
iron.kernels reduce_min: tile_size=1024, dtype=np.int32, vectorized=True
iron.kernels reduce_max: tile_size=1024, dtype=np.int32, vectorized=True
iron.kernels compute_max: dtype=np.int32
iron.kernels softmax: tile_size=1024
iron.kernels gelu: tile_size=1024
iron.kernels silu: tile_size=1024
iron.kernels swiglu: tile_size=1024
iron.kernels bf16_exp: tile_size=1024
iron.kernels relu_ref: x
iron.kernels silu_ref: x
iron.kernels gelu_ref: x
iron.kernels bf16_exp_ref: x
iron.kernels softmax_ref: x, *, tile_size=1024
iron.kernels rgba2hue: {LINE}
iron.kernels gray2rgba: {LINE}
iron.kernels rgba2gray: {LINE}
iron.kernels filter2d: {LINE}
iron.kernels threshold: {PIXELS}
iron.kernels bitwise_or: {PIXELS}
iron.kernels bitwise_and: {PIXELS}
iron.kernels add_weighted: {PIXELS}
iron.kernels mm: dim_m=64, dim_k=64, dim_n=64, input_dtype=np.int16, output_dtype=np.int16, \
vectorized=True, b_col_maj=False, c_col_maj=False, use_chess=False, \
emulate_bf16_mmul_with_bfp16=False
iron.kernels mv: dim_m=32, dim_k=32, input_dtype=np.int16, output_dtype=np.int32, \
vectorized=True, use_chess=False
iron.kernels cascade_mm: dim_m=64, dim_k=64, dim_n=64, input_dtype=np.int16, \
output_dtype=np.int16, use_chess=False
iron.kernels conv2dk1: {CONV}, act_dtype=np.int8
iron.kernels conv2dk3: {CONV}, act_dtype=np.int8, weight_output_channels=None
iron.kernels conv2dk1_skip: {CONV}, act_dtype=np.int8
iron.kernels conv2dk1_i8: {CONV}
iron.kernels conv2dk14: input_width=224, input_channels=16, output_channels=16, kernel_width=14
iron.kernels conv2dk1_skip_init: {CONV}, act_dtype=np.int8, skip_input_channels=None
iron.kernels bn_conv2dk1_relu: {CONV}
iron.kernels bn_conv2dk3: {CONV}
iron.kernels bn_conv2dk1_i8: {CONV}
iron.kernels bn_conv2dk1_skip: {CONV}, skip_dtype=np.uint8
iron.kernels bn_conv2dk3_dw: {CONV}, stride=1
iron.kernels bn_conv2dk1_relu_xy_pool_padded: input_width=7, input_channels=80, \
output_channels=1280, weight_chunk_count=None
iron.kernels bn_conv2dk1_partial_put_i8: input_width=7, input_channels=80, weight_count=4800, *, \
block_index=13
iron.kernels bn_conv2dk1_partial_get_relu_i8: input_width=7, input_channels=80, \
output_channels=480, weight_count=4800, *, block_index=13
iron.kernels bn_conv2dk3_dw_out_split: input_width=7, input_channels=480, \
output_split_channels=240, *, block_index=13
iron.kernels bn_conv2dk1_input_split_partial_put_ui8: input_width=7, input_channels=240, \
weight_count=9600, *, block_index=13
iron.kernels bn_conv2dk1_input_split_partial_skip_get: input_width=7, input_channels=240, \
output_channels=80, weight_count=9600, *, block_index=13
iron.kernels bn_fc_relu_ui16_pad: input_channels=1280, output_channels=16, weight_chunk_count=None
iron.jit jit: mlir_generator=None, **kwargs
iron.jit compileconfig: mlir_generator=None, **kwargs
iron compile_context: **kwargs
iron get_compile_arg: key, default=None
iron CompilableDesign: mlir_generator, *, compile_kwargs=None, **options
iron CompilableDesign.specialize: **overrides
iron CompilableDesign.compile: {PATHS}
iron CompilableDesign.get_artifacts:
iron CompilableDesign.get_pdi_paths:
iron CompilableDesign.get_pdi_path: device_name=None
iron CompilableDesign.split_runtime_args: runtime_args, runtime_kwargs
iron CompilableDesign.generate_mlir:
iron CompilableDesign.validate_tensor_args: tensor_args
iron CompilableDesign.to_json:
iron CompilableDesign.from_json: json_str, generator=None
iron CallableDesign: mlir_generator, *, compile_kwargs=None, **options
iron CallableDesign.__call__: *tensors, **values
iron CallableDesign.specialize: **overrides
iron CallableDesign.compile: {PATHS}
iron CallableDesign.get_pdi_path: device_name=None
iron CallableDesign.get_pdi_paths:
iron CallableDesign.as_mlir: *tensors, **values
iron tensor: shape_or_data, dtype=None, device=None
iron zeros: *size, {MADE}
iron ones: *size, {MADE}
iron full: size, fill_value, *, {MADE}
iron rand: *size, {MADE}, generator=None
iron randint: low, high, size, *, {MADE}, generator=None
iron arange: start=0, end=None, step=1, *, shape=None, {MADE}
iron zeros_like: other, dtype=None, device=None
iron ceildiv: a, b
iron set_tensor_class: cls
iron set_current_device: device
iron get_current_device: *, probe_runtime=True
iron ensure_current_device: *, probe_runtime=True
iron Tensor.to: target_device
iron Tensor.mutate:
iron Tensor.overwrite:
iron Tensor.subview: offset, shape, dtype=None
iron Tensor.numpy:
iron Tensor.to_torch:
iron Tensor.torch_view:
iron Tensor.from_torch: torch_tensor, device=None
iron Tensor.fill_: value
iron Tensor.numel:
iron.verify nearly_equal: a, b, *, rtol=0.128, atol=None
iron.verify count_mismatches: actual, ref, *, rtol=0.128, atol=None, stop_at_nonfinite=True
iron.verify assert_pass: actual, expected, *, rtol=None, atol=None, fail_msg=None, print_pass=True
iron.verify assert_close_with_benchmark: actual, expected, *, bench, ops=None, gflops_fmt=".2f", \
float_rtol=0.05, float_atol=0.5, fail_msg=None, mismatch_indices=False
iron.benchmark run_iters: fn, *args, warmup=0, iters=1, **kwargs
iron.benchmark print_benchmark: result
"""

ATTRIBUTES = """
iron Buffer: tile shape dtype
iron.design ObjectFifo: depth dims_from_stream_per_cons dims_to_stream shape dtype obj_type
iron.design ObjectFifoHandle: name channel obj_type shape dtype handle_type depth dims_from_stream
iron PacketFlow: pkt_id
iron Device: cols rows arch resolve_tile
iron Kernel: object_file_name link_with_mode
iron Runtime: flows locks tile_dmas fifos
iron RuntimeData: shape dtype arr_type is_scalar
iron ScratchpadParameter: name dtype
iron Worker: tile flat_fn_args fifos buffers
iron Task: handle
iron TaskGroup: group_id
iron CompilableDesign: generator_name recipe_hash artifact_hash compile_params tensor_params \
scalar_params compile_kwargs mlir_generator
iron CallableDesign: trace_config _kernel_cache
iron Tensor: device base is_view storage storage_offset data shape dtype nbytes element_size
"""
"""Properties and attributes that instances have."""

KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.KEYWORD_ONLY: "keyword",
    inspect.Parameter.VAR_KEYWORD: "**",
}
MISSING = object()
WORDS = {
    "np": np, "bfloat16": ml_dtypes.bfloat16, "AnyMemTile": iron.AnyMemTile,
    "AnyComputeTile": iron.AnyComputeTile,
}  # fmt: skip
MORE = {"for_each": ["params"]}
"""Keywords that are ours besides."""


def found(module, path):
    value = importlib.import_module(module)
    for name in path.split("."):
        value = getattr(value, name)
    return value


def documented(text):
    """(name, kind, default) of each parameter, a default of ``?`` not compared."""
    text = text.replace("=?", "=...")
    text = text.replace("WireBundle.DMA", "1")
    arguments = ast.parse(f"def f({text}): pass").body[0].args
    defaults = [None] * (len(arguments.args) - len(arguments.defaults)) + arguments.defaults
    out = [(a.arg, "positional", d) for a, d in zip(arguments.args, defaults, strict=True)]
    if arguments.vararg:
        out.append((arguments.vararg.arg, "*", None))
    out += [
        (a.arg, "keyword", d)
        for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    ]
    if arguments.kwarg:
        out.append((arguments.kwarg.arg, "**", None))
    return [(n, k, MISSING if d is None else eval(ast.unparse(d), dict(WORDS))) for n, k, d in out]


ROWS = [line.partition(":") for line in CALLED.strip().splitlines()]


@pytest.mark.parametrize(
    ("where", "text"), [(head, text) for head, _, text in ROWS], ids=[r[0] for r in ROWS]
)
def test_it_is_called_as_documented(where, text):
    module, path = where.split()
    signature = inspect.signature(found(module, path))
    own = [p for p in signature.parameters.values() if p.name not in ("self",)]
    extra = MORE.get(path, [])
    own = [p for p in own if p.name not in extra]
    wanted = documented(text)
    names = lambda ps: [(n if "*" not in k else "", k) for n, k in ps]  # noqa: E731
    assert names([(p.name, KINDS[p.kind]) for p in own]) == names([(n, k) for n, k, _ in wanted])
    for parameter, (name, _, default) in zip(own, wanted, strict=True):
        if default is not ...:
            there = MISSING if parameter.default is parameter.empty else parameter.default
            assert there is default or there == default, name


@pytest.mark.parametrize("line", ATTRIBUTES.strip().splitlines(), ids=lambda s: s.split(":")[0])
def test_it_has_the_documented_attributes(line):
    head, _, names = line.partition(":")
    cls = found(*head.split())
    assert [n for n in names.split() if not hasattr(cls, n)] == []


def test_every_exported_name_is_there_and_listed():
    missing = [n for n in EXPORTED.split() if not hasattr(iron, n)]
    assert missing == []
    assert set(EXPORTED.split()) - {"kernels", "algorithms"} <= set(iron.__all__)
    assert all(hasattr(iron, n) for n in iron.__all__)


def test_options_of_a_design_are_keywords_of_it():
    given = {
        "use_cache": True, "compile_flags": ["-DX"], "source_files": [], "include_paths": [],
        "aiecc_flags": ["-v"], "object_files": [], "full_elf": False,
    }  # fmt: skip

    def design(a: iron.In): ...

    made = iron.CompilableDesign(design, **given)
    assert (made.compile_flags, made.aiecc_flags, made.use_cache) == (("-DX",), ("-v",), True)
    assert iron.CallableDesign(design, **given, trace_config=7).trace_config == 7
    with pytest.raises(TypeError, match="compile_flag"):
        iron.CompilableDesign(design, compile_flag=["-DX"])
