#!/usr/bin/env python3
"""Moves the global variables of the test programs to main's stack, and checks that no result changes.

    tools/on_stack.py [--all] [--seed N] [--jobs N] [--keep DIR] [FILE.c...]

A variable that several threads use behaves the same wherever it is. So every program of tests/programs must meet
its expectations (verdict, kind, line, number of executions) also with its variables on the stack of main: each
file-scope variable becomes a local variable of a new main, a pointer replaces it, and every use goes through the
pointer. Without --all the script runs a sample, which differs from run to run (it prints the seed).

Programs that cannot be transformed are counted: those without such variables, those whose main thread ends before the
others (its stack is gone then), and those that do not compile. Fails if an expectation is not met, or if less than
MOST of the programs with variables, or of the expectations, can be transformed.
"""
import argparse
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLE = 40     # expectations
MOST = 0.9      # share that must be transformed
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|/\*.*?\*/|//[^\n]*|\.?\d[\w.]*|[A-Za-z_]\w*|<<|>>|->|'
                   r'[-+*/%&|^<>=!]=|\+\+|--|&&|\|\||\s+|.', re.S)
SPECIAL = {'typedef', 'extern', '_Thread_local', '__thread', 'const', 'thread_local', '_Static_assert', 'asm', '__asm__'}

# Programs that are about where a variable is, with the reason.
DIFFERENT = {
    'out_of_bounds_global.c',  # what lies around a global variable
    'crash_wild_range.c',      # what lies behind one
    'own_libc_names.c',        # uses one before main
    'many_pages.c',            # more than fits on a stack
    'many_races.c', 'deep_wakeup_tree.c', 'many_fences.c', 'state_large_step.c',  # take long already without large stacks to keep
}
# Expectations that do not hold: a variable that only main uses becomes a local one, so the loop changes nothing shared.
BETTER = {('spurious_wakeups.c', '-DCOUNTER --strict')}
# A value that differs from run to run, and that nobody looks at, is noticed in static memory only: other words of a stack may
# differ anyway (src/runtime/rewind/again.c).
STATIC_ONLY = {('nondeterministic.c', '-DONE')}


def is_space(token):
    return token.isspace() or token.startswith('/*') or token.startswith('//')


def chunks(text):
    """Splits a file into preprocessor lines and top-level declarations: lists of tokens, in order."""
    out, current, depth = [], [], 0
    tokens = TOKEN.findall(text)
    i, line_start = 0, True
    while i < len(tokens):
        t = tokens[i]
        if t == '#' and line_start:
            if current and not depth and not all(map(is_space, current)):
                out.append(('part', current))
                current = []
            line = []
            while i < len(tokens) and not (tokens[i].isspace() and '\n' in tokens[i] and line[-1:] != ['\\']):
                line.append(tokens[i])
                i += 1
            if depth:
                current += line
            else:
                out += [('part', current), ('line', line)]
                current = []
            continue
        current.append(t)
        if not is_space(t):
            line_start = False
        elif '\n' in t:
            line_start = True
        depth += (t in '({[') - (t in ')}]')
        ends_function = t == '}' and depth == 0 and is_function(current)
        if depth == 0 and (t == ';' or ends_function):
            out.append(('code', current))
            current = []
        i += 1
    if current:
        out.append(('part', current))
    return out


def is_function(tokens):
    words = [t for t in tokens if not is_space(t)]
    body = words.index('{') if '{' in words else len(words)
    return '=' not in words[:body] and ')' in words[:body] and not words[0] == 'typedef'


def split_commas(tokens):
    parts, depth = [[]], 0
    for t in tokens:
        depth += (t in '({[') - (t in ')}]')
        if t == ',' and depth == 0:
            parts.append([])
        else:
            parts[-1].append(t)
    return parts


def declared_name(words):
    """Position of the name in a declarator without initialiser."""
    for i, w in enumerate(words):                                    # void (*name)(int)
        if w == '(' and words[i + 1] == '*' and re.match(r'[A-Za-z_]', words[i + 2]):
            return i + 2
    end = words.index('[') if '[' in words else len(words)
    return end - 1


