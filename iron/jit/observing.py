"""Sees what a generator reads while it runs: `observing` is the scope.

Opened files and listed directories come from an audit hook, put in when the first generator of
the process runs and one comparison outside of a scope. What raises no audit event (environment
variables, questions about files, the working directory) is seen by stand-ins that are in place
while some generator runs and pass on everybody else's questions. Which thread is generating is
told by a context variable, so that what other threads do meanwhile is nobody's.

What cannot be looked at again later (sockets, processes, written files, random numbers, threads)
is a reason not to record what the generator said.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from .observed import Observation, state_of
from .usercode import is_user_file, is_user_module

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_UNSEEN = (
    "socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn",
    "os.startfile", "pty.", "_thread.start_", "ctypes.", "sqlite3.", "urllib.", "http.",
    "os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate",
    "os.chdir", "os.putenv", "os.unsetenv", "tempfile.", "shutil.", "builtins.input",
)  # fmt: skip
"""Audit events, or how they begin, of what has effects or depends on what nobody can look up."""


class Observer:
    """What one run of a generator has read so far, and why it cannot be recorded if it cannot."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], tuple[str, Any]] = {}
        self._modules: list[str] = []
        self._reasons: dict[str, None] = {}

    def saw(self, kind: str, name: str) -> None:
        """Something was read: its state is taken down before the reader gets to see it."""
        if (kind, name) not in self._seen:
            with unobserved():
                self._seen[kind, name] = (state_of(kind, name), _stamp(kind, name))

    def imported(self, module: str) -> None:
        self._modules.append(module)

    def cannot(self, reason: str) -> None:
        self._reasons[reason] = None

    @property
    def loaded(self) -> frozenset[str]:
        """Modules that were imported while it ran."""
        return frozenset(self._modules)

    def observations(self) -> list[Observation]:
        """Everything read, user modules loaded meanwhile included, in order."""
        for module in self._modules:
            file = getattr(sys.modules.get(module), "__file__", None)
            if isinstance(file, str) and is_user_module(module):
                self._found(module, file)
        return [Observation(*name, state) for name, (state, _) in self._seen.items()]

    def _found(self, module: str, file: str) -> None:
        """A user module: its file, and that no place searched before has one of its name."""
        self.saw("file", file)
        for place in sys.path if "." not in module else ():
            name = os.path.join(place, module)
            if os.path.dirname(file) in (os.path.abspath(place), os.path.abspath(name)):
                break
            for candidate in (f"{name}.py", os.path.join(name, "__init__.py")):
                if _is_users(candidate):
                    self.saw("kind", candidate)

    def reasons(self) -> list[str]:
        """Why what was said cannot be recorded, with what changed under the reader's hands."""
        changed = [
            f"{Observation(kind, name, state).called} changed while it was read"
            for (kind, name), (state, stamp) in self._seen.items()
            if (state_of(kind, name), _stamp(kind, name)) != (state, stamp)
        ]
        return [*self._reasons, *changed]


def _stamp(kind: str, name: str) -> Any:
    """What differs even when a file was changed and changed back."""
    if kind != "file":
        return None
    try:
        s = os.stat(name)
    except (OSError, ValueError):
        return None
    return (s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns)


_observer: ContextVar[Observer | None] = ContextVar("iron_observer", default=None)
_lock = threading.RLock()
_running = 0
_hooked = False
_taken_out: list[tuple[Any, str, Any]] = []


def is_observed() -> bool:
    """Whether this code runs inside of a generator that is observed."""
    return _observer.get() is not None


@contextlib.contextmanager
def unobserved() -> Iterator[None]:
    """What happens inside is not the generator's."""
    token = _observer.set(None)
    try:
        yield
    finally:
        _observer.reset(token)


@contextlib.contextmanager
def observing() -> Iterator[Observer]:
    """Everything this thread reads inside is seen. Scopes of other threads may overlap."""
    observer, random = Observer(), _random_states()
    _enter()
    token = _observer.set(observer)
    try:
        yield observer
    finally:
        _observer.reset(token)
        _leave()
    for name, before in random.items():
        if _random_states().get(name) != before:
            observer.cannot(f"it drew from the random numbers of {name}")


def _enter() -> None:
    global _running, _hooked
    with _lock:
        if not _hooked:
            sys.addaudithook(_heard)
            _hooked = True
        if _running == 0:
            _put_in()
        _running += 1


def _leave() -> None:
    global _running
    with _lock:
        _running -= 1
        if _running == 0:
            _take_out()


def _after_fork() -> None:
    """Other threads, and with them their scopes, are not in the child."""
    global _lock, _running
    _lock = threading.RLock()
    _running = 1 if is_observed() else 0
    if _running == 0:
        _take_out()


os.register_at_fork(after_in_child=_after_fork)


# ---- events


