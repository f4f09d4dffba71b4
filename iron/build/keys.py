"""Keys of recipes: what names a result before it exists.

In a key go: the format, the tool's identity, argv in order with placeholders for paths, the
outputs' names, the declared environment; for each input its content and name (a source to be
scanned: its suffix, and names and contents of everything it may include, the compiler's own
headers among them). No path of ours.

The *leaf key* follows references down to files: a deep constructive trace. The *content key* uses
the bytes of direct inputs: a constructive trace. Without references they are one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from .cover import AnswerMemo, Cover, Reads, moving_flags, scan_cover
from .decisions import Decisions, Parts
from .digests import Digests, View, digest
from .entry import Entry
from .headers import Headers, Table
from .identity import ProgramTool
from .recipe import Input, Recipe, Ref, Text, Tool
from .scan import Parses, Source
from .shadow import Shadows
from .store import Store
from .traces import Name, Recording, System, Trace, Traces, name_of

# Goes up whenever the meaning of a key or of a stored result changes.
FORMAT = "iron 2"

_NAMELESS: Name = ("", "", (), ())

Ask = Callable[["Keys", Recipe, list[Source]], "Reads | None"]


class Memory:
    """What a session's keys remember from request to request; all of it checked by stat."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.digests = Digests()
        self.parses = Parses()
        self.shadows = Shadows()
        self.answers = AnswerMemo(store.side("asked"))
        self.headers = Headers(store.side("headers"))
        self.decisions = Decisions(store.side("decisions"))
        self.traces = Traces()


class Covered(NamedTuple):
    """A cover, and what was looked at for it."""

    cover: Cover
    view: Recording
    system: System | None


class Unknown(Exception):
    """A key that depends on the text of a source that is not generated yet."""


