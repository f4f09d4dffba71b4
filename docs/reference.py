"""What this site's reference needs beyond autodoc.

- `iron-name`, the role of a word in single backticks: a link where the word is a documented name,
  plain code where it is a parameter or the like. A word that must be a name of ours (it looks like
  a class, or is ``Class.member``) and is on no page is a warning.
- ``.. iron-commands::``: the help texts of the ``iron`` command, from its own parser.
- A check that every public name, and every public member of a public class, is on a page. autodoc
  leaves out what has no docstring, so that is a warning here too.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyXRefRole
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

log = logging.getLogger(__name__)

ROOMS = (
    "iron", "iron.algorithms", "iron.benchmark", "iron.build", "iron.compat", "iron.design",
    "iron.jit", "iron.kernels", "iron.verify",
)  # fmt: skip
"""Modules whose names are public: ``__all__``, or what they define."""

BETWEEN_ROOMS = {
    "BaseKernel": "definition identity merged object_spec operands",
    "Kernel": "merged",
    "ExternalFunction": "object_spec",
    "ArchivedFunction": "object_spec",
    "Buffer": "memref traced",
    "CascadeFlow": "operation",
    "CompilableDesign": "generate generated objects package_of toolchain values_key",
    "DeclaredDesign": "directory own_files renew",
    "Device": "resources tile_operation",
    "Flow": "operations",
    "ObjectFifoHandle": "same_wishes",
    "PacketFlow": "operations",
    "RuntimeData": "op",
    "Task": "handle",
    "TaskGroup": "group_id",
    "Tensor": "buffer",
    "ParamDescriptor": "type",
    "Tile": "op",
    "Traced": "type",
    "TileDma": "all_tiles buffers declare locks operation",
}
"""Members without an underscore that other rooms of iron use, and its users do not, by the class
that has them."""


def members(cls: type, elsewhere: set[type]) -> Iterator[tuple[str, Any]]:
    """The public members that `cls` has from itself and from base classes of ours that are not
    documented by themselves."""
    for base in cls.__mro__:
        if not base.__module__.startswith("iron") or (base is not cls and base in elsewhere):
            continue
        for name, value in vars(base).items():
            function = getattr(value, "__func__", value)
            member = isinstance(value, property) or inspect.isroutine(function)
            if member and not name.startswith("_"):
                yield name, value


def between_rooms(name: str, member: Any) -> bool:
    """Whether a member of a class is meant for other rooms only."""
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    return name in BETWEEN_ROOMS.get(owner, "").split()


def skip_member(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    return True if what == "class" and between_rooms(name, obj) else None


def short_names(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str
) -> tuple[str, str] | None:
    """Without the modules of ours, where autodoc leaves them in (generated dataclass methods)."""
    if signature is None:
        return None
    return re.sub(r"~?iron(\.\w+)*\.(?=[A-Z])", "", signature), returns


def public_names(module: Any) -> list[str]:
    """What `module` says is public, or what it defines, without names that begin with ``_``."""
    names = getattr(module, "__all__", None) or [
        n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__
    ]
    return [n for n in names if not n.startswith("_")]


def check_public_names(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of public names on no page or without a docstring, and of members that autodoc left
    out for want of one."""
    import iron

    documented = env.domains.python_domain.objects
    classes: dict[type, str] = {}
    for room in ROOMS:
        module = importlib.import_module(room)
        for name in public_names(module):
            value = getattr(module, name)
            homes = [f"{room}.{name}", f"{room}.{name}.{name}"]  # iron.jit is a module as well
            if getattr(iron, name, None) is value:
                homes.append(f"iron.{name}")
            full = next((home for home in homes if home in documented), None)
            if full is None:
                log.warning("%s.%s is public and on no page of the reference", room, name)
            elif (inspect.isclass(value) or inspect.isroutine(value)) and not value.__doc__:
                log.warning("%s has no docstring", full)
            if full is not None and inspect.isclass(value):
                classes[value] = full
    for cls, full in classes.items():
        for member, code in members(cls, set(classes)):
            if f"{full}.{member}" not in documented and not between_rooms(member, code):
                log.warning("%s.%s has no docstring", full, member)


MUST_BE_A_NAME = re.compile(r"(iron\.[\w.]+|[A-Z]+[a-z]\w*(\.\w+)?)$")


class IronName(PyXRefRole):
    """A word in single backticks; looked up as ``:py:obj:``."""

    def process_link(
        self, env: BuildEnvironment, refnode: Any, has_explicit_title: bool, title: str, target: str
    ) -> tuple[str, str]:
        target = target.removesuffix("()")
        title, target = super().process_link(env, refnode, has_explicit_title, title, target)
        refnode["reftype"], refnode["refdomain"] = "obj", "py"
        if MUST_BE_A_NAME.match(target):
            refnode["iron-name"] = refnode["refspecific"] = True
        return title, target


def say_missing(app: Sphinx, env: BuildEnvironment, node: Any, contnode: Any) -> None:
    if node.get("iron-name"):
        log.warning("%r is a name on no page", node["reftarget"], location=node)


class Commands(SphinxDirective):
    """Help texts of all subcommands, each below a heading of its own."""

    def run(self) -> list[nodes.Node]:
        os.environ["COLUMNS"] = "88"
        from iron.cli import run_mlir
        from iron.cli.main import _parser

        made: list[nodes.Node] = []
        for parser in (*_leaves(_parser()), run_mlir._parser()):
            name = parser.prog
            section = nodes.section(ids=[nodes.make_id(name)], names=[name])
            section += nodes.title(name, name)
            section += nodes.literal_block(text := parser.format_help(), text, language="text")
            self.state.document.note_implicit_target(section, section)
            made.append(section)
        return made


def _leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """`parser` or, where it has subcommands, theirs."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from _leaves(child)
            return
    yield parser


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_role("iron-name", IronName())
    app.add_directive("iron-commands", Commands)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", short_names)
    app.connect("env-check-consistency", check_public_names)
    app.connect("missing-reference", say_missing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
