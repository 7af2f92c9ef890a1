#!/usr/bin/env python3
"""Checks law C1 of src/runtime/memory/cell.h: code that performs operations on memory reads and writes cells only
through the functions of that header.

    tools/cells.py

In the files below, a cell is the parameter `a` of a hook, or an address (a uint64_t) that is cast to a pointer and
dereferenced. Prints each direct access, then "N passed, M failed": one for each file."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILES = ["hooks/atomic.c", "hooks/plugin.c", "memory/racing_access.c", "sync/futex.c", "sync/objects.c",
         "core/operation.h"]
DIRECT = [
    # *(volatile uint32_t *)address, *(const uint8_t *)p->key
    re.compile(r"\*\s*\(\s*(?:const\s+|volatile\s+)*u?int(?:8|16|32|64)_t\s*\*\s*\)"),
    # the same through a macro's type: *(a##n *)
    re.compile(r"\*\s*\(\s*(?:const\s+|volatile\s+)*a##n\s*\*\s*\)"),
    # *a, a[0]: but not the declaration of a parameter or variable (const volatile a##n *a)
    re.compile(r"(?<![\w#])(?:return\s+|[=(,!&|{;)]\s*|^\s*)\*a\b(?!##)"),
    re.compile(r"(?<![\w#])a\[\d*\]"),
    # built-ins on the program's memory
    re.compile(r"__(?:atomic|sync)_[a-z_]+\s*\("),
    # copies from and to it
    re.compile(r"mz_raw_mem(?:cpy|move)\s*\([^;]*\b(?:key|cell|a|p)\b[^;]*\)"),
]
# call.a[i] is an argument of a system call, not a cell.
NOT_CELLS = re.compile(r"\bcall\.a\[|\bconst uint64_t \*a = call\.a|\ba\[[0-5]\](?=[,) ])")


def without_comments(text):
    """The text with comments and strings blanked, line by line the same."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    return re.sub(r"/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", blank, text, flags=re.S)


def direct_accesses(path):
    with open(path) as f:
        lines = without_comments(f.read()).split("\n")
    for number, line in enumerate(lines, 1):
        if any(p.search(NOT_CELLS.sub(" ", line)) for p in DIRECT):
            yield number, line.strip()


def main():
    passed = failed = 0
    for name in FILES:
        found = list(direct_accesses(os.path.join(ROOT, "src/runtime", name)))
        for number, line in found:
            print("FAIL src/runtime/%s:%d: direct access to a cell: %s" % (name, number, line.rstrip("\\ ")))
        passed, failed = passed + (not found), failed + bool(found)
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
