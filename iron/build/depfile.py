"""Reading the dependency files that GCC and Clang write with -MD and -M."""

from __future__ import annotations

import re

# What we have the compiler call the target: file names hold anything, this does not.
TARGET = "result"
# A blank, `#` and `\` are escaped with a backslash, a dollar is doubled, lines are spliced.
_WORD = re.compile(r"(?:\\[\\ #\t]|\\(?!\s)|[^\\\s])+", re.ASCII)
_PLAIN = re.compile(r"\S+", re.ASCII)
_ESCAPE = re.compile(r"\\([\\ #\t])|\$(\$)")


def prerequisites(text: str) -> list[str]:
    """The files named after the colon of the first rule, as written by the compiler.

    Raises ValueError if there is no rule.
    """
    text = text.replace("\\\r\n", " ").replace("\\\n", " ")
    head, colon, rest = text.partition(f"{TARGET}:")
    if not colon or head.strip():
        raise ValueError(f"no dependency rule in {text[:80]!r}")
    rule = rest.split("\n", 1)[0]
    if "\\" not in rule and "$" not in rule:
        return _PLAIN.findall(rule)
    return [_ESCAPE.sub(lambda m: m.group(1) or m.group(2), word) for word in _WORD.findall(rule)]
