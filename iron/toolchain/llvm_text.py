"""LLVM IR text made acceptable to Peano's LLVM, which is older than mlir-aie's.

Works on tokens of the text, line by line: names and strings are never touched. What is rewritten is
what newer LLVM prints and older cannot read, nothing else.
"""

from __future__ import annotations

import re
import struct

_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.)*"'  # a string
    r"|;.*"  # a comment
    r'|[%@!#$]"(?:[^"\\]|\\.)*"|[%@!#$][\w.$-]*'  # a name
    r"|f0x[0-9A-Fa-f]{8}\b|0x[HKLMR]?[0-9A-Fa-f]+"
    r"|[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
    r"|-?\binf\b|-?\bnan\b"
    r"|[A-Za-z_][\w.]*"
    r"|\s+|."
)
_POINTER_FLAGS = frozenset({"inbounds", "nuw", "nusw"})  # LLVM 19 knows the first only
_FLOATS = ("half", "bfloat", "float", "double")
_LIFETIME = re.compile(r"(declare\s[^@]*)?.*?@llvm\.lifetime\.(?:start|end)\.[\w.]*\((?=ptr\b)")


def downgrade(text: str, *, keep_align: bool = False) -> str:
    """The text without ``nuw`` on address computations (arithmetic keeps it),
    ``nocreateundeforpoison`` and ``, align N``, with float constants in the forms that LLVM 19 to
    21 read, and with the size operand that lifetime markers lost in LLVM 23.

    Alignments are kept when asked for: after kernels were merged in they are the kernels' own,
    and the code relies on them.
    """
    return "\n".join(_line(line, keep_align) for line in text.split("\n"))


def _line(line: str, keep_align: bool) -> str:
    tokens = _TOKEN.findall(_sized_lifetime(line))
    if not keep_align:
        tokens = _without_align(tokens)
    out: list[str] = []
    kind = ""
    dropped = addressing = False
    for token in tokens:
        if token.isspace():
            if not dropped:
                out.append(token)
            dropped = False
            continue
        dropped = token == "nocreateundeforpoison" or (addressing and token in ("nuw", "nusw"))
        addressing = token == "getelementptr" or (addressing and token in _POINTER_FLAGS)
        if dropped:
            continue
        if token in _FLOATS:
            kind = token
        elif token.startswith("i") and token[1:].isdigit():
            kind = ""
        out.append(_constant(token, kind))
    return "".join(out)


def _sized_lifetime(line: str) -> str:
    found = _LIFETIME.match(line)
    if found is None:
        return line
    declared = line.lstrip().startswith("declare")
    return line[: found.end()] + ("i64 immarg, " if declared else "i64 -1, ") + line[found.end() :]


def _without_align(tokens: list[str]) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(tokens):
        following = tokens[at : at + 5]
        if (
            len(following) >= 5
            and following[0] == ","
            and following[2] == "align"
            and following[4].isdigit()
        ):
            at += 5
        else:
            out.append(tokens[at])
            at += 1
    return out


def _constant(token: str, kind: str) -> str:
    """A float constant in a form the older LLVM reads: hexadecimal where decimal is not exact."""
    if token.startswith("f0x"):
        (value,) = struct.unpack(">f", bytes.fromhex(token[3:]))
        return _hexadecimal(value, "float")
    if token.lstrip("-") in ("inf", "nan"):
        return _hexadecimal(float(token), kind or "float")
    if kind in ("half", "float", "bfloat") and re.fullmatch(
        r"[-+]?\d+\.\d*(?:[eE][-+]?\d+)?", token
    ):
        return _exact(token, kind)
    return token


def _exact(token: str, kind: str) -> str:
    value = float(token)
    if kind == "bfloat":
        return _hexadecimal(value, kind)
    shape = "e" if kind == "half" else "f"
    try:
        (narrow,) = struct.unpack(shape, struct.pack(shape, value))
    except OverflowError:
        return token
    return token if narrow == value else _hexadecimal(narrow, kind)


def _hexadecimal(value: float, kind: str) -> str:
    if kind == "half":
        return f"0xH{struct.unpack('>H', struct.pack('>e', value))[0]:04X}"
    if kind == "bfloat":
        if value != value:
            return "0xR7FC0"
        (bits,) = struct.unpack(">I", struct.pack(">f", value))
        rounded = bits + 0x7FFF + (bits >> 16 & 1) if abs(value) != float("inf") else bits
        return f"0xR{rounded >> 16 & 0xFFFF:04X}"
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


_DEFINE = re.compile(r"^define\s+(?:(?:dso_local|linkonce_odr|weak|internal|external)\s+)*")


def make_inlinable(text: str, functions: tuple[str, ...]) -> str:
    """The text with the definitions of `functions` ``linkonce_odr`` and ``alwaysinline``, so that
    they merge into their callers. ValueError for a function that is not defined."""
    left = set(functions)
    out = []
    for line in text.split("\n"):
        named = re.match(r'define\b[^@]*@(?:"([^"]+)"|([\w.$-]+))\(', line)
        name = (named.group(1) or named.group(2)) if named else None
        if name in left:
            left.discard(name)
            line = _DEFINE.sub("define linkonce_odr ", line)
            line = _with_attribute(line)
        out.append(line)
    if left:
        raise ValueError(f"the kernel does not define {', '.join(sorted(left))}")
    # noinline and optnone (from -O0 or the source) contradict what is asked for.
    return "\n".join(
        re.sub(r"\b(?:noinline|optnone)\s?", "", x) if x.startswith("attributes #") else x
        for x in out
    )


def _with_attribute(line: str) -> str:
    """After the parameter list, where function attributes stand."""
    depth, start = 0, line.index("(", line.index("@"))
    for at in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[at], 0)
        if depth == 0:
            return f"{line[: at + 1]} alwaysinline{line[at + 1 :]}"
    return line
