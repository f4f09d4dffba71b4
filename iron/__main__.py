"""``python -m iron``: the ``iron`` command."""

import sys

from iron.cli import main

sys.exit(main())
