#!/usr/bin/env python3
"""Shows which files need each other: the strongly connected components of the object files of a folder, by link.

    tools/link_cycles.py [--edges] [--check] [FOLDER...]      default: every folder of src/

File a needs file b if the object of a refers to a symbol that the object of b defines. A large component means that no file
in it can be read, tested or replaced alone. `make` must have run: the objects are those in build/. With --edges it also prints,
for each component, the pairs of files inside it with the symbols that link them. With --check the exit status
is 1 if a component is larger than MOST allows.

A lower file of the runtime calls an upper file through the table rt.up (src/runtime/core/upcalls.h). Before the table,
66 files of the runtime formed one component. The components that stay are each one subject:

    9  loops that wait, and the signal handler that ends endless loops (loops/, kernel/crash, state/frames)
    9  an access, its race check, and the race history in the state
    8  threads that end, cancel and wait for each other (core/threads, core/exit, kernel/time, five files of sync/)
    6  fibers, the undo log, and findings, which end a fiber
    6  system calls that one table starts and that use the same helpers

One call upwards by name can join them: kernel/written called kernel/files, and 58 files were one component."""
import argparse
import collections
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The largest component that a folder may have; any other folder: 1. Each limit is the size today: lower it when a change
# makes the component smaller.
MOST = {"runtime": 9, "dist": 6, "model": 2, "report": 2}


def objects(folder):
    """The objects of a folder of src/; those of the target if it is part of the target, otherwise those of the command."""
    for kind in ("target", "host"):
        found = sorted(glob.glob(os.path.join(ROOT, "build", kind, "src", folder, "**", "*.o"), recursive=True))
        found = [o for o in found if glob.glob(os.path.join(ROOT, "src", os.path.relpath(o, os.path.join(ROOT, "build", kind, "src")))[:-1] + "[cS]")]
        if found:
            return found
    return []


def symbols(path):
    """(defined, undefined) names of an object."""
    defined, undefined = set(), set()
    for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, name = line.split()[-2:]
        if kind in "Uw":
            undefined.add(name)
        elif kind in "TDBRCVWG":
            defined.add(name)
    return defined, undefined


def graph(paths):
    """file -> needed file -> the symbols that the first needs of the second"""
    known = {os.path.splitext(p.split("/src/", 1)[1])[0].split("/", 1)[1]: symbols(p) for p in paths}
    owner = {s: f for f, (defined, _) in known.items() for s in defined}
    edges = {f: collections.defaultdict(set) for f in known}
    for f, (_, undefined) in known.items():
        for s in undefined:
            if owner.get(s, f) != f:
                edges[f][owner[s]].add(s)
    return edges


def components(edges):
    """Tarjan's algorithm, largest component first."""
    number, low, stack, found = {}, {}, [], []

    def visit(f):
        number[f] = low[f] = len(number)
        stack.append(f)
        for g in edges[f]:
            if g not in number:
                visit(g)
            if g in stack:
                low[f] = min(low[f], low[g])
        if low[f] == number[f]:
            component = stack[stack.index(f):]
            del stack[stack.index(f):]
            found.append(component)

    for f in sorted(edges):
        if f not in number:
            visit(f)
    return sorted(found, key=len, reverse=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--edges", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folders", nargs="*")
    options = parser.parse_args()
    sys.setrecursionlimit(10000)
    too_large = False
    for folder in options.folders or sorted(os.listdir(os.path.join(ROOT, "src"))):
        paths = objects(folder)
        if not paths:
            continue
        edges = graph(paths)
        found = components(edges)
        sizes = [len(c) for c in found if len(c) > 1]
        print("%-10s %3d files, largest cycle %d%s" % (folder, len(paths), len(found[0]), ", others %s" % sizes[1:] if sizes[1:] else ""))
        if options.check and len(found[0]) > MOST.get(folder, 1):
            print("FAIL %s: at most %d files may need each other" % (folder, MOST.get(folder, 1)))
            too_large = True
        for component in found if options.edges else ():
            if len(component) < 2:
                continue
            print("  " + " ".join(sorted(component)))
            for f in sorted(component):
                for g in sorted(set(edges[f]) & set(component)):
                    print("    %s -> %s: %s" % (f, g, " ".join(sorted(edges[f][g]))))
    return too_large


if __name__ == "__main__":
    sys.exit(main())
