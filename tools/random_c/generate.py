"""Random programs as trees of statements: what they may contain, and how one is drawn.

A statement is a tuple (WORD, operands...); if its last operand is a list, that is the block inside it. c_text.py writes
a program as C, oracle.py runs it over all interleavings: whoever adds a statement adds it to these three.

Rules that the generator keeps, so that a program has only the errors that it is meant to have:
  - a thread never takes a lock that it holds;
  - every thread is joined, by its creator; main creates its children in descending order and joins them in ascending
    order, and a thread cancels only siblings of a higher number: whoever is cancelled exists and is not joined yet;
  - a thread that may be cancelled has no children;
  - plain cells and objects are used under their guard (mutex 1), except in programs that are `racy`."""
import random

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
LOADS = ("relaxed", "acquire", "seq_cst")
STORES = ("relaxed", "release", "seq_cst")
SIZES = (2, 4, 6, 18, 50)  # of objects, in words of 4 bytes: 8, 16, 24, 72, 200 bytes
GUARD = 1
MAIN = 0

# What a program may be made of, as kinds of which it uses a few. "atomic" is always there.
KINDS = {
    "mutex": ["lock"], "try": ["try", "timed", "lock"], "rwlock": ["rd", "wr", "tryrd", "trywr"],
    "semaphore": ["sem_wait", "sem_post", "sem_post", "sem_try", "sem_timed", "sem_get"],
    "condition": ["cond_wait", "cond_for", "cond_timed", "cond_signal", "cond_signal", "cond_broadcast"],
    "barrier": ["barrier"], "once": ["once"], "key": ["set_key"], "cleanup": ["cleanup", "exit"],
    "cancel": ["test_cancel", "test_cancel", "cancel", "cancel", "cancel_state", "cleanup"], "signal": ["raise"],
    "struct": ["mk", "next", "sum", "copy"], "memory": ["memset", "memcpy", "memmove", "sum"],
    "plain": ["p_load", "p_store", "p_add"], "expected": ["cas_p", "p_load", "p_store"], "heap": ["publish", "take"],
    "wait": ["spin", "bounded", "loop"], "result": ["exit", "if"], "nested": [],
}
RACY = ["mutex", "try", "rwlock", "semaphore", "barrier", "struct", "memory", "plain", "expected", "result", "nested"]
TWINS = ["mutex", "semaphore", "nested"]
GUARDED = {"mk", "next", "sum", "copy", "memset", "memcpy", "memmove", "p_load", "p_store", "p_add", "cas_p"}


class Thread:
    def __init__(self, number, parent):
        self.number, self.parent, self.block, self.result = number, parent, [], 0


