#!/usr/bin/env python3
"""Checks that each writable variable of the runtime belongs to the structure of its room.

    tools/runtime_globals.py

The runtime lives inside the tested program, and each of its variables is kept, cleared or rolled back before the next
execution. So each room has one structure with all its variables, and comments that say which of the three holds
(src/runtime/*/room.h). This script lists the writable symbols in the objects of build/target/src/runtime (`make` must have
run) and fails if there is any other variable, file static or global. Prints each such variable, then "N passed, M failed", counted in objects."""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOMS = ("core", "sync", "memory", "kernel", "rewind", "state", "loops", "hooks")

# object: its writable variables. Everything else is an error.
ALLOWED = {"%s/room.o" % room: {"mz_%s_room" % room} for room in ROOMS}
ALLOWED["core/room.o"].add("rt")  # what all rooms see of the core
ALLOWED["hooks/string.o"] = {"strtok_rest"}  # MZ_LIBC_STATE: the program's own, in place of libc's


def writable(path):
    """The variables in writable sections of an object. Constants with relocations (.data.rel.ro) are not writable."""
    found = set()
    for line in subprocess.run(["objdump", "-t", path], capture_output=True, text=True, check=True).stdout.splitlines():
        fields = line.split()
        if len(fields) < 5 or "O" not in fields[2:-3] and "*COM*" not in fields:
            continue
        section, name = fields[-3], fields[-1]
        if ".hidden" in fields:
            section = fields[-4]
        if section.startswith((".rodata", ".data.rel.ro")):
            continue
        found.add(name)
    return found


def main():
    base = os.path.join(ROOT, "build", "target", "src", "runtime")
    passed = failed = 0
    for path in sorted(glob.glob(os.path.join(base, "**", "*.o"), recursive=True)):
        name = os.path.relpath(path, base)
        if not os.path.exists(os.path.join(ROOT, "src", "runtime", name[:-1] + "c")):
            continue  # of a file that is gone
        allowed = ALLOWED.get(name, set())
        there = writable(path)
        for variable in sorted(there - allowed):
            print("FAIL src/runtime/%sc: %s is writable: move it to room.h of its room" % (name[:-1], variable))
        for variable in sorted(allowed - there):
            print("FAIL src/runtime/%sc: %s is not there, but tools/runtime_globals.py expects it" % (name[:-1], variable))
        passed, failed = passed + (there == allowed), failed + (there != allowed)
    if passed + failed < len(ROOMS):
        print("FAIL there are no objects in build/target/src/runtime: run make")
        failed += 1
    print("%d passed, %d failed" % (passed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
