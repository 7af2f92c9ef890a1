#!/usr/bin/env python3
"""Checks that random models with awaits and channels have as many classes as C programs as they have in the oracle.

build/mz-random prints a model with its number of classes, by the oracle (tests/random). This script writes the model as a C
program with mz_await and mz_channel_*, and runs mazurka on it. The number of complete executions must be the number of
classes, with every algorithm that explores each class once. Models with operations that this script does not know are left
out: creating and joining threads, additions that commute, and what C programs cannot do.

  fuzz_models.py [--mazurka PATH] [--random PATH] [--count N] [--seed N] [--algorithms optimal,source,dpor] [--options OPTION]...
"""
import argparse, json, os, re, shutil, subprocess, sys, tempfile

HEAD = r"""
#include <mazurka.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

struct condition { atomic_short *var[2]; short value[2]; char relation[2], joint; };

static int compare(short a, char relation, short b)
{
    return relation == '=' ? a == b : relation == '!' ? a != b : relation == '<' ? a < b : a > b;
}

static int condition(void *argument)
{
    const struct condition *c = argument;
    int first = compare(atomic_load(c->var[0]), c->relation[0], c->value[0]);
    if (c->joint == '1' || (c->joint == '&' && !first) || (c->joint == '|' && first)) return first;
    return compare(atomic_load(c->var[1]), c->relation[1], c->value[1]);
}

static short try_receive(mz_channel *c, unsigned tag)
{
    uint64_t content;
    return mz_channel_try_receive(c, tag, &content) ? (short)content : -1;
}
"""

class Unknown(Exception):
    pass

def operand(word):
    return word if re.fullmatch(r"r[0-3]", word) else f"(short)({word})"

def await_operation(words):
    both = len(words) > 4
    values = [operand(words[3])] + ([operand(words[7])] if both else [])
    variables = [words[1]] + ([words[5]] if both else [])
    relations = [words[2][0]] + ([words[6][0]] if both else [])
    joint = {"and": "&", "or": "|"}[words[4]] if both else "1"
    text = "{ static struct condition c;"
    for i in range(len(values)):
        text += f" c.var[{i}] = &{variables[i]}; c.value[{i}] = {values[i]}; c.relation[{i}] = '{relations[i]}';"
    return text + f" c.joint = '{joint}'; mz_await(condition, &c); }}"

def operation(line):
    words = line.split()
    to = ""
    if "->" in words:
        to = words[words.index("->") + 1] + " = "
        words = words[:words.index("->")]
    op, x = words[0], words[1] if len(words) > 1 else ""
    if op == "read": return f"{to}atomic_load(&{x});"
    if op == "write": return f"atomic_store(&{x}, {operand(words[2])});"
    if op == "add": return f"{to}atomic_fetch_add(&{x}, {operand(words[2])});"
    if op == "xchg": return f"{to}atomic_exchange(&{x}, {operand(words[2])});"
    if op == "cas":
        return f"{{ short e = {operand(words[2])}; {to}atomic_compare_exchange_strong(&{x}, &e, {operand(words[3])}); }}"
    if op == "await": return await_operation(words)
    if op == "send": return f"mz_channel_send({x}, {words[2]}, (uint16_t){operand(words[3])});"
    if op == "receive": return f"{to}(short)mz_channel_receive({x}, {words[2]});"
    if op == "try_receive": return f"{to}try_receive({x}, {words[2]});"
    if op == "choose": return f"{to}(short)mz_choose({x});"
    if op == "let": return f"{words[1]} = (short)(" + " ".join(operand(w) if w not in "+-" else w for w in words[3:]) + ");"
    if op == "assert": return f"mz_assert({operand(x)} {words[2]} {operand(words[3])});"
    if op == "if": return f"if ({operand(x)} {words[2]} {operand(words[3])}) goto {words[5]};"
    raise Unknown(op)

def program(text):
    """The model as a C program."""
    out, body, threads, objects = HEAD, None, [], []
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if not line: continue
        words = line.split()
        if words[0] == "var":
            out += f"static atomic_short {words[1]} = {words[3] if len(words) > 2 else 0};\n"
        elif words[0] == "chan":
            out += f"static mz_channel *{words[1]};\n"
            objects.append(words[1])
        elif words[0] == "thread":
            threads.append((words[1], []))
        elif line.endswith(":"):
            threads[-1][1].append(line + " (void)0;")
        elif threads:
            threads[-1][1].append(operation(line))
        else:
            raise Unknown(words[0])
    for name, code in threads:
        out += f"\nstatic void *{name}(void *argument)\n{{\n    short r0 = 0, r1 = 0, r2 = 0, r3 = 0;\n"
        out += "    (void)r0, (void)r1, (void)r2, (void)r3;\n"
        out += "".join(f"    {c}\n" for c in code) + "    return argument;\n}\n"
    out += f"\nint main(void)\n{{\n    pthread_t t[{len(threads)}];\n"
    out += "".join(f"    {o} = mz_channel_create();\n" for o in objects)
    out += "".join(f"    pthread_create(&t[{i}], NULL, {name}, NULL);\n" for i, (name, _) in enumerate(threads))
    out += f"    for (int i = 0; i < {len(threads)}; i++) pthread_join(t[i], NULL);\n}}\n"
    return out

def models(a, seed, theme):
    """Models of this theme from this seed on, with their numbers of classes. A model with loops has none."""
    command = [a.random, "--with", theme, "--themes", "1", "--operations", "4", "--print", "--seed", str(seed), "--count", "50"]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    for part in re.split(r"(?=^# seed: )", text, flags=re.M):
        found = re.match(r"# seed: (\d+)\n# classes: (\d+)\n", part)
        if found and found.group(2) != "0": yield int(found.group(1)), int(found.group(2)), part

def explored(a, source, algorithm, work):
    result = os.path.join(work, "result.json")
    command = [a.mazurka, "check", "--strategy=exhaustive", "--quiet", "--keep-going", f"--algorithm={algorithm}", f"--json={result}", *a.options, source]
    run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, MAZURKA_CHECK_FORESEEN="1"))
    try:
        with open(result) as f: answer = json.load(f)
        return answer["executions"], answer["verdict"], answer["blocked"] if algorithm == "optimal" else 0
    except (OSError, ValueError, KeyError):
        return None, run.stderr.strip()[-300:], 0

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--mazurka", default="./mazurka")
    p.add_argument("--random", default="build/mz-random")
    p.add_argument("--count", type=int, default=30)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--algorithms", default="optimal,source,dpor,sleep")
    p.add_argument("--options", action="append", default=[])
    a = p.parse_args()
    work, done, wrong, seed = tempfile.mkdtemp(), 0, set(), a.seed
    while done < a.count:
        for theme in "awaits", "channels":
            for number, classes, text in models(a, seed, theme):
                try: code = program(text)
                except Unknown: continue
                if done == a.count: break
                done += 1
                source = os.path.join(work, "model.c")
                with open(source, "w") as f: f.write(code)
                for algorithm in a.algorithms.split(","):
                    count, verdict, blocked = explored(a, source, algorithm, work)
                    if count == classes and verdict in ("verified", "error", "vacuous") and not blocked: continue
                    wrong.add(done)
                    print(f"FAIL seed {number} with {theme}, {algorithm}: {count} executions, {classes} classes, {blocked} blocked "
                          f"({verdict})\n{text}")
        seed += 50
    shutil.rmtree(work)
    print(f"{done - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0

if __name__ == "__main__":
    sys.exit(main())
