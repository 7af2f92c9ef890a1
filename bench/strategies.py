#!/usr/bin/env python3
"""How many executions does each strategy need to find a known bug?

    bench/strategies.py [--seeds N] [--most M] [--jobs J] [--table FILE] [--plot FILE] [NAME...]
    bench/strategies.py --cost

Runs each program of the list with each strategy and N seeds (20), at most M executions each (10000), and prints the median number
of executions to the first error; in brackets how many of the seeds found it, if not all. `optimal` and `preemptions` (auto) have no
seed: they are run once. --plot draws, as SVG, for each strategy the share of all runs that have found the bug after so many
executions. The programs are in bench/strategies and tests/classics. The first 8 walks of pct, surw and mix are those of random.

--cost prints what an operation of a walk costs: processor time, divided by that of a new operation under --algorithm=none."""
import argparse
import concurrent.futures
import json
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SEEDED = ["random", "pct:2", "pct:3", "pos", "surw", "mix"]
ONCE = ["optimal", "preemptions"]
OURS = [("reorder", "-DN=%d", (4, 9, 19)), ("reorder_back", "-DN=%d", (2, 3, 4)), ("twostage", "-DN=%d", (4, 9, 19)),
        ("account", "-DN=%d", (5, 10)), ("ring", "-DN=%d", (4, 6, 8)), ("abba", "-DN=%d", (5, 10)),
        ("needle", "-DN=%d", (5, 10)), ("relay", "-DD=%d", (2, 3, 4, 5)), ("lost_update", "-DN=%d", (5, 10)),
        ("publish", "-DN=%d", (5, 10, 20)), ("lost_wakeup", "-DN=%d", (2, 4)), ("wrap", "-DR=%d", (5, 10))]
CLASSICS = [("bakery", "-DNO_NAMES"), ("bounded_buffer", "-DC=2 -DIF"), ("bounded_buffer", "-DP=2 -DC=2 -DONE_CONDITION"),
            ("chase_lev_deque", "-DNO_CAS"), ("chase_lev_deque", "-DTHIEVES=2 -DLATE_BOTTOM"),
            ("dining_philosophers", "-DN=6 -DALL_ALIKE"), ("hazard_pointers", "-DNO_SECOND_LOOK"),
            ("michael_scott_queue", "-DNO_CAS"), ("rcu", "-DNO_GRACE"), ("seqlock", "-DNO_CHECK"),
            ("szymanski", "-DNO_DOOR"), ("thread_pool", "-DSIGNAL"), ("ticket_lock", "-DTORN"), ("treiber_stack", "-DABA"),
            ("treiber_free", "-DFREE")]


def programs():
    """(name, arguments of mazurka check)"""
    for name, flag, sizes in OURS:
        for size in sizes:
            yield f"{name}({size})", f"{flag % size} bench/strategies/{name}.c"
    for name, flags in CLASSICS:
        yield f"{name} {flags.replace('-D', '')}", f"{flags} tests/classics/{name}.c"


def executions_to_bug(arguments, strategy, seed, most):
    """The number of the first execution with an error; None if there was none."""
    how = {"optimal": ["--strategy=exhaustive"], "preemptions": ["--preemptions=auto"]}.get(
        strategy, [f"--strategy={strategy}", f"--seed={seed}"])
    command = [os.path.join(ROOT, "mazurka"), "check", "--json", "--trace=/dev/null", f"--max-executions={most}",
               "--time-limit=60"] + how + arguments.split()
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode not in (0, 1, 3):
        sys.exit(f"strategies.py: {' '.join(command)}: status {run.returncode}\n{run.stderr}")
    errors = json.loads(run.stdout)["errors"]
    return errors[0]["execution"] if errors else None


NONE = "--strategy=exhaustive --algorithm=none"
COST = ["-DN=12 tests/papers/indexer.c", "-DN=10 tests/papers/lastzero.c", "-DN=14 tests/papers/filesystem.c",
        "-DP=4 -DC=4 tests/papers/bbuf.c"]


