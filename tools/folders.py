#!/usr/bin/env python3
"""Checks that each folder of src/ includes only the folders that the rules below allow.

    tools/folders.py

Prints each include that breaks a rule, then "N passed, M failed": a file passes if all its includes are allowed. Own
headers are included by their path from src/ on (#include "base/strbuf.h")."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# folder: what it may include; "folder/file.h" is that header alone. A folder may always include itself.
# A folder stands for its sub-folders unless they are named.
RULES = {
    "base": [],
    "event": ["base"],
    "trace": ["base", "event"],
    "engine": ["base", "event", "trace", "engine/stateful/stateful.h"],
    "engine/reduction": ["base", "event", "trace", "engine", "engine/stateful"],
    "engine/stateful": ["base", "event", "trace", "engine"],
    "engine/sampling": ["base", "event", "trace", "engine"],
    "model": ["base", "event", "engine/program.h"],
    "runtime": ["base", "event", "engine/program.h"],
    "compiler": ["event/code_note.h"],
    "report": ["base", "event"],
    "build": ["base", "launch", "runtime/hooks/libc.def", "runtime/hooks/libc_words.h"],
    "launch": ["base", "event", "report"],
    "dist": ["base", "event", "report", "launch", "dist/balance/balance.h", "dist/mpi/transport.h"],
    "dist/balance": ["base", "event", "trace"],
    "dist/mpi": [],
    "cmd": ["base", "event", "report", "build", "launch", "dist"],
}
# The rooms of src/runtime. Each has one header for the others, ROOM/ROOM.h (core: runtime.h); a few more headers are open to
# others (OPEN). All other headers, above all room.h with the data of a room, are private to their room. ROOMS says which room
# may include the open headers of which: the core, which starts everything, of all; loops, rewind and state of few.
OPEN = {
    "core": ["runtime.h", "operation.h", "libc_functions.h"],
    "sync": ["sync.h"],
    "memory": ["memory.h", "heap.h", "races.h", "cell.h", "race_order.h"],
    "kernel": ["kernel.h", "kernel_state.h"],
    "rewind": ["rewind.h"],
    "state": ["state.h", "hash.h", "decode.h", "liveness.h"],
    "loops": ["loops.h"],
    "hooks": ["hooks.h", "imports.h", "libc.def"],
}
ROOMS = {
    "core": ["sync", "memory", "kernel", "rewind", "state", "loops", "hooks"],
    "loops": ["core", "memory", "rewind", "state"],
    "rewind": ["core", "memory", "state", "loops"],
    "state": ["core", "memory", "kernel", "rewind"],
    "memory": ["core", "sync", "kernel", "rewind", "state", "loops"],
    "sync": ["core", "memory", "kernel", "rewind", "state", "loops", "hooks"],
    "kernel": ["core", "sync", "memory", "rewind", "state", "loops", "hooks"],
    "hooks": ["core", "sync", "memory", "kernel", "rewind", "state", "loops"],
}
for _room, _others in ROOMS.items():
    RULES["runtime/" + _room] = RULES["runtime"] + ["runtime/%s/%s" % (o, h) for o in _others for h in OPEN[o]]
# Of base, the runtime and the engine live inside the tested program: nothing there may allocate or print.
INSIDE_BASE = {"base/bug.h", "base/mix.h", "base/region.h", "base/table.h"}
INSIDE = ("engine", "event", "model", "runtime", "trace")


def rule_of(path):
    """The most special folder of RULES that the file lies in."""
    folder = os.path.dirname(path)
    while folder not in RULES:
        folder = os.path.dirname(folder)
        if not folder:
            raise SystemExit("%s: no rule for this folder in tools/folders.py" % path)
    return folder


def may_include(path, header):
    folder, target = rule_of(path), rule_of(header)
    if header.startswith("base/") and path.split("/")[0] in INSIDE:
        return header in INSIDE_BASE
    return target == folder or header in RULES[folder] or target in RULES[folder]


def includes(path):
    with open(path) as f:
        return re.findall(r'^ *# *include *"([^"]*)"', f.read(), re.M)


def main():
    os.chdir(os.path.join(ROOT, "src"))
    passed = failed = 0
    for folder, _, names in sorted(os.walk(".")):
        for name in sorted(n for n in names if re.search(r"\.(c|h|cc|def)$", n)):
            path = os.path.normpath(os.path.join(folder, name))
            ours = [h for h in includes(path) if os.path.exists(h) or ("compiler" not in path and h != "mazurka.h")]
            bad = [h for h in ours if not os.path.exists(h) or not may_include(path, h)]
            passed, failed = passed + (not bad), failed + bool(bad)
            for header in bad:
                print("FAIL src/%s must not include %s" % (path, header))
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
