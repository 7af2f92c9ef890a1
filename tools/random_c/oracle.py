"""What a random program can do: all states of all its interleavings, one by one. Shares no code with mazurka.

compile_block() turns the statements of a thread into a list of instructions. An instruction in VISIBLE is a step of
its own; the others run with the step before them. State holds all that the future depends on, and explore() visits every
state once. Its result: the set of outcomes (as c_text.py computes them), whether some state has no way to an end
("stuck": deadlock, livelock), whether two accesses race. Clocks (C11's happens-before) are kept for racy programs only."""
from c_text import OUTCOMES
from generate import MAIN

MASK = 0xFFFFFFFF
CANCELED = MASK
READY, WAITING, TIMED, BARRIER, ENDED, UNBORN = range(6)
LOCAL = {"jne", "jump", "push", "pop", "cancel_state", "exit", "p_load", "p_store", "p_add", "mk", "next", "sum", "copy",
         "memset", "memcpy", "memmove", "return", "end", "note"}


def compile_block(block, out):
    """Append the instructions of a block to `out`."""
    for s in block:
        word, rest = s[0], s[1:]
        if word == "lock":
            out.append(("lock", rest[0]))
            compile_block(rest[1], out)
            out.append(("unlock", rest[0]))
        elif word in ("rd", "wr"):
            out.append((word,))
            compile_block(rest[0], out)
            out.append(("rw_unlock",))
        elif word in ("try", "timed", "tryrd", "trywr"):
            at = len(out)
            out.append(None)
            compile_block(rest[-1], out)
            out.append(("rw_unlock",) if word in ("tryrd", "trywr") else ("unlock", rest[0]))
            out[at] = ("try" if word == "timed" else word,) + rest[:-1] + (len(out),)
        elif word == "cond_wait":
            out += [("lock", 0), ("wait",), ("relock", False), ("unlock", 0)]
        elif word == "cond_timed":
            out += [("lock", 0), ("wait_timed",), ("relock", True), ("unlock", 0)]
        elif word == "cond_for":
            at = len(out)
            out += [("lock", 0), ("jnz", rest[0], at + 5), ("wait",), ("relock", False), ("jump", at + 1), ("unlock", 0)]
        elif word == "once":
            out += [("once_begin", len(out) + 3), ("h_add", 0, 3), ("once_end",)]
        elif word == "raise":
            out.append(("h_add", 1, 1))
        elif word == "cleanup":
            out.append(("push", rest[0], rest[1]))
            compile_block(rest[3], out)
            out.append(("pop",))
            if rest[2]:
                out.append(("h_add", rest[0], rest[1]))
        elif word == "if":
            at = len(out)
            out.append(None)
            compile_block(rest[2], out)
            out[at] = ("jne", rest[0], rest[1], len(out))
        elif word == "loop":
            at = len(out)
            out.append(None)
            compile_block(rest[1], out)
            out.append(("jump", at))
            out[at] = ("jnz", rest[0], len(out))
        elif word == "bounded":
            end = len(out) + rest[1] + 1
            out += [("bounded", rest[0], i, end) for i in range(rest[1])] + [("note", rest[1])]
        elif word == "cas_loop":
            out += [("get", rest[0])] + [("cas_try",) + rest]
        elif word == "inc":
            out += [("get", rest[0]), ("put", rest[0], rest[1])]
        elif word != "yield":
            out.append(s)


class Local:
    """One thread."""
    __slots__ = ("status", "pc", "r", "h", "cleanup", "keys", "pending", "enabled", "tail", "result")

    def __init__(self):
        self.status, self.pc, self.r, self.h = UNBORN, 0, (0, 0, 0), 0
        self.cleanup, self.keys, self.pending, self.enabled, self.tail, self.result = (), (0, 0), False, True, None, 0

    def key(self):
        return (self.status, self.pc, self.r, self.h, self.cleanup, self.keys, self.pending, self.enabled, self.tail,
                self.result)

    def clone(self):
        new = Local.__new__(Local)
        for name in Local.__slots__:
            setattr(new, name, getattr(self, name))
        return new


