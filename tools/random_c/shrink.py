"""Make a failing program smaller: drop threads and statements, replace a statement by the block inside it, as long as it
still fails."""
import copy

from generate import MAIN


def blocks(block):
    yield block
    for s in block:
        if isinstance(s[-1], list):
            yield from blocks(s[-1])


def without_thread(program, number):
    """Without a thread and its descendants; None if main would have too few. Numbers stay: the thread is empty then."""
    new = copy.deepcopy(program)
    for t in new.threads:
        for b in blocks(t.block):
            b[:] = [s for s in b if not (s[0] in ("create", "join", "cancel") and s[1] == number)]
    if new.children(number):
        return None
    new.threads[number].block = []
    return new if len([s for s in new.threads[MAIN].block if s[0] == "create"]) >= 1 else None


def smaller(program):
    """Programs with one thing less, the largest things first."""
    for t in program.threads[1:]:
        if any(s[:2] == ("create", t.number) for u in program.threads for s in u.block):
            new = without_thread(program, t.number)
            if new:
                yield new
    for number, t in enumerate(program.threads):
        for k, b in enumerate(blocks(t.block)):
            for i in range(len(b)):
                if b[i][0] in ("create", "join"):
                    continue
                for inner in ([[]] + ([b[i][-1]] if isinstance(b[i][-1], list) else [])):
                    new = copy.deepcopy(program)
                    at = list(blocks(new.threads[number].block))[k]
                    at[i:i + 1] = copy.deepcopy(inner)
                    yield new


def shrink(program, fails):
    """The smallest program found for which fails(program) holds."""
    changed = True
    while changed:
        changed = False
        for new in smaller(program):
            if fails(new):
                program, changed = new, True
                break
    return program
