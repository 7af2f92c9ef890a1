#!/usr/bin/env python3
"""Checks that plain variables with --data-races=allow have the same outcomes as atomic ones, with every compiler and level.

Random threads read, set and add to shared variables. Each program is built with plain variables and with atomic ones
whose additions are a load and a store. An oracle runs every interleaving of reads and writes, so it knows all outcomes.
The program asserts that a given outcome does not happen: this is an error if the oracle has the outcome, else verified.

  fuzz_twins.py [--mazurka PATH] [--count N] [--seed N] [--compilers gcc,clang] [--levels O0,O1,O2,O3]
"""
import argparse, json, os, random, shutil, subprocess, sys, tempfile

VARIABLES, REGISTERS = 2, 2

def statement(rng):
    kind = rng.choice(["add", "add", "set", "load", "store"])
    v, k, r = rng.randrange(VARIABLES), rng.randrange(1, 4), rng.randrange(REGISTERS)
    return kind, v, k, r

def steps(s):
    """A statement as atomic steps on (shared, registers)."""
    kind, v, k, r = s
    if kind == "add": return [("read", v, "t", 0), ("write", v, "t", k)]
    if kind == "set": return [("write", v, None, k)]
    if kind == "load": return [("read", v, r, 0)]
    return [("write", v, r, k)]

def outcomes(threads):
    code = [[x for s in t for x in steps(s)] for t in threads]
    first = (tuple([0] * len(code)), tuple([0] * VARIABLES), tuple(tuple([0] * REGISTERS + [0]) for _ in code))
    seen, todo, ends = {first}, [first], set()
    while todo:
        at, shared, local = todo.pop()
        done = True
        for t, i in enumerate(at):
            if i == len(code[t]): continue
            done = False
            op, v, r, k = code[t][i]
            mine, memory = list(local[t]), list(shared)
            slot = REGISTERS if r == "t" else r
            if op == "read": mine[slot] = memory[v]
            else: memory[v] = (mine[slot] if r is not None else 0) + k
            n = (at[:t] + (i + 1,) + at[t + 1:], tuple(memory), local[:t] + (tuple(mine),) + local[t + 1:])
            if n not in seen:
                seen.add(n)
                todo.append(n)
        if done: ends.add(tuple(shared) + tuple(x for l in local for x in l[:REGISTERS]))
    return ends

def number(outcome):
    n = 0
    for x in outcome: n = n * 31 + x
    return n

def source(threads):
    def line(s):
        kind, v, k, r = s
        if kind == "add": return f"ADD(v{v}, {k}); BARRIER;"
        if kind == "set": return f"SET(v{v}, {k}); BARRIER;"
        if kind == "load": return f"r[{r}] = GET(v{v}); BARRIER;"
        return f"SET(v{v}, r[{r}] + {k}); BARRIER;"
    text = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#define BARRIER __asm__ volatile("" ::: "memory")
#ifdef ATOMIC
typedef atomic_long shared;
#define GET(x) atomic_load(&x)
#define SET(x, n) atomic_store(&x, n)
#define ADD(x, n) atomic_store(&x, atomic_load(&x) + n)
#else
typedef long shared;
#define GET(x) x
#define SET(x, n) x = n
#define ADD(x, n) x += n
#endif
"""
    text += "".join(f"shared v{i};\n" for i in range(VARIABLES))
    text += f"long local[{len(threads)}][{REGISTERS}];\n"
    for t, body in enumerate(threads):
        text += f"static void *t{t}(void *x)\n{{\n    long r[{REGISTERS}] = {{0}};\n"
        text += "".join(f"    {line(s)}\n" for s in body)
        text += "".join(f"    local[{t}][{i}] = r[{i}];\n" for i in range(REGISTERS)) + "    return x;\n}\n"
    text += "int main(int argc, char **argv)\n{\n"
    text += f"    pthread_t t[{len(threads)}];\n    long unwanted = atol(argv[argc - 1]), n = 0;\n"
    text += "".join(f"    pthread_create(&t[{i}], 0, t{i}, 0);\n" for i in range(len(threads)))
    text += "".join(f"    pthread_join(t[{i}], 0);\n" for i in range(len(threads)))
    text += "".join(f"    n = n * 31 + GET(v{i});\n" for i in range(VARIABLES))
    text += "".join(f"    n = n * 31 + local[{t}][{i}];\n" for t in range(len(threads)) for i in range(REGISTERS))
    return text + "    assert(n != unwanted);\n    return 0;\n}\n"

def check(a, path, unwanted, expected):
    command = [a.mazurka, "check", "--strategy=exhaustive", "--json", "--trace=/dev/null", "--data-races=allow", path, "--", str(unwanted)]
    out = subprocess.run(command, capture_output=True, text=True, timeout=120)
    try: result = json.loads(out.stdout)
    except ValueError: return f"no result: {out.stderr.strip()[:200]}"
    got = result["errors"][0]["kind"] if result["errors"] else result["verdict"]
    return None if got == expected else f"outcome {unwanted}: {got}, expected {expected}"

def one(a, rng, work):
    threads = [[statement(rng) for _ in range(rng.randrange(1, 4))] for _ in range(rng.choice([2, 2, 3]))]
    known = sorted(number(o) for o in outcomes(threads))
    wanted = rng.sample(known, min(4, len(known)))
    never = next(n for n in range(rng.randrange(1000), 10**9) if n not in known)
    file, bad = os.path.join(work, "twins.c"), []
    with open(file, "w") as f: f.write(source(threads))
    for compiler in a.compilers.split(","):
        if not shutil.which(compiler): continue
        for level in a.levels.split(","):
            for twin in ("", "-DATOMIC"):
                if twin and level != "O1": continue
                path = os.path.join(work, "twins")
                subprocess.run([a.mazurka, "cc", "-w", f"-{level}", *([twin] if twin else []), file, "-o", path],
                               check=True, env={**os.environ, "MAZURKA_CC": compiler})
                for unwanted, expected in [(n, "assertion") for n in wanted] + [(never, "verified")]:
                    why = check(a, path, unwanted, expected)
                    if why: bad.append(f"{compiler} -{level} {twin}: {why}")
    return bad, threads

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--mazurka", default="./mazurka")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--compilers", default="gcc,clang")
    p.add_argument("--levels", default="O0,O1,O2,O3")
    a = p.parse_args()
    a.mazurka = os.path.abspath(a.mazurka)
    failed = 0
    for n in range(a.count):
        with tempfile.TemporaryDirectory() as work: bad, threads = one(a, random.Random(a.seed * 1000003 + n), work)
        failed += bool(bad)
        for b in bad: print(f"FAIL program {n} of --seed {a.seed}, {threads}: {b}", flush=True)
    print(f"{a.count - failed} passed, {failed} failed")
    return 1 if failed else 0

sys.exit(main())