class Sync:
    """Clocks of threads, locks and cells; accesses to plain places that are not known to be ordered. All immutable but
    for the dictionaries, which are copied."""

    def __init__(self, n):
        self.clock = tuple((0,) * n for _ in range(n))
        self.of = {}  # what: clock
        self.sequences = {}  # cell: ((thread, clock of its release), ...)
        self.accesses = {}  # place: ((thread, wrote), time), ...
        self.race = False

    def clone(self):
        new = Sync.__new__(Sync)
        new.clock, new.race = self.clock, self.race
        new.of, new.sequences, new.accesses = dict(self.of), dict(self.sequences), dict(self.accesses)
        return new

    def key(self):
        return (self.clock, frozenset(self.of.items()), frozenset(self.sequences.items()),
                frozenset(self.accesses.items()), self.race)

    def set(self, t, clock):
        self.clock = self.clock[:t] + (clock,) + self.clock[t + 1:]

    def tick(self, t):
        c = self.clock[t]
        self.set(t, c[:t] + (c[t] + 1,) + c[t + 1:])

    def take(self, t, clock):
        if clock:
            self.set(t, tuple(map(max, self.clock[t], clock)))

    def acquire(self, t, *names):
        for name in names:
            self.take(t, self.of.get(name))

    def release(self, t, name, add=False):
        old = self.of.get(name)
        self.of[name] = tuple(map(max, old, self.clock[t])) if add and old else self.clock[t]
        self.tick(t)

    def read(self, t, x, order):
        if order in ("acquire", "acq_rel", "seq_cst"):
            for _, clock in self.sequences.get(x, ()):
                self.take(t, clock)

    def write(self, t, x, order, changes):
        now = [s for s in self.sequences.get(x, ()) if changes or s[0] == t]
        if order in ("release", "acq_rel", "seq_cst"):
            now = [s for s in now if s[0] != t] + [(t, self.clock[t])]
        self.sequences[x] = tuple(now)
        self.tick(t)

    def access(self, t, place, writes):
        known = dict(self.accesses.get(place, ()))
        for (u, wrote), time in known.items():
            if u != t and (writes or wrote) and self.clock[t][u] < time:
                self.race = True
        known[t, writes] = self.clock[t][t]
        self.accesses[place] = tuple(sorted(known.items()))


class NoSync:
    """For programs that cannot race."""
    race = False
    clone = lambda self: self
    key = lambda self: None
    acquire = release = read = write = access = take = tick = set = lambda self, *a, **k: None
    clock = ((),) * 8


