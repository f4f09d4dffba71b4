"""From a recipe whose inputs exist to its result in the store: under a lock, in a work directory,
checked, published by one rename.

Any number of threads and processes may ask for one result at once: one of them runs the command.
Nothing is published unless the command succeeded, its outputs are there, it read nothing that the
key does not cover, and no input was written meanwhile.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import NoReturn

from . import account, depfile, log, steps
from .atomic import ensure_directory
from .cover import Reads, extras, split_reads
from .entry import Entry
from .environ import launcher
from .errors import BuildError, Cancelled, Failure, InputChanged
from .execute import Commands, Outcome
from .identity import FunctionTool, ProgramTool
from .keys import Keys, Unknown
from .recipe import Recipe, Text, ToolDir, render
from .scan import Source
from .store import PASSING, Store

# An output of one of these kinds is never empty; others (listings, logs) may be.
_NEVER_EMPTY = (".o", ".a", ".so", ".elf", ".ll", ".bc", ".mlir", ".bin", ".xclbin", ".pdi")
# How often given contents are put into a store that answers as PASSING says.
TRIES = 5


def ensure(keys: Keys, recipe: Recipe, commands: Commands) -> Entry:
    """The result of a recipe; the results it refers to are in the store.

    Raises BuildError, InputChanged (what the keys of this request say is no longer so),
    Cancelled.
    """
    store = keys.store
    key = keys.content(recipe)
    entry = store.get(key)
    if entry is not None:
        account.hit(keys, recipe, entry, "same content")
    else:
        with steps.making(store, key, recipe, commands.given_up, _waiter(recipe, commands)):
            entry = store.get(key)
            if entry is not None:
                account.hit(keys, recipe, entry, "made by another")
            else:
                entry = _perform(keys, recipe, key, commands)
    with suppress(OSError):  # only a shorter way to it
        store.alias(keys.leaf(recipe), key)
    return entry


def _waiter(recipe: Recipe, commands: Commands) -> Callable[[str], None]:
    """Tells people whom a step waits for."""

    def waiting(holder: str) -> None:
        import logging

        text = f"{recipe.describe()}: waiting for {holder}"
        commands.progress.say(text)
        logging.getLogger("iron.build").info("iron: %s", text)

    return waiting


def _perform(keys: Keys, recipe: Recipe, key: str, commands: Commands) -> Entry:
    put_texts(keys, recipe)
    with keys.store.scratch(key) as scratch:
        out, work = _prepare(scratch, recipe)
        argv = command_line(keys, recipe, below(recipe, out))
        if recipe.scan:
            argv += _scan_options(keys, recipe, work, "-MD")
        if recipe.staged:
            work = out
            _stage(keys, recipe, work)
        outcome = _run(keys, recipe, argv, work, commands)
        settled_by = keys.again()
        if outcome.status != 0:
            # An input in the middle of being saved is no fault of the user's.
            _check_unchanged(keys, settled_by, recipe, key)
        account.ran(keys, recipe, key, argv, outcome, _why(keys, key))
        if outcome.status != 0:
            _fail(keys.store, recipe, key, scratch, argv, outcome, _verdict(recipe, outcome))
        for problem in _output_problems(recipe, out):
            _fail(keys.store, recipe, key, scratch, argv, outcome, problem)
        if recipe.scan:
            _check_reads(keys, recipe, key, scratch, argv, outcome)
        _check_unchanged(keys, settled_by, recipe, key)
        notes = {
            "argv": [argument.replace(scratch, "<scratch>") for argument in argv],
            "inputs": keys.files(recipe),
            "seconds": [f"{outcome.seconds:.6f}"],
            "label": [recipe.label],
            "where": [recipe.where],
        }
        _drop_undeclared(out, recipe)
        try:
            return keys.store.publish(key, out, recipe.kind, recipe.outputs, notes)
        except OSError as problem:
            if problem.errno in PASSING:
                raise InputChanged(str(problem)) from problem
            raise _error(recipe, f"the result cannot be stored: {problem}") from problem


def _prepare(scratch: str, recipe: Recipe) -> tuple[str, str]:
    out, work = f"{scratch}/out", f"{scratch}/work"
    os.mkdir(out)
    os.mkdir(work)
    for name in recipe.outputs:
        ensure_directory(os.path.dirname(f"{out}/{name}"))
    return out, work


def _stage(keys: Keys, recipe: Recipe, directory: str) -> None:
    """Inputs by the names that the tool looks for; what is not declared is dropped later."""
    for name, index in recipe.staged:
        os.symlink(keys.input_path(recipe, index), f"{directory}/{name}")


def put_texts(keys: Keys, recipe: Recipe) -> None:
    """Texts become files of the store; a command, and a debugger later, finds them there."""
    for item in recipe.inputs:
        if isinstance(item, Text):
            data = {keys.text_file(item): item.text}
            put_files(keys.store, "text", keys.text_key(item), data)


def put_files(store: Store, kind: str, key: str, files: dict[str, str] | dict[str, bytes]) -> Entry:
    """Publish given contents under a key; what was there under it makes way if it differs."""
    from .digests import digest_bytes

    data = {
        name: content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
        for name, content in files.items()
    }
    wanted = {name: digest_bytes(content) for name, content in data.items()}
    for left in reversed(range(TRIES)):
        present = _holding(store, key, wanted)
        try:
            return present or _put(store, kind, key, data, wanted)
        except OSError as problem:
            # EEXIST: what makedirs says when its look at what is there has failed.
            if problem.errno not in (*PASSING, errno.EEXIST) or not left:
                raise
    raise AssertionError  # the last try returns or raises


def _put(
    store: Store, kind: str, key: str, data: dict[str, bytes], wanted: dict[str, str]
) -> Entry:
    with store.lock(key), store.scratch(key) as scratch:
        present = _holding(store, key, wanted)
        if present is not None:
            return present  # somebody else's, put there while we waited: it may be in use
        out = f"{scratch}/out"
        os.mkdir(out)
        for name, content in data.items():
            os.makedirs(os.path.dirname(f"{out}/{name}"), exist_ok=True)
            with open(f"{out}/{name}", "wb") as stream:
                stream.write(content)
        return store.replace(key, out, kind, tuple(data))


def _holding(store: Store, key: str, wanted: dict[str, str]) -> Entry | None:
    """What is under a key, if its files have these digests."""
    present = store.get(key)
    if present is None or {n: s.digest for n, s in present.outputs.items()} != wanted:
        return None
    return present


def tool_directory(store: Store, name: str) -> str:
    """A lasting directory that belongs to a tool: see ToolDir."""
    directory = os.path.join(store.side("private"), name)
    os.makedirs(directory, exist_ok=True)
    return directory


def below(recipe: Recipe, directory: str) -> dict[str, str]:
    """Where each output goes when all go to one directory."""
    return {name: f"{directory}/{name}" for name in recipe.outputs}


def command_line(keys: Keys, recipe: Recipe, outputs: Mapping[str, str]) -> list[str]:
    """The command with each output of the recipe at the path given for it."""
    tool = recipe.tool
    first = tool.path if isinstance(tool, ProgramTool) else tool.name
    rest = render(
        recipe,
        lambda position: keys.input_path(recipe, position),
        lambda name: outputs.get(name, name),
        lambda name: tool_directory(keys.store, name),
    )
    return [first, *rest]


def _scan_options(keys: Keys, recipe: Recipe, work: str, how: str) -> list[str]:
    depends = [how, "-MF", f"{work}/depends", "-MT", depfile.TARGET]
    if how == "-M":
        return depends
    return [*depends, *keys.cover(recipe).names.options((work, "."))]


def _run(keys: Keys, recipe: Recipe, argv: list[str], work: str, commands: Commands) -> Outcome:
    tool = recipe.tool
    if isinstance(tool, FunctionTool):
        return _call(tool, argv[1:], commands)
    declared = [
        (name, tool_directory(keys.store, value.name) if isinstance(value, ToolDir) else value)
        for name, value in recipe.env
    ]
    understands = not isinstance(tool, ProgramTool) or tool.response_file
    try:
        first = launcher() if recipe.scan else ()
    except FileNotFoundError as missing:
        raise _error(recipe, str(missing)) from missing
    return commands.run(argv, work, declared, understands, first)


def _call(tool: FunctionTool, arguments: list[str], commands: Commands) -> Outcome:
    import time
    import traceback

    started = time.perf_counter()
    try:
        commands.call(tool.function, arguments)
    except (BuildError, Cancelled):
        raise
    except Exception:
        return Outcome(1, traceback.format_exc(), time.perf_counter() - started)
    return Outcome(0, "", time.perf_counter() - started)


def _why(keys: Keys, key: str) -> str:
    return "damaged" if keys.store.was_damaged(key) else "not in the store"


def _verdict(recipe: Recipe, outcome: Outcome) -> str:
    if outcome.status < 0:
        return f"{recipe.tool.name} was killed"
    return f"{recipe.tool.name} failed"


def _output_problems(recipe: Recipe, out: str) -> Iterator[str]:
    for position, name in enumerate(recipe.outputs):
        path = f"{out}/{name}"
        if not os.path.isfile(path) or os.path.islink(path):
            yield f"{recipe.tool.name} succeeded but left no {name}"
        elif os.path.getsize(path) == 0 and (position == 0 or name.endswith(_NEVER_EMPTY)):
            yield f"{recipe.tool.name} succeeded but left {name} empty"
    for name, wanted in recipe.begins:
        with open(f"{out}/{name}", "rb") as stream:
            found = stream.read(len(wanted))
        if found != wanted:
            yield f"{recipe.tool.name} succeeded but {name} begins {found!r}, not {wanted!r}"


def _drop_undeclared(out: str, recipe: Recipe) -> None:
    wanted = {f"{out}/{name}" for name in recipe.outputs}
    for directory, _, files in os.walk(out):
        for file in files:
            path = os.path.join(directory, file)
            if path not in wanted:
                os.unlink(path)


def _check_unchanged(keys: Keys, now: Keys, recipe: Recipe, key: str) -> None:
    """Raises InputChanged if the command may have read something else than the key says."""
    try:
        same = now.content(recipe) == key
        written = keys.view.disturbed(now.view, keys.files(recipe))
    except (FileNotFoundError, Unknown) as gone:
        raise InputChanged(str(gone)) from gone
    if not same or written:
        raise InputChanged(", ".join(written) or recipe.describe())


def _check_reads(
    keys: Keys, recipe: Recipe, key: str, scratch: str, argv: list[str], outcome: Outcome
) -> None:
    """Nothing outside the cover may have been read. A first surprise makes the compiler be asked
    beforehand from then on. A surprise after that may come of an answer given while somebody edited
    what the question was about: it is asked once more, and then it is an error."""
    cover = keys.cover(recipe)
    try:
        names = _depends(f"{scratch}/work")
    except (OSError, ValueError) as problem:
        _fail(
            keys.store, recipe, key, scratch, argv, outcome,
            f"{recipe.tool.name} left no dependency file, so what it read is unknown: {problem}",
        )  # fmt: skip
    # Nearly always all of them are covered under the names that the compiler gives them.
    if not set(names).difference(cover.paths, cover.system()):
        return
    reads = _split(keys, recipe, names, f"{scratch}/work", cover.paths)
    surprises = extras(reads.ours, cover.paths)
    surprises += extras(reads.system, (*cover.system(), *cover.paths))
    if not surprises:
        return
    if not cover.asked:
        keys.memory.answers.mark(cover.bare)
        raise InputChanged(", ".join(surprises))
    if keys.memory.answers.doubt(cover.bare):
        raise InputChanged(", ".join(surprises))
    _fail(
        keys.store, recipe, key, scratch, argv, outcome,
        f"{recipe.tool.name} read files that cannot be known beforehand: {', '.join(surprises)}",
    )  # fmt: skip


def _depends(work: str) -> list[str]:
    """What a compiler says it has read, in its own words."""
    with open(f"{work}/depends", encoding="utf-8", errors="surrogateescape") as stream:
        return depfile.prerequisites(stream.read())


def _split(
    keys: Keys, recipe: Recipe, names: list[str], work: str, covered: tuple[str, ...]
) -> Reads:
    return split_reads(names, work, keys.system_directories(recipe), covered)


def ask_compiler(
    keys: Keys, recipe: Recipe, sources: list[Source], commands: Commands
) -> Reads | None:
    """Which files the compiler would read, by running its preprocessor; None if it cannot say."""
    put_texts(keys, recipe)
    name = keys.action(recipe)
    with keys.store.scratch(name) as scratch:
        out, work = _prepare(scratch, recipe)
        argv = command_line(keys, recipe, below(recipe, out)) + _scan_options(
            keys, recipe, work, "-M"
        )
        outcome = _run(keys, recipe, argv, work, commands)
        log.record(
            "ask", recipe.kind, name, argv=argv, seconds=outcome.seconds, status=outcome.status,
            why="a name that only the compiler knows", label=recipe.label,
        )  # fmt: skip
        if outcome.status != 0:
            return None
        try:
            covered = tuple(source.path for source in sources)
            return _split(keys, recipe, _depends(work), work, covered)
        except (OSError, ValueError):
            return None


def _fail(
    store: Store,
    recipe: Recipe,
    key: str,
    scratch: str,
    argv: list[str],
    outcome: Outcome,
    reason: str,
) -> NoReturn:
    kept = store.keep_failed(key, scratch)

    def moved(text: str) -> str:
        return text.replace(scratch, kept)

    output = moved(outcome.output)
    for item in recipe.inputs:
        if isinstance(item, Text):
            stored = f"{store.directory(Keys.text_key(item))}/{Keys.text_file(item)}"
            output = output.replace(stored, item.name)
    command = tuple(map(moved, argv))
    _write_replay(kept, "out" if recipe.staged else "work", command)
    failure = Failure(
        recipe.describe(), recipe.where, reason, command, outcome.status or None, output, kept
    )
    raise BuildError([failure])


def _write_replay(directory: str, where: str, command: tuple[str, ...]) -> None:
    import shlex

    try:
        with open(f"{directory}/command.sh", "w", encoding="utf-8") as stream:
            stream.write(f"cd {shlex.quote(directory)}/{where} && {shlex.join(command)}\n")
    except (OSError, UnicodeError):
        return  # only a convenience


def _error(recipe: Recipe, reason: str) -> BuildError:
    return BuildError([Failure(recipe.describe(), recipe.where, reason)])
