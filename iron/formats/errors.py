"""What every reader of this room says of bytes it cannot read."""


class FormatError(ValueError):
    """Bytes that are not the file they are taken for."""