def seconds_per_operation(arguments, how):
    command = [os.path.join(ROOT, "mazurka"), "check", "--json", "--max-executions=20000"] + how.split() + arguments.split()
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    result = json.loads(run.stdout)
    return result["processor_seconds"] / result["transitions"]


def print_cost():
    """The best of three runs each, one after the other."""
    for arguments in COST:
        best = {}
        for _ in range(3):
            for how in [NONE] + [f"--strategy={s}" for s in SEEDED]:
                best[how] = min(best.get(how, 1), seconds_per_operation(arguments, how))
        base = best.pop(NONE)
        print(f"{arguments:32} " + ", ".join(f"{how.split('=')[1]} {t / base:.2f}" for how, t in best.items()), flush=True)


def median(values):
    return sorted(values)[len(values) // 2]


def cell(found, tries):
    known = [n for n in found if n]
    if not known:
        return "-"
    return str(median(known)) + ("" if len(known) == tries else f" ({len(known)})")


def write_table(rows, out):
    head = ["program"] + SEEDED + ONCE
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head), file=out)
    for name, cells in rows:
        print(f"| {name} | " + " | ".join(cells) + " |", file=out)


def write_plot(results, most, path):
    """results: for each strategy, the executions to the bug in each run."""
    width, height, left, bottom = 560, 320, 50, 40
    colours = ["#0072b2", "#d55e00", "#e69f00", "#009e73", "#cc79a7", "#000000", "#999999", "#56b4e9"]
    x = lambda n: left + width * math.log10(max(n, 1)) / math.log10(most)
    y = lambda share: 10 + height * (1 - share)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 130}" height="{height + bottom + 20}" '
           'font-family="sans-serif" font-size="12">']
    for i in range(6):
        svg.append(f'<path d="M{left} {y(i / 5):.1f}h{width}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(i / 5) + 4:.1f}" text-anchor="end">{20 * i} %</text>')
    for i in range(int(math.log10(most)) + 1):
        svg.append(f'<text x="{x(10 ** i):.1f}" y="{height + 28}" text-anchor="middle">{10 ** i}</text>')
    svg.append(f'<text x="{left + width / 2}" y="{height + 48}" text-anchor="middle">executions</text>')
    for i, (strategy, found) in enumerate(results.items()):
        known, points = sorted(n for n in found if n), [(x(1), y(0))]
        for n in sorted(set(known)):
            points += [(x(n), points[-1][1]), (x(n), y(sum(m <= n for m in known) / len(found)))]
        points.append((x(most), points[-1][1]))
        svg.append('<polyline fill="none" stroke-width="1.5" stroke="%s" points="%s"/>' %
                   (colours[i], " ".join(f"{a:.1f},{b:.1f}" for a, b in points)))
        svg.append(f'<text x="{left + width + 8}" y="{24 + 18 * i}" fill="{colours[i]}">{strategy}</text>')
    with open(path, "w") as f:
        f.write("\n".join(svg) + "\n</svg>\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seeds", type=int, default=20)
    p.add_argument("--most", type=int, default=10000)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--table")
    p.add_argument("--plot")
    p.add_argument("--cost", action="store_true")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    if a.cost:
        print_cost()
        return 0
    rows, results = [], {s: [] for s in SEEDED + ONCE}
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for name, arguments in programs():
            if a.names and not any(name.startswith(n) for n in a.names):
                continue
            runs = {s: [pool.submit(executions_to_bug, arguments, s, seed, a.most)
                        for seed in (range(1, a.seeds + 1) if s in SEEDED else [0])] for s in SEEDED + ONCE}
            found = {s: [r.result() for r in runs[s]] for s in runs}
            for s in found:
                results[s] += found[s]
            rows.append((name, [cell(found[s], len(found[s])) for s in SEEDED + ONCE]))
            print(f"{name:45} " + " ".join(f"{c:>11}" for c in rows[-1][1]), flush=True)
    if a.table:
        with open(a.table, "w") as f:
            write_table(rows, f)
    if a.plot:
        write_plot(results, a.most, a.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