def variables(tokens):
    """[(name, type as a typedef of mz_t_name, initialiser or None)] of a declaration; None if it is none."""
    words = [t for t in tokens if not is_space(t)]
    if '_Atomic' in words and words[words.index('_Atomic') + 1] == '(':  # one word
        i = words.index('_Atomic')
        end = words.index(')', i)
        words[i:end + 1] = [' '.join(words[i:end + 1])]
    if not words or words[-1] != ';' or '#' in words or set(words) & SPECIAL or is_prototype(words):
        return None
    words = words[:-1]
    if words and words[0] == 'static':
        words = words[1:]
    found, base = [], None
    for part in split_commas(words):
        depth, cut = 0, len(part)
        for i, w in enumerate(part):
            depth += (w in '({[') - (w in ')}]')
            if w == '=' and depth == 0:
                cut = i
                break
        declarator, init = part[:cut], part[cut + 1:] or None
        if not declarator:
            return None
        at = tail_start(declarator) + declared_name(declarator[tail_start(declarator):])
        if not re.match(r'[A-Za-z_]\w*$', declarator[at]) or (base is None and at == 0):
            return None
        name = declarator[at]
        if base is None:
            first = at
            while first > 0 and declarator[first - 1] in ('*', '('):
                first -= 1
            base = declarator[:first]
            if not base or ('}' in base and len(split_commas(words)) > 1):
                return None
            rest = declarator[first:]
        else:
            rest = declarator
        rest = ['mz_t_' + name if w == name else w for w in rest]
        found.append((name, 'typedef ' + ' '.join(base + rest) + ';', init))
    return found


def tail_start(words):
    """Behind the body of a struct, if there is one."""
    return len(words) - words[::-1].index('}') if '}' in words else 0


def is_prototype(words):
    if '(' not in words or '=' in words or '}' in words:
        return words[0] in ('struct', 'union', 'enum') and len(words) <= 3 or \
            ('}' in words and words[-2] == '}' and '=' not in words)
    i = words.index('(')
    return words[i + 1] != '*' or not re.match(r'[A-Za-z_]', words[i - 1])


def replace(tokens, names):
    out, before = [], ''
    if [t for t in tokens if not is_space(t)][:2] == ['#', 'include']:
        return ''.join(tokens)
    for t in tokens:
        out.append('(*&*mz_p_%s)' % t if t in names and before not in ('.', '->') else t)
        if not is_space(t):
            before = t
    return ''.join(out)


def transform(text, path):
    """The program with its variables on the stack, or a reason why not."""
    parts = chunks(text)
    found = {}
    for kind, tokens in parts:
        for v in (variables(tokens) or []) if kind == 'code' else []:
            found[v[0]] = v
    if not found:
        return None, 'no variables'
    mains = [t for k, t in parts if k == 'code' and 'main' in t and is_function(t)]
    if len(mains) != 1 or 'mz_explore' in text:
        return None, 'no main of its own'
    if 'constructor' in text or 'init_array' in text:
        return None, 'uses them before main'
    if 'pthread_exit' in mains[0] or 'thrd_exit' in mains[0]:
        return None, 'main ends before the others'
    out, line = [], 1
    for kind, tokens in parts:
        here = variables(tokens) if kind == 'code' else None
        source = ''.join(tokens)
        if here:
            lead = source[:len(source) - len(source.lstrip())]
            out.append(lead)
            for name, typedef, init in here:
                value = replace_words(init, found) if init else '{0}'
                out.append('\n%s static mz_t_%s *mz_p_%s;\n#define MZ_INIT_%s %s\n'
                           % (typedef, name, name, name, value))
            out.append('#line %d "%s"\n' % (line + source.count('\n'), path))
        elif kind == 'code' and 'main' in tokens and is_function(tokens):
            end = max(i for i, t in enumerate(tokens) if t == '}')
            renamed = ['mz_main' if t == 'main' else t for t in tokens]
            out.append(replace(renamed[:end] + [' return 0; '] + renamed[end:], found)) # as main does by itself
        else:
            out.append(replace(tokens, found))
        line += source.count('\n')
    return (''.join(out) + new_main(found, mains[0]), found), None


def replace_words(words, names):
    out, before = [], ''
    for w in words:
        out.append('(*&*mz_p_%s)' % w if w in names and before not in ('.', '->') else w)
        before = w
    return ' '.join(out)


def new_main(found, old):
    words = [t for t in old if not is_space(t)]
    i = words.index('main')
    arguments = words[i + 2] not in ('void', ')')
    body = ''
    for name in found:
        body += '\n#ifdef MZ_INIT_%s\n    mz_t_%s mz_v_%s = MZ_INIT_%s;\n    mz_p_%s = &mz_v_%s;\n#endif' % ((name,) * 6)
    return '''
#line 10001
void exit(int);
int main(int mz_argc, char **mz_argv)
{
    (void)mz_argc, (void)mz_argv;%s
    exit(mz_main(%s));
}
''' % (body, 'mz_argc, mz_argv' if arguments else '')


