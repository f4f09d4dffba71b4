"""Designs by file and name: loads a Python file that defines one, for tools outside of it."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator

from .callable import CallableDesign

_lock = threading.RLock()


class NoSuchDesign(Exception):
    """A file that cannot be read as Python, or does not define the design asked for."""


def load_design(path: str, name: str | None = None) -> CallableDesign:
    """The design `name` of the Python file `path`; without a name, the only one it defines.

    The file runs as a module (not as ``__main__``), once for each state of its text. NoSuchDesign
    says what the file defines instead.
    """
    path = os.path.abspath(path)
    try:
        with open(path, "rb") as f:
            content = f.read()
    except OSError as e:
        raise NoSuchDesign(f"{path}: {e.strerror}") from e
    module_name = f"_iron_script_{hashlib.sha256(path.encode() + content).hexdigest()[:16]}"
    with _lock:
        module = sys.modules.get(module_name)
        if module is None:
            spec = importlib.util.spec_from_file_location(module_name, path)
            if spec is None or spec.loader is None:
                raise NoSuchDesign(f"{path} is not a Python file")
            module = importlib.util.module_from_spec(spec)
            sys.modules[module_name] = module
            try:
                with beside(path):
                    spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[module_name]
                raise
    designs = {k: v for k, v in vars(module).items() if isinstance(v, CallableDesign)}
    own = {k: v for k, v in designs.items() if v.__module__ == module_name}
    if name is not None and name in designs:
        return designs[name]
    if name is None and len(own) == 1:
        return next(iter(own.values()))
    found = ", ".join(own) or "none"
    asked = f"no design {name!r}" if name is not None else "not exactly one design"
    raise NoSuchDesign(f"{path} defines {asked}; functions made by iron.jit: {found}")


@contextlib.contextmanager
def beside(path: str) -> Iterator[None]:
    """Modules next to `path` can be imported inside the ``with``, as when it runs as a script."""
    directory = os.path.dirname(path)
    sys.path.insert(0, directory)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(directory)
