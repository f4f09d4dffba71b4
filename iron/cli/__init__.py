"""The ``iron`` command. One module per subcommand that is more than a few lines."""

from .main import main

__all__ = ["main"]
