"""``python -m iron.compat script.py [arguments]``."""

from __future__ import annotations

import sys

from .scripts import run_script

if len(sys.argv) < 2:
    sys.exit("usage: python -m iron.compat script.py [arguments]")
run_script(sys.argv[1], sys.argv[2:])
