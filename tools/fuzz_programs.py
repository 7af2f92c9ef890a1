#!/usr/bin/env python3
"""Random C programs, checked by mazurka and by an oracle that shares nothing with it.

    tools/fuzz_programs.py [--seed N] [--count N] [--conditions] [--algorithms LIST] [--keep DIR]

tests/random does this for the engine, on models. Here the whole tool is tested: compiler, hooks, runtime, data
races by the rules of C11, reports. A program has two or three threads with atomic operations of all memory
orders, fences, mutexes, trylock, condition variables, plain accesses, and branches on values that it has read.
The oracle enumerates the classes of the program with sleep sets only, and decides races with vector clocks and
the list of active release sequences of each location. The script compares the verdict, the kind of error and, if
there is no error, the number of executions. If they differ, the exit status is 1 and the program is in DIR.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

os.environ["MAZURKA_MUST_REPLAY"] = "1"  # a finding that does not replay is a failure

LOADS = ["relaxed", "acquire", "seq_cst"]
STORES = ["relaxed", "release", "seq_cst"]
ORDERS = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]


def acquires(order):
    return order in ("acquire", "acq_rel", "seq_cst")


def releases(order):
    return order in ("release", "acq_rel", "seq_cst")


class Program:
    """Threads are lists of operations: tuples that begin with a word; blocks are nested lists."""

    def __init__(self, seed, conditions):
        r = self.random = random.Random(seed)
        self.atomics = r.choice([1, 2, 2, 3])
        self.plains = r.choice([1, 1, 2])
        self.mutexes = r.choice([1, 2]) if conditions else r.choice([0, 1, 2])
        self.condition = conditions
        self.tries = self.mutexes and not conditions and r.random() < 0.3
        self.strong = r.random() < 0.5  # no relaxed operations
        self.share_of_plain = r.choice([0.1, 0.3, 0.5])
        count = r.choice([2, 2, 3, 3])
        if r.random() < 0.5:
            self.threads = self.messages(count)
        else:
            lengths = {2: [2, 3, 4], 3: [1, 2, 3]}[count]
            self.threads = [self.block(r.choice(lengths), frozenset(), 0) for _ in range(count)]
        self.tries = any(contains(t, "try") for t in self.threads)

    def messages(self, count):
        """Data that is written plainly and passed on by atomics: right or not, depending on their orders."""
        r, threads = self.random, []
        self.share_of_plain, self.atomics, self.strong = 0, r.choice([1, 1, 2]), False

        def sends(first):
            x = r.randrange(self.atomics)
            return [r.choice([("store", x, first, self.order(STORES)), ("add", x, self.order(ORDERS)),
                              ("cas", x, first - 1, first, self.order(ORDERS), r.choice(LOADS))])]

        def fence():
            return [("fence", r.choice(ORDERS[1:]))] if r.random() < 0.3 else []

        for t in range(count):
            touch = [r.choice([("read", 0), ("write", 0)])]
            if t == 0:
                threads.append([("write", 0)] + fence() + sends(1) + (sends(2) if r.random() < 0.5 else []))
            elif t == 1 and count == 3:
                threads.append(sends(2) if r.random() < 0.5 else
                               [("if", r.randrange(self.atomics), 1, self.order(LOADS), sends(2))])
            else:
                threads.append([("if", r.randrange(self.atomics), r.choice([1, 2]), self.order(LOADS),
                                 fence() + touch)])
        return threads

    def order(self, orders):
        return self.random.choice(orders[1:] if self.strong else orders)

    def block(self, length, held, depth):
        out = []
        for _ in range(length):
            out += self.operation(held, depth)
        return out

    def operation(self, held, depth):
        r, x = self.random, self.random.randrange(self.atomics)
        k = r.random() - self.share_of_plain
        if k < 0:
            return [(r.choice(["read", "write", "read"]), r.randrange(self.plains))]
        if k < 0.12:
            return [("store", x, r.randrange(1, 4), self.order(STORES))]
        if k < 0.26:
            return [("load", x, self.order(LOADS))]
        if k < 0.33:
            return [("add", x, self.order(ORDERS))]
        if k < 0.40:
            return [("cas", x, r.randrange(3), r.randrange(4), self.order(ORDERS), r.choice(LOADS))]
        if k < 0.43:
            return [("fence", r.choice(ORDERS[1:]))]
        if k < 0.52:
            return self.section(held, depth)
        if k < 0.60:
            return [(r.choice(["signal", "signal", "broadcast"]),)] if self.condition else []
        if k < 0.64 and depth < 2:
            return [("if", x, r.randrange(3), self.order(LOADS), self.block(r.randrange(1, 3), held, depth + 1))]
        return []

    def section(self, held, depth):
        r = self.random
        free = [m for m in range(self.mutexes) if m not in held]
        if not free or len(held) == 2:
            return []
        m = r.choice(free)
        inside = self.block(r.randrange(3), held | {m}, depth + 1)
        if self.tries and r.random() < 0.5:
            return [("try", m, inside)]
        if self.condition and not held and r.random() < 0.5:
            wait = ("wait", m)
            if r.random() < 0.7:
                wait = ("if", r.randrange(self.atomics), 0, "relaxed", [wait])
            inside.insert(r.randrange(len(inside) + 1), wait)
        return [("lock", m)] + inside + [("unlock", m)]

    def c(self):
        out = ["#include <pthread.h>", "#include <stdatomic.h>"]
        out += ["_Atomic int x%d;" % i for i in range(self.atomics)]
        out += ["int p%d;" % i for i in range(self.plains)]
        out += ["pthread_mutex_t m%d = PTHREAD_MUTEX_INITIALIZER;" % i for i in range(self.mutexes)]
        out += ["pthread_cond_t c = PTHREAD_COND_INITIALIZER;", '#define KEEP(v) __asm__ volatile("" ::"r"(v))']
        for i, t in enumerate(self.threads):
            out += ["static void *t%d(void *arg)" % i, "{"] + c_block(t, 1) + ["    return arg;", "}"]
        n = len(self.threads)
        out += ["int main(void)", "{", "    pthread_t t[%d];" % n]
        out += ["    pthread_create(&t[%d], 0, t%d, 0);" % (i, i) for i in range(n)]
        out += ["    pthread_join(t[%d], 0);" % i for i in range(n)]
        return "\n".join(out + ["    return 0;", "}"]) + "\n"


def contains(block, word):
    return any(op[0] == word or (isinstance(op[-1], list) and contains(op[-1], word)) for op in block)


C_TEXT = {
    "read": "{ int r = p%d; KEEP(r); }",
    "write": "p%d = 1;",
    "store": "atomic_store_explicit(&x%d, %d, memory_order_%s);",
    "load": "(void)atomic_load_explicit(&x%d, memory_order_%s);",
    "add": "atomic_fetch_add_explicit(&x%d, 1, memory_order_%s);",
    "fence": "atomic_thread_fence(memory_order_%s);",
    "lock": "pthread_mutex_lock(&m%d);",
    "unlock": "pthread_mutex_unlock(&m%d);",
    "wait": "pthread_cond_wait(&c, &m%d);",
    "signal": "pthread_cond_signal(&c);",
    "broadcast": "pthread_cond_broadcast(&c);",
}


def c_block(block, depth):
    out, space = [], "    " * depth
    for op in block:
        if op[0] == "cas":
            out.append(space + "{ int e = %d; atomic_compare_exchange_strong_explicit(&x%d, &e, %d, "
                       "memory_order_%s, memory_order_%s); }" % (op[2], op[1], op[3], op[4], op[5]))
        elif op[0] == "try":
            out.append(space + "if (!pthread_mutex_trylock(&m%d)) {" % op[1])
            out += c_block(op[2], depth + 1) + [space + "    pthread_mutex_unlock(&m%d);" % op[1], space + "}"]
        elif op[0] == "if":
            out.append(space + "if (atomic_load_explicit(&x%d, memory_order_%s) == %d) {" % (op[1], op[3], op[2]))
            out += c_block(op[4], depth + 1) + [space + "}"]
        else:
            out.append(space + (C_TEXT[op[0]] % op[1:] if op[1:] else C_TEXT[op[0]]))
    return out


class Sync:
    """The C11 order: happens-before from program order, release and acquire, fences, mutexes."""

    def __init__(self, threads):
        self.size = threads
        self.clock = [[0] * threads for _ in range(threads)]
        self.fenced = [None] * threads  # clock at the last release fence
        self.loaded = [[0] * threads for _ in range(threads)]  # for the next acquire fence
        self.sequences = {}  # location: [(thread, clock of the release)] that its last write belongs to
        self.mutex = {}
        self.accesses = {}
        self.race = False

    @staticmethod
    def join(into, clock):
        for i, c in enumerate(clock):
            into[i] = max(into[i], c)

    def read(self, t, x, order):
        for _, clock in self.sequences.get(x, []):
            self.join(self.clock[t] if acquires(order) else self.loaded[t], clock)

    def write(self, t, x, order, changes):
        """changes: the write is a read-modify-write, which continues the release sequences of all threads."""
        now = [s for s in self.sequences.get(x, []) if changes or s[0] == t]
        if releases(order):
            now.append((t, list(self.clock[t])))
        elif self.fenced[t]:
            now.append((t, list(self.fenced[t])))
        self.sequences[x] = now

    def fence(self, t, order):
        if acquires(order):
            self.join(self.clock[t], self.loaded[t])
        if releases(order):
            self.fenced[t] = list(self.clock[t])

    def acquire(self, t, m):
        self.join(self.clock[t], self.mutex.get(m, []))

    def release(self, t, m):
        self.mutex[m] = list(self.clock[t])

    def access(self, t, p, writes):
        for u, time, wrote in self.accesses.setdefault(p, []):
            if u != t and (writes or wrote) and self.clock[t][u] < time:
                self.race = True
        self.accesses[p].append((t, self.clock[t][t], writes))


class Execution:
    """One run. Each thread is a generator that yields its next event and gets its outcome."""

    def __init__(self, program):
        self.program = program
        self.memory, self.owner, self.waiters, self.again = {}, {}, [], {}
        self.sync = Sync(len(program.threads))
        self.runs = [self.thread(i, t) for i, t in enumerate(program.threads)]
        self.next = [None] * len(self.runs)
        for i in range(len(self.runs)):
            self.advance(i, None)

    def thread(self, t, block):
        s = self.sync
        for op in block:
            s.clock[t][t] += 1
            word = op[0]
            if word == "read" or word == "write":
                s.access(t, op[1], word == "write")
            elif word == "fence":
                s.fence(t, op[1])
            elif word == "load":
                yield ("load", op[1])
                s.read(t, op[1], op[2])
            elif word == "store":
                yield ("store", op[1], op[2])
                s.write(t, op[1], op[3], False)
            elif word == "add":
                yield ("add", op[1])
                s.read(t, op[1], op[2])
                s.write(t, op[1], op[2], True)
            elif word == "cas":
                if (yield ("cas", op[1], op[2], op[3])):
                    s.read(t, op[1], op[4])
                    s.write(t, op[1], op[4], True)
                else:
                    s.read(t, op[1], op[5])
            elif word == "lock":
                yield ("lock", op[1])
                s.acquire(t, op[1])
            elif word == "unlock":
                yield from self.unlock(t, op[1])
            elif word == "try":
                if (yield ("try", op[1])):
                    s.acquire(t, op[1])
                    yield from self.thread(t, op[2])
                    s.clock[t][t] += 1
                    yield from self.unlock(t, op[1])
            elif word == "if":
                value = yield ("load", op[1])
                s.read(t, op[1], op[3])
                if value == op[2]:
                    yield from self.thread(t, op[4])
            elif word == "wait":
                yield ("wait", op[1])
                s.acquire(t, op[1])
            else:
                yield (word,)

    def unlock(self, t, m):
        if self.program.tries:  # with trylock, an unlock is an event
            yield ("unlock", m)
        self.sync.release(t, m)
        self.owner.pop(m, None)

    def advance(self, t, outcome):
        try:
            self.next[t] = self.runs[t].send(outcome)
        except StopIteration:
            self.next[t] = "end"

    def enabled(self):
        out = []
        for t, e in enumerate(self.next):
            if e is None or e == "end" or (e[0] == "lock" and e[1] in self.owner):
                continue
            if e[0] == "signal" and self.waiters:
                out += [(t, w) for w in self.waiters]
            else:
                out.append((t, None))
        return out

    def access(self, step):
        """The object of a step, and whether it changes it."""
        e = self.next[step[0]]
        if e[0] == "cas":
            return ("x", e[1]), self.memory.get(e[1], 0) == e[2]
        if e[0] == "try":
            return ("m", e[1]), e[1] not in self.owner
        if e[0] in ("lock", "unlock"):
            return ("m", e[1]), True
        if e[0] in ("wait", "signal", "broadcast"):
            return "condition", e[0] != "wait"
        return ("x", e[1]), e[0] != "load"

    def step(self, step):
        t, woken = step
        e, memory, outcome = self.next[t], self.memory, None
        if e[0] == "load":
            outcome = memory.get(e[1], 0)
        elif e[0] == "store":
            memory[e[1]] = e[2]
        elif e[0] == "add":
            memory[e[1]] = memory.get(e[1], 0) + 1
        elif e[0] == "cas":
            outcome = memory.get(e[1], 0) == e[2]
            if outcome:
                memory[e[1]] = e[3]
        elif e[0] == "lock":
            self.owner[e[1]] = t
        elif e[0] == "try":
            outcome = e[1] not in self.owner
            if outcome:
                self.owner[e[1]] = t
        elif e[0] == "wait":
            self.waiters.append(t)
            self.again[t] = e[1]
            self.sync.release(t, e[1])
            self.owner.pop(e[1], None)
            self.next[t] = None
            return
        elif e[0] in ("signal", "broadcast"):
            for w in list(self.waiters) if e[0] == "broadcast" else [woken] if self.waiters else []:
                self.waiters.remove(w)
                self.next[w] = ("lock", self.again[w])
        self.advance(t, outcome)


def oracle(program, limit):
    """Number of classes, deadlocks and races; None if there are too many classes."""
    found = {"classes": 0, "deadlocks": 0, "races": 0}

    def explore(path, asleep):
        run = Execution(program)
        for step in path:
            run.step(step)
        steps = run.enabled()
        found["races"] += run.sync.race
        if not steps:
            found["classes"] += 1
            found["deadlocks"] += any(e != "end" for e in run.next)
            return found["classes"] <= limit
        asleep = dict(asleep)
        for step in steps:
            if step in asleep:
                continue
            obj, writes = run.access(step)
            awake = {q: a for q, a in asleep.items()
                     if q[0] != step[0] and not (a[0] == obj and (a[1] or writes))}
            if not explore(path + [step], awake):
                return False
            asleep[step] = (obj, writes)
        return True

    return found if explore([], {}) else None


def check(mazurka, algorithm, directory):
    out = subprocess.run([mazurka, "check", "--strategy=exhaustive", "--algorithm=" + algorithm, "--json", "--quiet", "-O0",
                          "--trace=" + os.path.join(directory, "fuzz.trace"), os.path.join(directory, "fuzz.c")],
                         capture_output=True, text=True, 
                         env=dict(os.environ, XDG_CACHE_HOME=directory, MAZURKA_CHECK_FORESEEN="1"))
    try:
        result = json.loads(out.stdout)
    except ValueError:
        return "no result: " + out.stderr.strip(), 0, 0
    errors = result["errors"]
    unsure = [e["message"] for e in errors if not e["replayed"]]
    if unsure:
        return "not replayed: " + unsure[0], 0, 0
    return errors[0]["kind"] if errors else result["verdict"], result["executions"], result["blocked"]


def agree(expected, algorithm, verdict, executions, blocked):
    if expected["races"] or expected["deadlocks"]:
        return (verdict == "data-race" and expected["races"]) or (verdict == "deadlock" and expected["deadlocks"])
    return (verdict == "verified" and executions == expected["classes"]
            and not (algorithm == "optimal" and blocked))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--conditions", action="store_true", help="with a condition variable, without trylock")
    parser.add_argument("--algorithms", default="optimal,source,dpor,sleep")
    parser.add_argument("--keep", default="build", help="where programs go that differ")
    parser.add_argument("--mazurka", default=os.path.join(os.path.dirname(__file__), "..", "mazurka"))
    options = parser.parse_args()
    sys.setrecursionlimit(10000)
    differences, kinds = 0, {}
    with tempfile.TemporaryDirectory() as directory:
        for seed in range(options.seed, options.seed + options.count):
            program = Program(seed, options.conditions)
            expected = oracle(program, 3000)
            if expected is None:
                continue
            with open(os.path.join(directory, "fuzz.c"), "w") as f:
                f.write(program.c())
            for algorithm in options.algorithms.split(","):
                got = check(options.mazurka, algorithm, directory)
                if agree(expected, algorithm, *got):
                    continue
                differences += 1
                name = os.path.join(options.keep, "fuzz-%d.c" % seed)
                with open(name, "w") as f:
                    f.write(program.c())
                print("%s, %s: expected %s, got %s" % (name, algorithm, expected, got), flush=True)
            kind = "race" if expected["races"] else "deadlock" if expected["deadlocks"] else "verified"
            kinds[kind] = kinds.get(kind, 0) + 1
    print("seed %d: %d programs (%s), %d differences" % (options.seed, sum(kinds.values()), ", ".join(
        "%s %d" % k for k in sorted(kinds.items())), differences))
    return differences > 0


if __name__ == "__main__":
    sys.exit(main())