class Program:
    """mode: "free" of data races; "racy": perhaps not; "twin": its cells are plain, and races are allowed."""

    def __init__(self, seed, mode=None):
        r = self.random = random.Random(seed)
        self.seed = seed
        self.mode = mode or r.choice(["free"] * 7 + ["racy"] * 3 + ["twin"])
        choose = {"free": sorted(KINDS), "racy": RACY, "twin": TWINS}[self.mode]
        self.kinds = r.sample(choose, min(len(choose), r.choice([1, 2, 2, 3, 4])))
        if self.mode == "racy" and not set(self.kinds) & {"struct", "memory", "plain", "expected"}:
            self.kinds.append("plain")
        self.widths = [r.choice([8, 16, 32, 32, 64]) for _ in range(2)]
        self.words = r.choice(SIZES)
        self.place = r.choice(["static", "stack", "stack", "heap"])
        self.by_argument = r.random() < 0.5
        self.noinline = r.random() < 0.7
        self.volatile = r.random() < 0.5
        self.sem, self.arrivals = r.choice([0, 0, 1]), r.choice([2, 2, 3])
        self.strong = self.mode != "racy" or r.random() < 0.4
        self.join_cell = "result" in self.kinds or r.random() < 0.3
        self.threads = self.tree()
        if "cancel" in self.kinds:
            self.cancelled = {t.number for t in self.threads if t.parent == MAIN and t.number > 1
                              and not self.children(t.number)}
        else:
            self.cancelled = set()
        for t in self.threads:
            self.fill(t)
        self.family()
        self.compiler = r.choice(["gcc", "gcc", "clang"])
        self.optimize = r.choice(["-O0", "-O0", "-O1", "-O2", "-O3"])

    # ---- who creates whom ----

    def tree(self):
        r = self.random
        threads = [Thread(0, None)]
        for i in range(1, r.choice([3, 3, 3, 4])):
            parent = MAIN
            if "nested" in self.kinds and i > 1 and r.random() < 0.6:
                parent = r.choice([t.number for t in threads[1:]])
            threads.append(Thread(i, parent))
        if len(threads) == 2:
            threads.append(Thread(2, MAIN))
        return threads

    def children(self, number):
        return [t.number for t in self.threads if t.parent == number]

    def fill(self, thread):
        r = self.random
        few = len(self.threads) > 3
        length = r.choice([0, 0, 1, 2]) if thread.number == MAIN else r.choice([1, 1, 2] if few else [1, 2, 2, 3])
        thread.block = self.draw(thread, length, frozenset(), 0)
        thread.result = r.randrange(1, 9)

    def family(self):
        """Put creating and joining children into the blocks: main's first and last, others' at random."""
        r = self.random
        for t in self.threads:
            mine = self.children(t.number)
            if not mine:
                continue
            at = 0 if t.number == MAIN or r.random() < 0.5 else r.randrange(len(t.block) + 1)
            t.block[at:at] = [("create", c) for c in sorted(mine, reverse=True)]
            t.block = [s for s in t.block if s[0] != "exit"]
            t.block += [("join", c, self.join_cell and r.random() < 0.7) for c in sorted(mine)]

    # ---- statements ----

    def draw(self, thread, length, held, depth):
        out = []
        for _ in range(length):
            out += self.statement(thread, held, depth)
        return out

    def order(self, orders):
        return "seq_cst" if self.strong and self.random.random() < 0.6 else self.random.choice(
            orders[1:] if self.strong else orders)

    def statement(self, thread, held, depth):
        r = self.random
        kind = r.choice(self.kinds + ["atomic"])
        words = KINDS.get(kind)
        if not words:
            return [self.atomic()]
        word = r.choice(words)
        out = self.make(word, thread, held, depth)
        if out is None:
            return [self.atomic()]
        if word in GUARDED and GUARD not in held and (self.mode != "racy" or r.random() < 0.5):
            return [("lock", GUARD, [out])]
        return [out]

    def atomic(self):
        r, x = self.random, self.random.randrange(2)
        if r.random() < 0.12 and self.mode != "twin":
            x = 2  # on the stack of the thread, or of its creator
        e = (r.choice([None, 0, 1]), r.randrange(1, 4))
        if self.mode == "twin":
            return r.choice([("load", r.randrange(2), x, "seq_cst"), ("store", x, e, "seq_cst"), ("inc", x, e[1])])
        return r.choice([
            ("load", r.randrange(2), x, self.order(LOADS)), ("store", x, e, self.order(STORES)),
            ("rmw", r.choice(["add", "sub", "or", "and", "xor", "exchange"]), r.randrange(2), x, r.randrange(1, 4),
             self.order(ORDERS)),
            ("cas", r.randrange(2), x, r.randrange(3), r.randrange(4), self.order(ORDERS), r.choice(LOADS)),
            ("cas_loop", x, r.randrange(1, 3), self.order(ORDERS))])

    def make(self, word, thread, held, depth):
        """The statement, or None if the rules do not allow it here."""
        r, top = self.random, depth == 0
        inside = lambda lock: self.draw(thread, r.choice([0, 1, 1, 2] if depth == 0 else [0, 1]), held | {lock}, depth + 1)
        reg, e = r.randrange(2), (r.choice([None, 0, 1]), r.randrange(1, 4))
        n, var = r.randrange(1, self.words + 1), r.random() < 0.5
        cancelled = thread.number in self.cancelled
        if word in ("lock", "try", "timed"):
            m = r.randrange(2)
            return None if m in held or depth > 1 else (word, m, inside(m))
        if word in ("rd", "wr", "tryrd", "trywr"):
            return None if "rw" in held or depth > 1 else (word, inside("rw"))
        if word in ("cond_wait", "cond_for", "cond_timed"):
            return None if 0 in held or cancelled else (word, r.randrange(2))
        if word in ("sem_wait", "sem_timed"):
            return None if cancelled else (word,)
        if word in ("exit", "test_cancel", "cleanup"):
            if not top or thread.number == MAIN:
                return None
            if word == "exit":
                return None if self.children(thread.number) else ("if", reg, r.randrange(2), [("exit", e)])
            if word == "test_cancel":
                return (word,) if cancelled else None
            body = self.draw(thread, r.choice([0, 1]), held, 1)
            body += [("test_cancel",)] if cancelled else [] if self.children(thread.number) else [("exit", e)]
            return (word, r.randrange(2), r.randrange(1, 4), r.randrange(2), body) if body else None
        if word == "cancel":
            targets = [t for t in self.cancelled if t > thread.number]
            return (word, r.choice(targets)) if targets and thread.parent in (MAIN, None) else None
        if word == "cancel_state":
            return (word, r.randrange(2)) if cancelled and top else None
        if word == "if":
            return (word, reg, r.randrange(3), self.draw(thread, 1, held, depth + 1)) if depth < 2 else None
        if word == "loop":
            if held or depth:
                return None
            return (word, r.randrange(2), r.choice([
                [("lock", GUARD, [("p_store", 0, (None, 1))]), ("lock", GUARD, [("p_store", 0, (None, 0))])],
                [("lock", GUARD, [])], [("lock", GUARD, [("p_load", 1, 0)])], [("yield",)]]))
        return {
            "sem_post": (word,), "sem_try": (word,), "sem_get": (word,), "cond_signal": (word,),
            "cond_broadcast": (word,), "barrier": (word,), "once": (word,), "raise": (word,), "take": (word,),
            "set_key": (word, r.randrange(2), r.randrange(3)), "publish": (word, r.randrange(1, 5)),
            "spin": (word, r.randrange(2), 0), "bounded": (word, r.randrange(2), r.randrange(1, 3)),
            "mk": (word, r.randrange(2), e), "next": (word, r.randrange(2)), "sum": (word, reg, r.randrange(2)),
            "copy": (word, reg), "memset": (word, reg, r.randrange(3), n, var), "memcpy": (word, reg, n, var),
            "memmove": (word, reg, 0 if self.words == n else r.randrange(self.words - n + 1),
                        0 if self.words == n else r.randrange(self.words - n + 1), n, var),
            "p_load": (word, reg, r.randrange(2)), "p_store": (word, r.randrange(2), e),
            "p_add": (word, r.randrange(2), r.randrange(1, 4)), "cas_p": (word, r.randrange(2), r.randrange(4)),
        }[word]


def statements(block):
    """All statements in a block, those inside others too."""
    for s in block:
        yield s
        if isinstance(s[-1], list):
            yield from statements(s[-1])


def uses(program, words):
    return any(s[0] in words for t in program.threads for s in statements(t.block))
