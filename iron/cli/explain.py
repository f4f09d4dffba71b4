"""`iron explain`: why something was built or found, as it was decided then."""

from __future__ import annotations

import argparse
from typing import Any


def add_to(commands: Any) -> None:
    """Add the subcommand to the parser's."""
    explain = commands.add_parser(
        "explain", help="why the last build of something ran or did not run a command"
    )
    explain.add_argument(
        "target", metavar="TARGET|last", help="a design's or kernel's name, a file it reads, a key"
    )
    explain.set_defaults(run=_explain)


def _explain(arguments: argparse.Namespace) -> None:
    from iron.build import Session
    from iron.build.explain import explain

    print(explain(Session().store, arguments.target))