def expectations(path):
    found = []
    for line in open(path):
        m = re.match(r'\s*(?:\*|/\*|//) EXPECT (.*?)\s*(?:\*/)?\s*$', line)
        if m:
            found.append(m.group(1))
    return found


def single(expectation, rng, names):
    every = {'all': ['optimal', 'source'], 'every': ['optimal', 'source', 'sleep']}
    words = [w for w in expectation.split() if not re.match(r'(says|thread|mib|states|transitions|revisited)=', w)]
    words = [w if not w.startswith('-D') or '=' not in w else
             w[:w.index('=') + 1] + replace(TOKEN.findall(w[w.index('=') + 1:]), names) for w in words]
    return ' '.join(rng.choice(every[w]) if w in every else w for w in words)


def run(job):
    path, expectation = job
    p = subprocess.run(['sh', 'tests/expect.sh', path, expectation], cwd=ROOT, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True)
    answer = p.stdout.strip() or 'FAIL %s: %s: no answer' % job
    if not answer.startswith('ok') and ' failed ' not in expectation and not compiles(path, expectation):
        return None
    return answer


def compiles(path, expectation):
    flags = [w for w in expectation.split() if re.match(r'-[DUIO]', w)]
    p = subprocess.run(['./mazurka', 'cc', '-Itests/programs', '-c', '-w', '-o', '/dev/null'] + flags + [path], cwd=ROOT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return p.returncode == 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--all', action='store_true')
    p.add_argument('--seed', type=int, default=random.randrange(1 << 30))
    p.add_argument('--jobs', type=int, default=2)
    p.add_argument('--keep', default=os.path.join(os.environ.get('MZ_TEST_DIR', 'build/test'), 'on_stack'))
    p.add_argument('--verbose', action='store_true')
    p.add_argument('files', nargs='*')
    a = p.parse_args()
    rng = random.Random(a.seed)
    directory = os.path.join(ROOT, a.keep)
    os.makedirs(directory, exist_ok=True)
    programs = os.path.join(ROOT, 'tests/programs')
    files = a.files or sorted(os.path.join(programs, f) for f in os.listdir(programs) if f.endswith('.c'))
    done, why, jobs = 0, {}, []

    def prepare(path):
        name = os.path.basename(path)
        if name in DIFFERENT:
            return path, 'about the place itself', ()
        text = open(path).read()
        result, reason = transform(text, path)
        if not result:
            return path, reason, ()
        program, names = result
        new = os.path.join(directory, name)
        with open(new, 'w') as f:
            f.write(program)
        return path, None, names

    with ThreadPoolExecutor(a.jobs) as pool:
        for path, reason, names in pool.map(prepare, files):
            new = os.path.join(directory, os.path.basename(path))
            if reason:
                why.setdefault(reason, []).append(os.path.basename(path))
                continue
            done += 1
            jobs += [(new, single(e, rng, names)) for e in expectations(path)
                     if not any(os.path.basename(path) == f and flags in e for f, flags in BETTER | STATIC_ONLY)]
        print('on_stack: seed %d' % a.seed)
        if not a.all and not a.files:
            jobs = rng.sample(jobs, min(SAMPLE, len(jobs)))
        failed = broken = 0
        for job, answer in zip(jobs, pool.map(run, jobs)):
            if not answer:
                print('on_stack: does not compile: %s %s' % (os.path.basename(job[0]), job[1]))
                broken += 1
                continue
            if a.verbose or not answer.startswith('ok'):
                print(answer, flush=True)
            failed += not answer.startswith('ok')
    for reason in why:
        print('on_stack: %d not transformed (%s): %s' % (len(why[reason]), reason, ' '.join(why[reason])))
    able = done + sum(len(v) for k, v in why.items() if k != 'no variables')
    print('on_stack: %d of %d programs with variables transformed; of %d expectations %d did not compile, %d failed'
          % (done, able, len(jobs), broken, failed))
    print('%d passed, %d failed' % (len(jobs) - broken - failed, failed))
    may_break = 1 - MOST if a.all else 0.25  # the share in a small sample varies
    return 1 if failed or (not a.files and (done < MOST * able or broken > may_break * len(jobs))) else 0


if __name__ == '__main__':
    sys.exit(main())
