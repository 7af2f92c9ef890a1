#!/usr/bin/env python3
"""Does the search see every access? For each type of object and each way to read or write one:

  race   one thread accesses an object that way while another one touches a byte of it: must be a data race,
         whichever byte it is;
  lock   two threads count it up that way, twice each, under a lock: must be verified, and so count to four,
         with every way of going back and of telling states apart.

One program is built for each compiler and level of optimization; it takes the type, the way and the case as
arguments. Prints one line for each difference and ends with status 1 if there was one.

  run.py [--mazurka PATH] [--seed N] [--sample N] [--compilers gcc,clang] [--levels O0,O1,O2,O3,Og] [--only TEXT]
"""
import argparse, json, os, random, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

# name: declarations, type, make from n, count of v, last byte that matters
def block(size):
    return (f"typedef struct {{ unsigned char c[{size}]; }} b{size}_t;", f"b{size}_t",
            f"{{ T v; for (int i = 0; i < {size}; i++) v.c[i] = (unsigned char)n; return v; }}",
            f"{{ for (int i = 1; i < {size}; i++) if (v.c[i] != v.c[0]) return -1; return v.c[0]; }}", size - 1)

def scalar(ctype, last, typedef=None):
    return (typedef or "", ctype, "{ return (T)n; }", "{ return (int)v; }", last)

TYPES = {f"bytes{n}": block(n) for n in (1, 2, 3, 5, 7, 8, 12, 16, 17, 24, 31, 32, 33, 64, 72, 100, 200, 4100)}
TYPES.update({
    "int": scalar("int", 3), "long": scalar("long", 7), "short": scalar("short", 1), "float": scalar("float", 3),
    "double": scalar("double", 7), "ldouble": scalar("ld_t", 9, "typedef long double ld_t;"),
    "int128": scalar("i128_t", 15, "typedef __int128 i128_t;"),
    "volatile": scalar("vl_t", 7, "typedef volatile long vl_t;"),
    "complex": ("typedef double _Complex cd_t;", "cd_t",
                "{ T v; __real__ v = n; __imag__ v = n; return v; }",
                "{ return __real__ v == __imag__ v ? (int)__real__ v : -1; }", 15),
    "cldouble": ("typedef long double _Complex cld_t;", "cld_t",
                 "{ T v; __real__ v = n; __imag__ v = n; return v; }",
                 "{ return __real__ v == __imag__ v ? (int)__real__ v : -1; }", 25),
    "pair": ("typedef struct { long a, b; } pair_t;", "pair_t", "{ return (T){n, n}; }",
             "{ return v.a == v.b ? (int)v.a : -1; }", 15),
    "mixed": ("typedef struct { double d; char c; float f[3]; } mixed_t;", "mixed_t",
              "{ return (T){n, (char)n, {n, n, n}}; }",
              "{ return v.d == v.c && v.f[0] == v.c && v.f[2] == v.c ? v.c : -1; }", 23),
    "union": ("typedef union { char c; struct { long a, b, d; } s; } union_t;", "union_t",
              "{ T v; v.s.a = v.s.b = v.s.d = n; return v; }",
              "{ return v.s.a == v.s.b && v.s.b == v.s.d ? (int)v.s.a : -1; }", 23),
    "bits": ("typedef struct { unsigned a : 3, b : 13, c : 16; unsigned long d : 40, e : 7; } bits_t;", "bits_t",
             "{ T v = {0}; v.a = n & 7; v.b = n & 8191; v.c = n & 65535; v.d = n; v.e = n & 127; return v; }",
             "{ return v.a == v.b && v.b == v.c && v.d == v.c && v.e == v.d ? (int)v.a : -1; }", 8),
    "packed": ("typedef struct __attribute__((packed)) { char a; long b; int c : 24; } packed_t;", "packed_t",
               "{ return (T){(char)n, n, n & 0x7fffff}; }", "{ return v.b == v.a && v.c == v.a ? v.a : -1; }", 11),
    "vec16": ("typedef int vec16_t __attribute__((vector_size(16)));", "vec16_t",
              "{ return (T){n, n, n, n}; }",
              "{ return v[0] == v[1] && v[1] == v[2] && v[2] == v[3] ? v[0] : -1; }", 15),
    "vec8": ("typedef int vec8_t __attribute__((vector_size(8)));", "vec8_t",
             "{ return (T){n, n}; }", "{ return v[0] == v[1] ? v[0] : -1; }", 7),
    "vec32": ("typedef int vec32_t __attribute__((vector_size(32)));", "vec32_t",
              "{ return (T){n, n, n, n, n, n, n, n}; }",
              "{ for (int i = 1; i < 8; i++) if (v[i] != v[0]) return -1; return v[0]; }", 31),
    "vec64": ("typedef int vec64_t __attribute__((vector_size(64)));", "vec64_t",
              "{ T v; for (int i = 0; i < 16; i++) v[i] = n; return v; }",
              "{ for (int i = 1; i < 16; i++) if (v[i] != v[0]) return -1; return v[0]; }", 63),
})