class Keys:
    """The keys of one request, all under one view of the file system.

    Raises FileNotFoundError (a missing source or tool), Refused, InputChanged.
    """

    def __init__(self, memory: Memory, ask: Ask, view: View | None = None) -> None:
        self.memory = memory
        self.store = memory.store
        self.view = view or View(memory.digests)
        self._ask = ask
        self._leaf: dict[Recipe, str] = {}
        self._covers: dict[Recipe, Covered] = {}
        self._tools: dict[object, tuple[Tool, str]] = {}
        self._tables: dict[tuple[str, ...], Table] = {}
        self._systems: dict[System, bool] = {}
        # The traces that this request has found true, or made.
        self.traces: dict[Name, Trace] = {}

    def again(self) -> Keys:
        """The same request, looking at the file system anew."""
        return Keys(self.memory, self._ask, self.view.again())

    def tool(self, tool: Tool) -> str:
        """The identity of a tool, asked once per request."""
        name: object = id(tool)
        if isinstance(tool, ProgramTool):  # many objects may stand for one program
            name = tool.program, tool.identity_extra
        known = self._tools.get(name)
        if known is None:
            if isinstance(tool, ProgramTool):
                facts = tool.facts(self.store.side("tools"))
                identity = facts.identity
                self.view.stamps.update(facts.files)
            else:
                identity = tool.identity()
            known = self._tools[name] = tool, identity
        return known[1]

    def action(self, recipe: Recipe) -> str:
        """What is done, whatever it is done to."""
        return digest(FORMAT, self.tool(recipe.tool), recipe.text)

    def leaf(self, recipe: Recipe) -> str:
        """Known before anything is built. Raises Unknown for a recipe that compiles a
        generated source which is not there yet, and for whatever uses its result."""
        known = self._leaf.get(recipe)
        if known is None:
            name = name_of(recipe)
            trace = self.memory.traces.get(name)
            if name is not None and trace is not None and self._holds(recipe, trace):
                known = trace.key
                self.traces[name] = trace
            else:
                known = self._combine(recipe, self._leaf_part)
                if name is not None:
                    self._remember(name, recipe, known)
            self._leaf[recipe] = known
        return known

    def _holds(self, recipe: Recipe, trace: Trace) -> bool:
        if self.tool(recipe.tool) != trace.tool or not trace.holds(self.view):
            return False
        system = trace.system
        if system is not None:
            same = self._systems.get(system)
            if same is None:
                same = self._own(system.roots, system.names)[0] == system.digest
                self._systems[system] = same
            if not same:
                return False
        self.view.stamps.update(trace.places)
        return True

    def _remember(self, name: Name, recipe: Recipe, key: str) -> None:
        covered = self._covered(recipe) if recipe.scan else None
        files = dict.fromkeys(name[2])
        for path in files:
            files[path] = self.view.look(path)
        tool = self.tool(recipe.tool)
        if covered is None:
            trace = Trace(key, tool, tuple(files.items()), (), (), None)
        elif covered.cover.answered:
            files.update(covered.view.looked_at())
            places, memos = covered.view.stamps.items(), covered.view.placed.items()
            trace = Trace(
                key, tool, tuple(files.items()), tuple(places), tuple(memos), covered.system
            )
        else:
            return
        self.traces[name] = trace
        self.memory.traces.put(name, trace)

    def looked_at(self, recipe: Recipe) -> set[str]:
        """Every path that the leaf key depends on, whether there is a file or not."""
        trace = self.traces.get(name_of(recipe) or _NAMELESS)
        if trace is not None:
            return {path for path, _ in trace.files}
        paths = {item for item in recipe.inputs if isinstance(item, str)}
        if recipe.scan:
            paths.update(path for path, _ in self._covered(recipe).view.looked_at())
        for item in recipe.inputs:
            if isinstance(item, Ref):
                paths |= self.looked_at(item.recipe)
        return paths

    def content(self, recipe: Recipe) -> str:
        """From the bytes of the direct inputs, which exist by now: equal bytes that came by
        another way give the same key (early cut-off)."""
        if not any(isinstance(item, Ref) for item in recipe.inputs):
            return self.leaf(recipe)
        return self._combine(recipe, self._content_part)

    def result(self, recipe: Recipe) -> Entry | None:
        """What the store has for a recipe's leaf key."""
        try:
            return self.store.get(self.leaf(recipe))
        except Unknown:
            return None

    def upstream(self, ref: Ref) -> Entry:
        """The result a reference points at. Raises Unknown if it is not there."""
        entry = self.result(ref.recipe)
        if entry is None:
            raise Unknown(ref.recipe.describe())
        return entry

    def _combine(self, recipe: Recipe, part: Callable[[Recipe, int, Input], str]) -> str:
        parts = [self.action(recipe)]
        parts += [part(recipe, position, item) for position, item in enumerate(recipe.inputs)]
        if recipe.scan:
            parts += self.cover(recipe).parts
        return digest(*parts)

    def _leaf_part(self, recipe: Recipe, position: int, item: Input) -> str:
        if isinstance(item, Ref):
            return digest("ref", self.leaf(item.recipe), item.name)
        return self._content_part(recipe, position, item)

    def _content_part(self, recipe: Recipe, position: int, item: Input) -> str:
        if isinstance(item, Ref):
            content = self.upstream(item).outputs[item.name].digest
            return digest("content", content, item.name)
        if isinstance(item, Text):
            content, name = digest(item.text), item.name
            return digest("text", content, item.suffix if recipe.scan else name)
        # A compiler is told a neutral name of its source; any other tool sees the real one.
        name = os.path.splitext(item)[1] if recipe.scan else os.path.basename(item)
        return digest("content", self.view.digest(item), name)

    @staticmethod
    def text_key(item: Text) -> str:
        """The key under which a text is kept."""
        return digest("text", item.text, Keys.text_file(item))

    @staticmethod
    def text_file(item: Text) -> str:
        """The name of a text's file: neutral, but for the suffix."""
        return f"source{item.suffix}"

    def input_path(self, recipe: Recipe, position: int) -> str:
        """Where a command finds an input (a text: where it will have been put)."""
        item = recipe.inputs[position]
        if isinstance(item, Ref):
            return self.upstream(item).path(item.name)
        if isinstance(item, Text):
            return f"{self.store.directory(self.text_key(item))}/{self.text_file(item)}"
        return item

    def cover(self, recipe: Recipe) -> Cover:
        """The files a scanned recipe may read. Raises Unknown if a source is not there yet."""
        return self._covered(recipe).cover

    def _covered(self, recipe: Recipe) -> Covered:
        known = self._covers.get(recipe)
        if known is None:
            view, systems = Recording(self.view), list[System]()
            sources = [self._source(recipe, at, item) for at, item in enumerate(recipe.inputs)]

            def own(names: set[str]) -> tuple[str, Callable[[], Iterable[str]]]:
                roots = self.system_directories(recipe)
                if not roots:
                    return "", tuple
                found, table = self._own(roots, names)
                systems.append(System(roots, frozenset(names), found))
                return found, lambda: table.closure(names)

            cover = scan_cover(
                recipe,
                sources,
                view,
                self.memory.parses,
                self._shadows(recipe, view),
                self.action(recipe),
                self.memory.answers,
                lambda: self._ask(self, recipe, sources),
                own,
            )
            self.view.stamps.update(view.stamps)
            known = Covered(cover, view, systems[0] if systems else None)
            self._covers[recipe] = known
        return known

    def _own(self, roots: tuple[str, ...], names: Iterable[str]) -> tuple[str, Table]:
        """The digest of what names may read that only the compiler finds, and the table of it."""
        table = self._tables.get(roots)
        if table is None:
            table = self._tables[roots] = self.memory.headers.table(roots, self.view)
        return self.memory.headers.digest(table, names, self.view), table

    def tables(self) -> tuple[Table, ...]:
        """What the keys of this request say of headers that only compilers find."""
        return tuple(self._tables.values())

    def system_directories(self, recipe: Recipe) -> tuple[str, ...]:
        """Where the recipe's compiler has headers of its own."""
        if not isinstance(recipe.tool, ProgramTool):
            return ()
        return recipe.tool.system_directories(
            moving_flags(recipe), self.tool(recipe.tool), self.store.side("tools")
        )

    def _shadows(self, recipe: Recipe, view: View) -> list[str]:
        if not recipe.include_dirs:
            return []
        system = self.system_directories(recipe)
        found = self.memory.shadows.files(recipe.include_dirs, system, view.stamps)
        return [path for path in found if view.look(path) is not None]

    def _source(self, recipe: Recipe, position: int, item: Input) -> Source:
        path = self.input_path(recipe, position)
        number = str(position) if position else ""
        shown = f"./source{number}{os.path.splitext(path)[1]}"
        if isinstance(item, Text):
            return Source(path, digest(item.text), shown, item.text)
        if isinstance(item, Ref):
            return Source(path, self.upstream(item).outputs[item.name].digest, shown)
        return Source(path, self.view.digest(path), shown)

    def parts(self, recipe: Recipe) -> Parts:
        """What goes into a leaf key, in names and values for people; see decisions.py."""
        out = [
            ("form of keys", FORMAT),
            (f"tool {recipe.tool.name}", self.tool(recipe.tool)),
            ("command", "\n".join(map(str, recipe.argv))),
            ("outputs", "\n".join(recipe.outputs)),
            ("environment", "\n".join(f"{name}={value}" for name, value in recipe.env)),
            ("rest of the recipe", recipe.text),
        ]
        for item in recipe.inputs:
            if isinstance(item, Ref):
                out.append((item.recipe.describe(), self.leaf(item.recipe)))
            elif isinstance(item, Text):
                out.append((item.name, item.text))
            else:
                out.append((item, f"contents {self.view.digest(item)[:16]}"))
        if not recipe.scan:
            return out
        cover = self.cover(recipe)
        out += [(path, f"contents {self.view.digest(path)[:16]}") for path in cover.paths
                if self.view.look(path) is not None]  # fmt: skip
        rest = [part for part in cover.parts if "\0" not in part]
        out += [("the compiler's own headers", part) for part in rest if part[:7] == "system "]
        out.append(("where includes are found", "\n".join(p for p in rest if p[:7] != "system ")))
        return out

    def files(self, recipe: Recipe) -> tuple[str, ...]:
        """Every file of the user's that the recipe may read."""
        own = [item for item in recipe.inputs if isinstance(item, str)]
        return (*own, *self.cover(recipe).paths) if recipe.scan else tuple(own)
