"""`iron cache`: where results live, what they were good for, are they whole, making room."""

from __future__ import annotations

import argparse
from typing import Any


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's."""
    actions = commands.add_parser("cache", help="the store of results").add_subparsers(
        required=True, metavar="ACTION"
    )
    path = actions.add_parser("path", help="print where results live")
    path.set_defaults(run=_path)
    stats = actions.add_parser("stats", help="what is there, hits, misses and why, time saved")
    stats.set_defaults(run=_stats)
    verify = actions.add_parser(
        "verify", help="read every result again; what is damaged is made anew when asked for"
    )
    verify.set_defaults(run=_verify)
    gc = actions.add_parser(
        "gc", help="take away the least recently used results, none that a process uses"
    )
    gc.add_argument("--size", help="keep at most so much, as 500M or 10G (default 10G)")
    gc.add_argument("--count", type=int, help="keep at most so many results (default 200000)")
    gc.add_argument("--days", type=float, help="keep nothing unused for so long (default 90)")
    gc.add_argument("--all", action="store_true", help="everything that is not in use")
    gc.set_defaults(run=_gc)


def _path(arguments: argparse.Namespace) -> None:
    from iron.build import store_root

    print(store_root())


def _store() -> Any:
    from iron.build import Session

    return Session().store


def _stats(arguments: argparse.Namespace) -> None:
    from iron.build import upkeep

    store = _store()
    found = upkeep.statistics(store)
    print(f"{store.root}")
    print(
        f"  {found.results} results, {found.aliases} other names of them, {size_text(found.size)}"
    )
    names = {"hit": "found", "run": "made", "made": "put together", "failed": "failed"}
    for (event, why), times in sorted(found.events.items()):
        print(f"  {times:8} {names.get(event, event)}: {why}")
    print(f"  {found.spent:.1f} s spent making results, {found.saved:.1f} s saved by finding them")


def _verify(arguments: argparse.Namespace) -> None:
    from iron.build import upkeep

    store = _store()
    found = upkeep.verify(store)
    for line in found:
        print(f"removed {line}")
    print(f"{store.root}: {f'{len(found)} damaged' if found else 'everything is whole'}")


def _gc(arguments: argparse.Namespace) -> None:
    from iron.build import upkeep

    store = _store()
    limits: dict[str, Any] = {}
    if arguments.all:
        limits = {"size": 0, "fresh": 0.0}
    if arguments.size is not None:
        try:
            limits["size"] = upkeep.size_of(arguments.size, 0)
        except ValueError:
            raise SystemExit(f"iron: --size {arguments.size}: write it as 500M or 10G") from None
    if arguments.count is not None:
        limits["count"] = arguments.count
    if arguments.days is not None:
        limits["days"] = arguments.days
    done = upkeep.collect(store, **limits)
    print(
        f"{store.root}: took {done.taken} results ({size_text(done.freed)}), left {done.kept} "
        f"({size_text(done.size)}), {done.in_use} of them in use"
    )


def size_text(size: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GiB"