# Ways to write the object g of type T; `made` is a function that makes a value. In the order of the program.
WRITES = {
    "assign": "{ T v = make(n); g = v; }",
    "through_pointer": "{ T *p = where(&g); *p = make_inline(n); }",
    "stored_by_call": "{ g = make(n); }",
    "stored_by_call_pointer": "{ T *p = where(&g); *p = make(n); }",
    "stored_by_function_pointer": "{ T (*volatile f)(int) = make; g = f(n); }",
    "next": "{ g = step(g); (void)n; }",
    "builtin_memcpy": "{ T v = make(n); __builtin_memcpy((void *)&g, (const void *)&v, sizeof v); }",
    "builtin_memmove": "{ T v = make(n); __builtin_memmove(where(&g), (const void *)&v, sizeof v); }",
    "memcpy": "{ T v = make(n); memcpy((void *)&g, (const void *)&v, sizeof v); }",
    "builtin_memset": "{ T v = make(n); __builtin_memset((void *)&g, 0, sizeof g); g = v; }",
    "conditional": "{ T v = make(n), w = make(n + 1); g = n == zero ? w : v; }",
    "in_structure": "{ struct { char c; T t; } s = {1, make(n)}; g = s.t; }",
    "element": "{ T v[2] = {make(n), make(n + 1)}; g = v[zero]; }",
    "unseen_function": "{ not_sanitized(make(n)); }",
    "byte_by_byte": "{ T v = make(n); for (unsigned long i = 0; i < sizeof v; i++) "
                    "((volatile char *)&g)[i] = ((const volatile char *)&v)[i]; }",
    "statement_expression": "{ g = ({ T v = make(n); v; }); }",
    "out_parameter": "{ fill(where(&g), n); }",
    "exchange": "{ T v = make(n), w = g; g = v; v = w; (void)v; }",
}
READS = {
    "read": "{ T v = g; return count(v); }",
    "passed": "{ return count(g); }",
    "passed_pointer": "{ T *p = where(&g); return count(*p); }",
    "passed_among": "{ return among(1, g, 2); }",
    "passed_variadic": "{ return variadic(1, g); }",
    "returned": "{ return count(returned()); }",
    "read_memcpy": "{ T v; __builtin_memcpy((void *)&v, (const void *)&g, sizeof v); return count(v); }",
    "read_unseen": "{ return count(read_not_sanitized()); }",
    "read_memcmp": "{ T v = make(1); return __builtin_memcmp((const void *)&g, (const void *)&v, sizeof v); }",
}

HEAD = """
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline, noclone))
#define UNSEEN __attribute__((noinline, no_sanitize_thread))
static volatile int zero;
struct entry { const char *name; void (*write)(int); int (*read)(void); int (*now)(void); volatile char *address; };
"""

TYPE = """
%(declare)s
#define T %(type)s
#define g %(name)s_g
#define make %(name)s_make
#define make_inline %(name)s_make_inline
#define count %(name)s_count
#define where %(name)s_where
#define step %(name)s_step
#define among %(name)s_among
#define variadic %(name)s_variadic
#define returned %(name)s_returned
#define fill %(name)s_fill
#define not_sanitized %(name)s_not_sanitized
#define read_not_sanitized %(name)s_read_not_sanitized
static T g;
static inline T make_inline(int n) %(make)s
static NOINLINE T make(int n) { return make_inline(n); }
static NOINLINE int count(T v) %(count)s
static NOINLINE T *where(T *p) { return p; }
static NOINLINE T step(T v) { return make_inline(count(v) + 1); }
static NOINLINE int among(int a, T v, int b) { return count(v) + a + b - 3; }
static NOINLINE int variadic(int n, ...) { va_list l; va_start(l, n); T v = va_arg(l, %(argument)s); va_end(l); return count(v); }
static NOINLINE T returned(void) { return g; }
static NOINLINE void fill(T *p, int n) { *p = make_inline(n); }
static UNSEEN void not_sanitized(T v) { g = v; }
static UNSEEN T read_not_sanitized(void) { return g; }
static int %(name)s_now(void) { T v = g; return count(v); }
%(functions)s
"""
UNDEF = "".join(f"#undef {n}\n" for n in "T g make make_inline count where step among variadic returned fill "
                "not_sanitized read_not_sanitized".split())

