"""``aie.utils``' way of running what was built: kernels by path, runtimes, handles, results."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.bundle import Bundle
from ..runtime.errors import HostRuntimeError
from ..runtime.host import HostKernel, RunReport
from ..runtime.makers import tensor
from ..runtime.tensor import COHERENCE_GRANULE as COHERENCE_GRANULE
from ..runtime.tensor import Tensor

if TYPE_CHECKING:
    from .trace import TraceConfig

__all__ = [
    "DEFAULT_TENSOR_CLASS",
    "CPUOnlyTensor",
    "DefaultNPURuntime",
    "HostRuntime",
    "HostRuntimeError",
    "KernelHandle",
    "KernelResult",
    "NPUKernel",
    "NpuTensor",
    "bfloat16_safe_allclose",
    "cleanup_npu_runtime",
    "has_hrx",
    "has_xrt",
]

KernelHandle = HostKernel
KernelResult = RunReport
NpuTensor = CPUOnlyTensor = DEFAULT_TENSOR_CLASS = Tensor
has_xrt = False
has_hrx = False


class NPUKernel:
    """A built design by its paths; calling it with tensors runs it.

    On the host target `xclbin_path` is what ``compile(xclbin_path=...)`` wrote, or a package
    directory; `insts_path` is accepted. FileNotFoundError at the first run when it is not there.
    """

    def __init__(
        self,
        xclbin_path: str | os.PathLike[str] | None = None,
        insts_path: str | os.PathLike[str] | None = None,
        device_index: int = 0,
        kernel_name: str = "MLIR_AIE",
        trace_config: TraceConfig | None = None,
        num_host_bos: int | None = None,
        elf_path: str | os.PathLike[str] | None = None,
    ) -> None:
        if xclbin_path is None and elf_path is None:
            raise ValueError("NPUKernel needs the path of a built design: pass xclbin_path")
        self.xclbin_path = xclbin_path
        self.insts_path = insts_path
        self.elf_path = elf_path
        self.kernel_name = kernel_name
        self.trace_config = trace_config
        self.num_host_bos = num_host_bos

    @property
    def built(self) -> str | os.PathLike[str]:
        """The path that says what runs."""
        path = self.elf_path if self.xclbin_path is None else self.xclbin_path
        assert path is not None
        return path

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[HostKernel, RunReport]:
        return DefaultNPURuntime.load_and_run(self, list(args), **kwargs)


class HostRuntime:
    """Loads and runs built designs on the host target."""

    def __init__(self) -> None:
        self._loaded: dict[tuple[str, int, int], tuple[Bundle, HostKernel]] = {}

    def load(self, npu_kernel: NPUKernel, **kwargs: Any) -> HostKernel:
        """The running kernel of a built design; one that was written anew is loaded anew."""
        path = os.path.abspath(npu_kernel.built)
        if not os.path.exists(path):
            raise FileNotFoundError(f"no built design at {path}")
        stat = os.stat(path)
        key = (path, stat.st_mtime_ns, stat.st_size)
        if key not in self._loaded:
            bundle = Bundle(path)
            self._loaded[key] = (bundle, HostKernel(bundle.directory, name=npu_kernel.kernel_name))
        return self._loaded[key][1]

    def run(
        self,
        kernel_handle: HostKernel,
        args: Sequence[Any],
        trace_config: Any = None,
        **kwargs: Any,
    ) -> RunReport:
        """Run it with tensors (or NumPy arrays, which results are copied back to) and numbers;
        HostRuntimeError when they are not as many, not as large or not of the dtypes it takes."""
        from ..jit.arguments import Arguments
        from ..jit.signature import ScalarParameter, Signature, TensorParameter

        names = [f"argument {i}" for i in range(len(args))]
        tensors = tuple(
            ScalarParameter(n) if _is_number(a) else TensorParameter(n, "InOut")
            for n, a in zip(names, args, strict=True)
        )
        try:
            expected = Arguments.read(
                kernel_handle.package_dir, Signature(kernel_handle.name, "", tensors, ())
            )
            buffers = expected.check([_tensor(a) for a in args])
        except TypeError as e:
            raise HostRuntimeError(kernel_handle.name, str(e)) from None
        report = kernel_handle.run(buffers.given)
        buffers.copy_back()
        return report

    def load_and_run(
        self, npu_kernel: NPUKernel, run_args: Sequence[Any], **kwargs: Any
    ) -> tuple[HostKernel, RunReport]:
        handle = self.load(npu_kernel)
        return handle, self.run(handle, run_args, **kwargs)

    def device(self) -> Any:
        """The current device."""
        from ..design.current import get_current_device

        return get_current_device()

    def cleanup(self) -> None:
        """End everything that runs; a later run starts it again."""
        for _, kernel in self._loaded.values():
            kernel.close()
        self._loaded.clear()

    def run_test(
        self,
        npu_kernel: NPUKernel,
        io_args: Sequence[Any],
        ref: Mapping[int, Any],
        verify: bool = True,
        verbosity: int = 0,
    ) -> int:
        """Run, and compare the arguments that `ref` names by position; how many elements differ."""
        self.load_and_run(npu_kernel, io_args)
        return self.verify_results(io_args, ref, verbosity) if verify else 0

    @classmethod
    def verify_results(
        cls, io_args: Sequence[Any], refs: Mapping[int, Any] | None = None, verbosity: int = 0
    ) -> int:
        """How many elements differ from `refs`, position by position."""
        errors = 0
        for position, expected in (refs or {}).items():
            actual = np.asarray(io_args[position])
            wrong = int(np.sum(actual != np.asarray(expected).reshape(actual.shape)))
            if wrong:
                print(f"argument {position}: {wrong} of {actual.size} elements differ")
            errors += wrong
        return errors


DefaultNPURuntime = HostRuntime()
"""The one that NPUKernel uses. It holds nothing until something runs."""


def _tensor(argument: Any) -> Any:
    kept = isinstance(argument, (Tensor, np.ndarray)) or _is_number(argument)
    return argument if kept else tensor(argument)


def _is_number(argument: Any) -> bool:
    return isinstance(argument, (int, float, np.number))


def cleanup_npu_runtime() -> None:
    DefaultNPURuntime.cleanup()


def bfloat16_safe_allclose(dtype: Any, arr1: Any, arr2: Any) -> bool:
    """``np.allclose``, with bfloat16 compared as float32 within a sixteenth."""
    import ml_dtypes

    if np.dtype(dtype) != np.dtype(ml_dtypes.bfloat16):
        return bool(np.allclose(arr1, arr2))
    left, right = (np.asarray(a).astype(np.float32) for a in (arr1, arr2))
    return bool(np.allclose(left, right, rtol=0.0625, atol=0.0625))
