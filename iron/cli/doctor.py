"""``iron doctor``: what the tools of both targets are, in words or as JSON.

Exit status: 0 when the target asked for works, 1 when something it needs is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any


def add_to(commands: Any) -> None:
    """Add the subcommand."""
    parser = commands.add_parser("doctor", help="say which tools are there and which are missing")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument(
        "--target",
        choices=("host", "npu", "any"),
        default="any",
        help="which target has to work for exit status 0 (any: one of them)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    from iron.toolchain.doctor import Report, examine

    report = examine()
    works = {"host": Report.works(report.host), "npu": Report.works(report.npu)}
    if arguments.json:
        print(json.dumps({"works": works, **asdict(report)}, indent=2))
    else:
        for name, findings in (("host", report.host), ("npu", report.npu)):
            print(f"target {name}: {'works' if works[name] else 'does not work'}")
            for finding in findings:
                print("\n".join(_lines(finding)))
    good = any(works.values()) if arguments.target == "any" else works[arguments.target]
    if not good:
        sys.exit(1)


def _lines(finding: Any) -> list[str]:
    where = f" [{finding.source}: {finding.path}]" if finding.source else ""
    where = where or (f" [{finding.path}]" if finding.path else "")
    lines = [f"  {finding.state:<8} {finding.what}: {finding.text}{where}"]
    if finding.state == "missing":
        lines += [f"             looked at {place}" for place in finding.looked]
    return lines