def _heard(event: str, arguments: tuple[Any, ...]) -> None:
    if not _running:
        return
    observer = _observer.get()
    if observer is None:
        return
    if event == "import":
        observer.imported(arguments[0])
    elif event in ("open", "os.listdir", "os.scandir") and _is_import_system():
        return  # which module it found is what counts
    elif event == "open":
        _opened(observer, *arguments)
    elif event in ("os.listdir", "os.scandir"):
        path = _path(arguments[0] if arguments[0] is not None else ".")
        if path is not None and _is_users(path):
            observer.saw("listing", path)
    elif event.startswith(_UNSEEN):
        what = next((a for a in arguments if isinstance(a, str)), "")
        observer.cannot(f"it does what raises {event} {what}".rstrip())


def _is_import_system() -> bool:
    """Whether who asks is Python's own search for modules."""
    frame = sys._getframe(2)
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _opened(observer: Observer, path: Any, mode: Any, flags: int = 0) -> None:
    name = _path(path)
    if name is None or f"{os.sep}__pycache__{os.sep}" in name or not _is_users(name):
        return
    writes = flags & _WRITING or (isinstance(mode, str) and set(mode) & set("wax+"))
    if writes:
        observer.cannot(f"it opens {name} for writing")
        return
    observer.saw("file", name)
    with unobserved():
        if state_of("kind", name) == "special file":
            observer.cannot(f"it reads {name}, which is no plain file")


def _path(path: Any) -> str | None:
    """As text; None for a descriptor, whose opening was seen."""
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else None


def _is_users(path: str) -> bool:
    with unobserved():
        return is_user_file(os.path.abspath(path))


# ---- what raises no events


class _ObservedEnvironment(os._Environ):  # type: ignore[type-arg]
    """What ``os.environ`` is while a generator runs: the same, and what is read is told."""

    def __getitem__(self, key: Any) -> Any:
        _tell("variable", os.fsdecode(key) if isinstance(key, (str, bytes)) else "")
        return super().__getitem__(key)

    def __iter__(self) -> Iterator[Any]:
        _tell("environment", "")
        return super().__iter__()

    def __len__(self) -> int:
        _tell("environment", "")
        return super().__len__()

    def __repr__(self) -> str:
        _tell("environment", "")
        return super().__repr__()


def _tell(kind: str, name: str) -> None:
    observer = _observer.get()
    if observer is not None:
        observer.saw(kind, name)


def _asking(kind: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A question about a file, told before it is answered."""

    def ask(path: Any, *more: Any, **named: Any) -> Any:
        observer = _observer.get()
        if observer is not None:
            name = _path(path)
            if name is not None and _is_users(name):
                observer.saw(kind, name)
        return original(path, *more, **named)

    return ask


def _current_directory(original: Callable[[], str]) -> Callable[[], str]:
    def getcwd() -> str:
        _tell("directory", "")
        return original()

    return getcwd


def _thread_start(original: Callable[[threading.Thread], None]) -> Callable[..., None]:
    def start(thread: threading.Thread) -> None:
        observer = _observer.get()
        if observer is not None:
            observer.cannot("it starts a thread, whose reads are not seen")
        original(thread)

    return start


def _random_bytes(original: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def urandom(size: int, /) -> bytes:
        observer = _observer.get()
        if observer is not None:
            observer.cannot("it takes random bytes of the system")
        return original(size)

    return urandom


_QUESTIONS = {
    "kind": ("exists", "isfile", "isdir"),
    "link": ("lexists", "islink"),
    "times": ("getsize", "getmtime", "getatime", "getctime"),
}


def _put_in() -> None:
    import pathlib

    for environment in (os.environ, os.environb):
        if type(environment) is os._Environ:
            _replace(environment, "__class__", _ObservedEnvironment)
    for kind, names in _QUESTIONS.items():
        for name in names:
            _replace(os.path, name, _asking(kind, getattr(os.path, name)))
    _replace(pathlib.Path, "stat", _asking("times", pathlib.Path.stat))
    _replace(os, "getcwd", _current_directory(os.getcwd))
    _replace(threading.Thread, "start", _thread_start(threading.Thread.start))
    _replace(os, "urandom", _random_bytes(os.urandom))
    if "random" in sys.modules:
        random = sys.modules["random"]
        _replace(random, "_urandom", _random_bytes(random._urandom))


def _replace(place: Any, name: str, value: Any) -> None:
    _taken_out.append((place, name, getattr(place, name)))
    setattr(place, name, value)


def _take_out() -> None:
    while _taken_out:
        setattr(*_taken_out.pop())


def _random_states() -> dict[str, Any]:
    """The states of the generators that everybody shares, of the modules that are loaded."""
    states: dict[str, Any] = {}
    if "numpy" in sys.modules:
        import numpy.random  # noqa: F401 - loaded by a generator it would begin anywhere
    if "random" in sys.modules:
        states["random"] = sys.modules["random"].getstate()
    if "numpy.random" in sys.modules:
        kind, words, *rest = sys.modules["numpy.random"].get_state()
        states["numpy.random"] = (kind, words.tobytes(), *rest)
    return states
