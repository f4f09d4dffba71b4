"""Stand-ins of Peano's programs."""

from __future__ import annotations

import os
import re

from common import digest, expect, read, refuse, settings, small_elf, write

TARGETS = ("aie2", "aie2p")


def compiler(arguments: list[str]) -> int:
    """clang++: the machine's own compiler for the same source, with Peano's options checked."""
    if arguments == ["--version"]:
        print("clang version 21.0.0 (a stand-in of llvm-aie)")
        return 0
    needed = ["-std=c++20", "-O2", "-DNDEBUG", "-D__AIE_API_AIE_ADF_HPP__"]
    target = [a for a in arguments if a.startswith("--target=")]
    probing = any(a in ("-E", "-M", "-v", "-###") or a[:7] == "-print-" for a in arguments)
    if not probing and [a for a in needed if a not in arguments]:
        refuse(f"without {needed}: {arguments}")
    if any(a not in [f"--target={t}-none-unknown-elf" for t in TARGETS] for a in target):
        refuse(f"unknown target {target}")
    rest = [a for a in arguments if a not in target]
    if "-emit-llvm" in rest:
        return _kernel_ir(rest)
    from common import fault

    if not probing and fault("clang++"):
        write("clang++", rest[rest.index("-o") + 1], b"")
        return 0
    return _run([*settings()["compiler"], *rest])


def _run(argv: list[str]) -> int:
    return os.spawnvp(os.P_WAIT, argv[0], argv)


def _kernel_ir(rest: list[str]) -> int:
    """LLVM IR that defines the functions of the source, its body told by a comment."""
    without = [a for a in rest if a not in ("-S", "-emit-llvm")]
    output = without.index("-o") + 1
    target = without[output]
    failed = _run([*settings()["compiler"], "-E", "-P", *without])
    if failed:
        return failed
    text = read(target)
    names = re.findall(rb'extern "C"[^;{]*?(\w+)\s*\(', text)
    lines = [f"define dso_local void @{n.decode()}() #0 {{\n  ret void\n}}" for n in names]
    body = digest(text).hex()
    write("clang++", target, f"; {body}\n" + "\n".join(lines) + "\nattributes #0 = { noinline }\n")
    return 0


def clang(arguments: list[str]) -> int:
    """Links one core in the working directory, following its script's INPUT names."""
    modern = settings()["generation"] == "2026-08"
    target, core, script, output = expect(
        arguments, "-O2", ("--target=",), *(["-fuse-ld=lld"] if modern else []), str,
        "-Wl,--gc-sections", "-Wl,--orphan-handling=error",
        ("-Wl,-T,",), "-o", str,
    )  # fmt: skip
    if target not in [f"{t}-none-unknown-elf" for t in TARGETS]:
        refuse(f"unknown target {target}")
    text = read(script).decode()
    parts = [read(core), text.encode()]
    for name in re.findall(r"^INPUT\((.*)\)$", text, re.MULTILINE):
        if re.search(r"[\s()]", name) or not os.path.exists(name):
            refuse(f"ld.lld: error: cannot find {name}")
        parts.append(read(name))
    if "PROVIDE(main = core_" not in text:
        refuse("ld.lld: error: undefined symbol: main")
    write("clang", output, small_elf(*parts))
    return 0


def opt(arguments: list[str]) -> int:
    passes, source, output = expect(
        arguments, ("--passes=",), "-inline-threshold=10", "-S", str, "-o", str
    )
    if passes not in ("default<O1>", "default<O1>,strip"):
        refuse(f"unknown pass name in {passes}")
    text = read(source).decode()
    if re.search(r"getelementptr.*\bnuw\b|nocreateundeforpoison", text):
        refuse("expected type: the IR is of a newer LLVM")
    write("opt", output, f"; optimised {passes}\n{text}")
    return 0


def llc(arguments: list[str]) -> int:
    source, march, output = expect(
        arguments, str, "-O2", ("--march=",), "--function-sections", "--filetype=obj", "-o", str
    )
    if march not in TARGETS:
        refuse(f"unknown target {march}")
    write("llc", output, small_elf(read(source), march.encode()))
    return 0


def llvm_link(arguments: list[str]) -> int:
    if arguments[0] != "-S" or arguments[-2] != "-o":
        refuse(f"unexpected {arguments}")
    write("llvm-link", arguments[-1], b"\n".join(read(p) for p in arguments[1:-2]))
    return 0


def objcopy(arguments: list[str]) -> int:
    from iron.formats.elf import FormatError, rename_symbols

    names, source, output = expect(arguments, ("--redefine-syms=",), str, str)
    renames = dict(line.split() for line in read(names).decode().splitlines())
    try:
        made = rename_symbols(read(source), renames, source)
    except FormatError as error:
        refuse(str(error))
    write("llvm-objcopy", output, made)
    return 0


def ar(arguments: list[str]) -> int:
    if arguments[0] != "rcsD":
        refuse(f"unknown operation {arguments[0]}")
    made = b"!<arch>\n"
    for name in arguments[2:]:
        data = read(name)
        head = f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{'644':<8}{len(data):<10}`\n"
        made += head.encode() + data + b"\n" * (len(data) % 2)
    write("llvm-ar", arguments[1], made)
    return 0


def lld(arguments: list[str]) -> int:
    if arguments[:2] != ["-r", "-o"]:
        refuse(f"unexpected {arguments}")
    write("ld.lld", arguments[2], small_elf(*(read(p) for p in arguments[3:])))
    return 0


def chess(arguments: list[str]) -> int:
    """xchesscc_wrapper: the machine's own compiler again."""
    if arguments[0] not in TARGETS or arguments[1] != "-c" or not os.environ.get("AIETOOLS"):
        refuse(f"unexpected {arguments}")
    return _run([*settings()["compiler"], *arguments[1:]])


def nm(arguments: list[str]) -> int:
    refuse("nobody calls this")
    return 1


TOOLS = {
    "clang++": compiler, "clang": clang, "opt": opt, "llc": llc, "llvm-link": llvm_link,
    "llvm-objcopy": objcopy, "llvm-ar": ar, "ld.lld": lld, "llvm-nm": nm,
    "xchesscc_wrapper": chess,
}  # fmt: skip
