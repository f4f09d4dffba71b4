"""Whose a module or function is: the user's, an installed package's, Python's, or ours."""

from __future__ import annotations

import functools
import os
import sys
import types

_OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def is_user_code(module: str | None, code: types.CodeType) -> bool:
    """Whether a function is the user's: not of Python, not of an installed package, not ours."""
    if module is not None and module.partition(".")[0] == "iron":
        return False
    return not _is_installed(code.co_filename)


@functools.lru_cache(maxsize=4096)
def is_user_file(file: str) -> bool:
    """Whether a file lies outside of Python, of the installed packages and of this one."""
    path = os.path.abspath(file)
    return not (path.startswith(_OURS) or _is_installed(path))


def _is_installed(path: str) -> bool:
    # Also in an environment that this one borrows from, or in the user's own.
    if "/site-packages/" in path or "/dist-packages/" in path:
        return True
    return path.startswith(_installed_roots())


def is_user_module(name: str) -> bool:
    """Whether a module is the user's."""
    top = name.partition(".")[0]
    if top == "iron" or top in sys.builtin_module_names:
        return False
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is None:
        return name == "__main__" or top not in sys.stdlib_module_names
    return is_user_file(file)


@functools.cache
def _installed_roots() -> tuple[str, ...]:
    roots = {os.path.dirname(os.__file__)}
    site = sys.modules.get("site")  # loaded at the start of Python, unless that was asked not to
    if site is not None:
        roots |= {*site.getsitepackages(), site.getusersitepackages()}
    else:
        import sysconfig

        paths = sysconfig.get_paths()
        roots |= {paths[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(sorted({os.path.join(p, "") for r in roots for p in (r, os.path.realpath(r))}))


@functools.cache
def package_version(top: str) -> str:
    """What tells one installation of a package from another: its version, else its file's stamp."""
    module = sys.modules.get(top)
    version = getattr(module, "__version__", None)
    if isinstance(version, str):
        return version
    file = getattr(module, "__file__", None)
    if not file:
        return "builtin"
    stat = os.stat(file)
    return f"{stat.st_size}:{stat.st_mtime_ns}"