class State:
    def __init__(self, machine):
        n = len(machine.codes)
        self.machine = machine
        self.threads = [Local() for _ in range(n)]
        self.x = [0, 0] + [0] * n  # x[2 + t]: y of thread t
        self.p = [0, 0]
        self.o = [(0,) * machine.words] * 2
        self.owner = [None, None]
        self.readers, self.writer = (), None
        self.sem, self.once, self.ptr = machine.program.sem, 0, None
        self.sync = Sync(n) if machine.program.mode == "racy" else NoSync()
        if machine.program.mode == "racy":
            for t in range(n):
                self.sync.tick(t)

    def clone(self):
        new = State.__new__(State)
        new.machine, new.sync = self.machine, self.sync.clone()
        new.threads = [t.clone() for t in self.threads]
        new.x, new.p, new.o, new.owner = list(self.x), list(self.p), list(self.o), list(self.owner)
        new.readers, new.writer, new.sem, new.once, new.ptr = self.readers, self.writer, self.sem, self.once, self.ptr
        return new

    def key(self):
        return (tuple(t.key() for t in self.threads), tuple(self.x), tuple(self.p), tuple(self.o), tuple(self.owner),
                self.readers, self.writer, self.sem, self.once, self.ptr, self.sync.key())

    # ---- what can be done next ----

    def instruction(self, t):
        th = self.threads[t]
        return th.tail[0] if th.tail is not None else self.machine.codes[t][th.pc]

    def steps(self):
        """Pairs (thread, choice). The choice of a signal is whom it wakes."""
        out = []
        for t, th in enumerate(self.threads):
            if th.status == TIMED:
                out.append((t, None))
            elif th.status == READY and self.enabled(t, self.instruction(t)):
                waiters = [u for u, w in enumerate(self.threads) if w.status in (WAITING, TIMED)]
                if self.instruction(t)[0] == "cond_signal" and waiters:
                    out += [(t, u) for u in waiters]
                else:
                    out.append((t, None))
        return out

    def enabled(self, t, i):
        word = i[0]
        if word == "lock":
            return self.owner[i[1]] is None
        if word == "relock":
            return self.owner[0] is None
        if word == "rd":
            return self.writer is None
        if word == "wr":
            return self.writer is None and not self.readers
        if word == "sem_wait":
            return self.sem > 0
        if word == "once_begin":
            return self.once != 1
        if word == "join":
            return self.threads[i[1]].status == ENDED
        if word == "spin":
            return self.x[i[1]] != i[2]
        return True

    # ---- helpers of instructions ----

    def note(self, t, v):
        th = self.threads[t]
        th.h = (th.h * 31 + (v & MASK) + 1) & MASK

    def get_r(self, t, e):
        return ((0 if e[0] is None else self.threads[t].r[e[0]]) + e[1]) & MASK

    def set_r(self, t, r, v):
        th = self.threads[t]
        th.r = th.r[:r] + (v & MASK,) + th.r[r + 1:]

    def cell(self, t, x):
        return x if x < 2 else 2 + self.machine.y_of[t]

    def put(self, t, x, v, order, changes):
        x = self.cell(t, x)
        self.x[x] = v & self.machine.mask(x)
        self.sync.write(t, x, order, changes)

    def load(self, t, x, order="seq_cst"):
        x = self.cell(t, x)
        self.sync.read(t, x, order)
        return self.x[x]

    def leave(self, t, result):
        """Cleanup handlers, then destructors of keys, then the end."""
        th = self.threads[t]
        th.tail = tuple(("h_add",) + c for c in reversed(th.cleanup)) + (("destroy", 0), ("destroy", 1), ("end",))
        th.cleanup, th.result = (), result & MASK

    # ---- steps ----

    def step(self, t, choice):
        th = self.threads[t]
        if th.status == TIMED:  # the time is over
            th.status = READY
            self.set_r(t, 2, 1)
            return
        i = self.instruction(t)
        self.perform(t, th, i, choice)
        self.run_local(t)

    def run_local(self, t):
        th = self.threads[t]
        while th.status == READY:
            i = self.instruction(t)
            if i[0] == "destroy" and not th.keys[i[1]]:
                th.tail = th.tail[1:]
            elif i[0] in LOCAL:
                self.perform(t, th, i, None)
            else:
                return

    def perform(self, t, th, i, choice):
        before = th.pc, th.tail
        getattr(self, "do_" + i[0])(t, th, *i[1:], **({"choice": choice} if i[0] == "cond_signal" else {}))
        if (th.pc, th.tail) == before and th.status != ENDED and not (i[0] == "cas_try" and th.r[2] != -1):
            if th.tail is not None:
                th.tail = th.tail[1:]
            else:
                th.pc += 1

    def do_load(self, t, th, r, x, order):
        self.set_r(t, r, self.load(t, x, order))
        self.note(t, th.r[r])

    def do_store(self, t, th, x, e, order):
        self.put(t, x, self.get_r(t, e), order, False)

    def do_get(self, t, th, x):
        th.r = th.r[:2] + (self.load(t, x, "relaxed"),)

    def do_put(self, t, th, x, k):
        self.put(t, x, th.r[2] + k, "relaxed", False)

    def do_rmw(self, t, th, what, r, x, k, order):
        old = self.load(t, x, order)
        new = {"add": old + k, "sub": old - k, "or": old | k, "and": old & k, "xor": old ^ k, "exchange": k}[what]
        self.put(t, x, new, order, True)
        self.set_r(t, r, old)
        self.note(t, old)

    def do_cas(self, t, th, r, x, old, new, order, fail):
        now = self.x[self.cell(t, x)]
        ok = now == old
        self.load(t, x, order if ok else fail)
        if ok:
            self.put(t, x, new, order, True)
        self.set_r(t, r, int(ok))
        self.note(t, int(ok) * 16 + now)

    def do_cas_try(self, t, th, x, k, order):
        now, wanted = self.x[self.cell(t, x)], th.r[2]
        if now != wanted:
            self.load(t, x, "relaxed")
            th.r = th.r[:2] + (now,)
            return
        self.load(t, x, order)
        self.put(t, x, now + k, order, True)
        self.note(t, now)
        th.r = th.r[:2] + (-1,)

    def do_cas_p(self, t, th, x, new):
        self.sync.access(t, ("p", x), False)
        now = self.load(t, x)
        ok = now == self.p[x]
        if ok:
            self.put(t, x, new, "seq_cst", True)
        else:
            self.sync.access(t, ("p", x), True)
            self.p[x] = now
        self.note(t, int(ok))

    def do_h_add(self, t, th, x, k):
        self.load(t, x)
        self.put(t, x, self.x[x] + k, "seq_cst", True)

    def do_destroy(self, t, th, k):
        value, keys = th.keys[k], list(th.keys)
        keys[k] = 0
        th.keys = tuple(keys)
        self.load(t, k)
        self.put(t, k, self.x[k] + value if k == 0 else self.x[k] ^ value, "seq_cst", True)

    def do_lock(self, t, th, m):
        self.owner[m] = t
        self.sync.acquire(t, ("m", m))

    def do_unlock(self, t, th, m):
        self.owner[m] = None
        self.sync.release(t, ("m", m))

    def do_try(self, t, th, m, fail):
        if self.owner[m] is None:
            self.do_lock(t, th, m)
        else:
            self.note(t, 1)
            th.pc = fail

    def do_rd(self, t, th):
        self.readers = tuple(sorted(self.readers + (t,)))
        self.sync.acquire(t, "written")

    def do_wr(self, t, th):
        self.writer = t
        self.sync.acquire(t, "written", "read")

    def do_tryrd(self, t, th, fail):
        if self.writer is None:
            self.do_rd(t, th)
        else:
            self.note(t, 1)
            th.pc = fail

    def do_trywr(self, t, th, fail):
        if self.writer is None and not self.readers:
            self.do_wr(t, th)
        else:
            self.note(t, 1)
            th.pc = fail

    def do_rw_unlock(self, t, th):
        if self.writer == t:
            self.writer = None
            self.sync.release(t, "written")
        else:
            self.readers = tuple(u for u in self.readers if u != t)
            self.sync.release(t, "read", add=True)

    def do_wait(self, t, th, timed=False):
        self.owner[0] = None
        self.sync.release(t, ("m", 0))
        self.set_r(t, 2, 0)
        th.status = TIMED if timed else WAITING

    def do_wait_timed(self, t, th):
        self.do_wait(t, th, True)

    def do_relock(self, t, th, timed):
        self.do_lock(t, th, 0)
        if timed:
            self.note(t, th.r[2])

    def do_cond_signal(self, t, th, choice):
        if choice is not None:
            self.threads[choice].status = READY

    def do_cond_broadcast(self, t, th):
        for w in self.threads:
            if w.status in (WAITING, TIMED):
                w.status = READY

    def do_sem_wait(self, t, th):
        self.sem -= 1
        self.sync.acquire(t, "sem")

    def do_sem_post(self, t, th):
        self.sem += 1
        self.sync.release(t, "sem", add=True)

    def do_sem_try(self, t, th):
        self.note(t, int(self.sem == 0))
        if self.sem:
            self.do_sem_wait(t, th)

    do_sem_timed = do_sem_try

    def do_sem_get(self, t, th):
        self.note(t, self.sem)

    def do_barrier(self, t, th):
        here = [u for u, w in enumerate(self.threads) if w.status == BARRIER] + [t]
        self.sync.release(t, "barrier", add=True)
        if len(here) < self.machine.program.arrivals:
            th.status = BARRIER
            return
        for u in here:
            self.threads[u].status = READY
            self.sync.acquire(u, "barrier")
        for u in here[:-1]:
            self.run_local(u)

    def do_once_begin(self, t, th, end):
        if self.once == 2:
            self.sync.acquire(t, "once")
            th.pc = end
        else:
            self.once = 1

    def do_once_end(self, t, th):
        self.once = 2
        self.sync.release(t, "once")

    def do_set_key(self, t, th, k, v):
        keys = list(th.keys)
        keys[k] = v
        th.keys = tuple(keys)

    def do_test_cancel(self, t, th):
        if th.pending and th.enabled:
            self.leave(t, CANCELED)

    def do_cancel(self, t, th, u):
        self.threads[u].pending = True

    def do_cancel_state(self, t, th, on):
        th.enabled = bool(on)

    def do_create(self, t, th, u):
        self.sync.access(t, ("t", u), True)
        self.sync.set(u, tuple(a if i != u else 1 for i, a in enumerate(self.sync.clock[t])))
        self.sync.tick(t)
        self.threads[u].status = READY
        self.run_local(u)

    def do_join(self, t, th, u, to_cell):
        self.sync.take(t, self.sync.clock[u])
        self.note(t, self.threads[u].result)

    def do_publish(self, t, th, k):
        if self.ptr is not None:
            self.note(t, self.ptr + 5)
        self.ptr = k

    def do_take(self, t, th):
        self.note(t, self.ptr or 0)
        self.ptr = None

    def do_spin(self, t, th, x, v):
        self.load(t, x)

    def do_bounded(self, t, th, x, i, end):
        if self.load(t, x):
            self.note(t, i)
            th.pc = end

    def do_jnz(self, t, th, x, target):
        if self.load(t, x):
            th.pc = target

    # ---- local ----

    def do_note(self, t, th, v):
        self.note(t, v)

    def do_jne(self, t, th, r, k, target):
        if th.r[r] != k:
            th.pc = target

    def do_jump(self, t, th, target):
        th.pc = target

    def do_push(self, t, th, x, k):
        th.cleanup += ((x, k),)

    def do_pop(self, t, th):
        th.cleanup = th.cleanup[:-1]

    def do_exit(self, t, th, e):
        self.leave(t, self.get_r(t, e))

    def do_return(self, t, th):
        if t == MAIN:
            self.do_end(t, th)
        else:
            self.leave(t, self.machine.program.threads[t].result)

    def do_end(self, t, th):
        th.status = ENDED
        th.tail = None

    def do_p_load(self, t, th, r, p):
        self.sync.access(t, ("p", p), False)
        self.set_r(t, r, self.p[p])
        self.note(t, th.r[r])

    def do_p_store(self, t, th, p, e):
        self.sync.access(t, ("p", p), True)
        self.p[p] = self.get_r(t, e) & self.machine.mask(p)

    def do_p_add(self, t, th, p, k):
        self.sync.access(t, ("p", p), False)
        self.sync.access(t, ("p", p), True)
        self.p[p] = (self.p[p] + k) & self.machine.mask(p)

    def words(self, t, o, first, n, writes):
        if not isinstance(self.sync, NoSync):
            for i in range(first, first + n):
                self.sync.access(t, ("o", o, i), writes)

    def change(self, o, first, new):
        old = self.o[o]
        self.o[o] = old[:first] + tuple(v & MASK for v in new) + old[first + len(new):]

    def do_mk(self, t, th, o, e):
        k, n = self.get_r(t, e), self.machine.words
        self.words(t, o, 0, n, True)
        self.change(o, 0, tuple(k + i for i in range(n)))

    def do_next(self, t, th, o):
        n = self.machine.words
        self.words(t, o, 0, n, False)
        self.words(t, o, 0, n, True)
        self.change(o, 0, tuple(v * 3 + i for i, v in enumerate(self.o[o])))

    def do_sum(self, t, th, r, o):
        self.words(t, o, 0, self.machine.words, False)
        self.set_r(t, r, sum_of(self.o[o]))
        self.note(t, th.r[r])

    def do_copy(self, t, th, o):
        self.do_memcpy(t, th, o, self.machine.words, False)

    def do_memset(self, t, th, o, byte, n, variable):
        self.words(t, o, 0, n, True)
        self.change(o, 0, (byte * 0x01010101,) * n)

    def do_memcpy(self, t, th, o, n, variable):
        self.words(t, 1 - o, 0, n, False)
        self.words(t, o, 0, n, True)
        self.change(o, 0, self.o[1 - o][:n])

    def do_memmove(self, t, th, o, to, source, n, variable):
        self.words(t, o, source, n, False)
        self.words(t, o, to, n, True)
        self.change(o, to, self.o[o][source:source + n])

    def outcome(self):
        y = self.x[2 + MAIN]
        all_ = self.x[0] * 7 + self.x[1] * 11 + y * 17 + self.p[0] * 3 + self.p[1] * 5
        if self.machine.objects:
            all_ += sum_of(self.o[0]) * 13 + sum_of(self.o[1]) * 19
        for th in self.threads:
            all_ = (all_ * 7919 + th.h) & MASK
        return (all_ ^ all_ >> 16) % OUTCOMES


