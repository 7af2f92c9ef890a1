#!/usr/bin/env python3
"""Checks src/runtime/hooks/libc.def, the table of libc's functions, against glibc and against libmazurka.so.

    tools/libc_table.py [build folder]

- No function has two rows.
- Every function that libmazurka.so exports, and that glibc or a library of a compiler has, has a row.
- OWN and WRAP rows name the file that defines the function; libmazurka.so exports no function of a PASS or VARIABLE row.
- Every row names a function of glibc, unless the row says SINCE(version) of a newer glibc, NONSHARED or NOT_IN_GLIBC.

Prints what is wrong, then "N passed, M failed": a row passes if nothing is wrong with it."""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLE = "src/runtime/hooks/libc.def"
LIBRARY = "libmazurka.so"
GLIBC = ["libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "libpthread.so.0", "librt.so.1", "libdl.so.2"]
COMPILERS = ["libgcc_s.so.1", "libstdc++.so.6"]
OURS = {"OWN", "WRAP", "POINT", "REFUSE"}

# Each row becomes a line "@who @name @how @facts"; the preprocessor finds the rows as the compiler does.
ROWS = r"""
#define OWN(name, file, state, ...) @OWN @name @file @FIRST(__VA_ARGS__, )
#define WRAP(name, file, state, ...) @WRAP @name @file @FIRST(__VA_ARGS__, )
#define POINT(name, when, state, ...) @POINT @name @"" @FIRST(__VA_ARGS__, )
#define PASS(name, state, ...) @PASS @name @"" @FIRST(__VA_ARGS__, )
#define REFUSE(name, instead, state, ...) @REFUSE @name @"" @FIRST(__VA_ARGS__, )
#define VARIABLE(name, state, ...) @VARIABLE @name @"" @FIRST(__VA_ARGS__, )
#define FIRST(facts, ...) facts
#include "runtime/hooks/libc.def"
"""


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def rows():
    """(who, name, file, facts) of each row."""
    out = run("cc", "-E", "-P", "-Isrc", "-x", "c", "-", text=ROWS)
    for who, name, file, facts in re.findall(r'@(\w+) @(\w+) @"([^"]*)" @([^@]*)', out):
        yield who, name, file, re.findall(r"\w+(?:\([\d.]*\))?", facts)


def symbols(path, *options):
    """Names that a library or an object defines, without versions."""
    lines = run("nm", "--defined-only", *options, path).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if len(line.split()) == 3}


def symbols_of_system(names):
    found = set()
    for name in names:
        path = run("cc", "-print-file-name=" + name).strip()
        if os.path.isabs(path):
            found |= symbols(path, "-D")
    return found


def glibc_version():
    return tuple(int(n) for n in os.confstr("CS_GNU_LIBC_VERSION").split()[1].split("."))


def missing(name, facts, glibc, compilers):
    """What is wrong with the row, as to whether glibc has the function; None if nothing is."""
    since = [tuple(int(n) for n in f[6:-1].split(".")) for f in facts if f.startswith("SINCE(")]
    newer = bool(since) and since[0] > glibc_version()
    if "NOT_IN_GLIBC" in facts:
        return "glibc has it, but the row says NOT_IN_GLIBC" if name in glibc else None
    if name in glibc or name in compilers or "NONSHARED" in facts or newer:
        return None
    return "glibc does not have it (a newer one may: SINCE(version))"


class Objects:
    """Which object of the runtime defines what."""

    def __init__(self, build):
        self.folder, self.known = os.path.join(build, "target/src/runtime"), {}

    def define(self, file, name):
        if file not in self.known:
            path = os.path.join(self.folder, file[:-2] + ".o")
            self.known[file] = symbols(path) if os.path.exists(os.path.join(ROOT, path)) else set()
        return name in self.known[file]


def problem(row, exported, glibc, compilers, objects):
    who, name, file, facts = row
    if who in OURS and name not in exported:
        return "%s does not export it: no %s row, or the file lacks it" % (LIBRARY, who)
    if who not in OURS and name in exported:
        return "%s exports it: its row is not %s" % (LIBRARY, who)
    if file and not objects.define(file, name):
        return "src/runtime/%s does not define it" % file
    return missing(name, facts, glibc, compilers)


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else "build"
    library = os.path.join(build, LIBRARY)
    if not os.path.exists(os.path.join(ROOT, library)):
        raise SystemExit("%s is not there: run make" % library)
    table = list(rows())
    exported = symbols(library, "-D")
    glibc, compilers, objects = symbols_of_system(GLIBC), symbols_of_system(COMPILERS), Objects(build)
    failed, seen = [], set()
    for row in table:
        text = "has two rows" if row[1] in seen else problem(row, exported, glibc, compilers, objects)
        seen.add(row[1])
        if text:
            failed.append("%s: %s" % (row[1], text))
    passed = len(table) - len(failed)
    failed += ["%s: %s exports it, but it has no row" % (name, LIBRARY)
               for name in sorted(exported & (glibc | compilers) - seen) if not name.startswith("__tsan_")]
    for text in failed:
        print("FAIL %s: %s" % (TABLE, text))
    print("%d passed, %d failed" % (passed, len(failed)))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