MAIN = """
static const struct entry *e;
static int byte;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int sink;
static void *racer(void *x) { if (e->write) e->write(1); else sink = e->read(); return x; }
static void *toucher(void *x)
{
    volatile char *p = e->address + byte;
    if (e->write) (void)*p; else *p = 0;
    return x;
}
static void *counter(void *x)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        int n = e->now();
        assert(n >= 0 && n < 4);
        e->write(n + 1);
        assert(e->now() == n + 1);
        pthread_mutex_unlock(&mutex);
    }
    return x;
}
int main(int argc, char **argv)
{
    pthread_t t[2];
    assert(argc == 3);
    for (e = entries; strcmp(e->name, argv[1]); e++);
    byte = atoi(argv[2]);
    pthread_create(&t[0], NULL, byte < 0 ? counter : racer, NULL);
    pthread_create(&t[1], NULL, byte < 0 ? counter : toucher, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    if (byte < 0) assert(e->now() == 4);
    return 0;
}
"""

PROMOTED = {"short": "int", "float": "double", "volatile": "long"} # what va_arg is to be told

def program(types):
    text, entries = HEAD, []
    for name in types:
        declare, ctype, make, count, _ = TYPES[name]
        functions = ""
        for way, body in WRITES.items():
            functions += f"static NOINLINE void {name}_way_{way}(int n) {body}\n"
            entries.append(f'{{"{name}.{way}", {name}_way_{way}, NULL, {name}_now, (volatile char *)&{name}_g}},')
        for way, body in READS.items():
            functions += f"static NOINLINE int {name}_way_{way}(void) {body}\n"
            entries.append(f'{{"{name}.{way}", NULL, {name}_way_{way}, {name}_now, (volatile char *)&{name}_g}},')
        text += TYPE % dict(declare=declare, type=ctype, name=name, make=make, count=count, functions=functions,
                            argument=PROMOTED.get(name, "T")) + UNDEF
    return text + "static const struct entry entries[] = {\n" + "\n".join(entries) + "\n};\n" + MAIN

BYTES = {"cldouble": [0, 9, 16, 25], "mixed": [0, 8, 23]} # others are padding, which may not be accessed

LOCK_WAYS = [["--algorithm=optimal"], ["--algorithm=optimal", "--backtrack=undo"], ["--algorithm=stateful"],
             ["--algorithm=source", "--backtrack=rerun"], ["--algorithm=sdpor"]]

def cases(types):
    for name in types:
        last = TYPES[name][4]
        for way in list(WRITES) + list(READS):
            for byte in BYTES.get(name) or sorted({0, last // 2, last}):
                yield f"{name}.{way}", byte, ["--algorithm=optimal"], "data-race"
            if way in WRITES:
                for options in LOCK_WAYS: yield f"{name}.{way}", -1, options, "verified"

def check(mazurka, path, case):
    name, byte, options, expected = case
    command = [mazurka, "check", "--strategy=exhaustive", "--json", "--trace=/dev/null", *options, path, "--", name, str(byte)]
    out = subprocess.run(command, capture_output=True, text=True, timeout=120)
    try:
        result = json.loads(out.stdout)
    except ValueError:
        return f"{' '.join(command)}: no result: {out.stderr.strip()[:200]}"
    got = result["errors"][0]["kind"] if result["errors"] else result["verdict"]
    unseen = [u for u in result.get("unseen") or [] if "other ways to states" not in u]
    if got == expected and not unseen: return None
    return f"{' '.join(command)}: {got}, expected {expected}; {unseen} {result['errors'][0]['message'] if result['errors'] else ''}"

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--mazurka", default="./mazurka")
    p.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--compilers", default="gcc,clang")
    p.add_argument("--levels", default="O0,O1,O2,O3,Og")
    p.add_argument("--only", default="")
    p.add_argument("--jobs", type=int, default=2)
    a = p.parse_args()
    rng, bad, ran = random.Random(a.seed), 0, 0
    mazurka = os.path.abspath(a.mazurka)
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, "accesses.c")
        with open(source, "w") as f: f.write(program(list(TYPES)))
        for compiler in a.compilers.split(","):
            for level in a.levels.split(","):
                path = os.path.join(work, f"{compiler}-{level}")
                built = subprocess.run([mazurka, "cc", f"-{level}", "-w", source, "-o", path], capture_output=True,
                                       text=True, env={**os.environ, "MAZURKA_CC": compiler})
                if built.returncode:
                    print(f"{compiler} -{level}: does not compile: {built.stderr[:2000]}")
                    return 1
                todo = [c for c in cases(list(TYPES)) if a.only in c[0]]
                if a.sample and a.sample < len(todo): todo = rng.sample(todo, a.sample)
                with ThreadPoolExecutor(a.jobs) as pool:
                    for difference in pool.map(lambda c: check(mazurka, path, c), todo):
                        ran += 1
                        if difference:
                            bad += 1
                            print(f"FAIL {compiler} -{level}: {difference}", flush=True)
    print(f"--seed {a.seed}\n{ran - bad} passed, {bad} failed")
    return 1 if bad else 0

sys.exit(main())