def sum_of(words):
    total = 0
    for v in words:
        total = (total * 5 + v) & MASK
    return total


class Machine:
    """What stays the same of a program while it runs."""

    def __init__(self, program):
        from generate import uses
        self.program, self.words = program, program.words
        self.codes = []
        for t in program.threads:
            code = []
            compile_block(t.block, code)
            self.codes.append(tuple(code) + (("return",),))
        self.y_of = [t.number if t.number == MAIN or program.children(t.number) else t.parent for t in program.threads]
        self.objects = uses(program, ("mk", "next", "sum", "copy", "memset", "memcpy", "memmove"))

    def mask(self, x):
        return (1 << self.program.widths[x]) - 1 if x < 2 else MASK


class Expected:
    def __init__(self):
        self.outcomes, self.stuck, self.race, self.states = set(), False, False, 0

    def __str__(self):
        return "outcomes %s%s%s" % (sorted(self.outcomes), ", stuck" if self.stuck else "", ", race" if self.race else "")


def explore(program, limit):
    """What it can do; None if there are more than `limit` states."""
    machine, found = Machine(program), Expected()
    start = State(machine)
    start.threads[MAIN].status = READY
    start.run_local(MAIN)
    todo, numbers, before, good = [start], {start.key(): 0}, [[]], []
    while todo:
        state = todo.pop()
        me = numbers[state.key()]
        if state.sync.race:
            found.race = True
            return found
        if state.threads[MAIN].status == ENDED:
            found.outcomes.add(state.outcome())
            good.append(me)
            continue
        for t, choice in state.steps():
            then = state.clone()
            then.step(t, choice)
            key = then.key()
            number = numbers.get(key)
            if number is None:
                number = numbers[key] = len(before)
                before.append([])
                todo.append(then)
                if number > limit:
                    return None
            before[number].append(me)
    found.states = len(before)
    reached = set(good)
    while good:
        for u in before[good.pop()]:
            if u not in reached:
                reached.add(u)
                good.append(u)
    found.stuck = len(reached) < len(before)
    return found
