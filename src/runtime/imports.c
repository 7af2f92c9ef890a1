/* What the program imports: which functions it calls decides what has to be visible (rt.trylock_used and so on), and
 * what is known of them stands in libc.def.
 *
 * A function that is not known may change something that nobody sees: a loop that calls it is no loop that waits
 * (spin.c). That is decided when it is called, not because it could be: its entry in the module's table of
 * addresses leads to a stub, which counts a change of the running thread and goes on to the function.
 *
 * Invariants:
 *   I1  A stub leaves all registers but r11 and the flags as they are, and the stack: the function finds what its caller
 *       gave it, and returns to its caller.
 *   I2  Stubs are written before the program starts, and never change.
 *   I3  Modules that are loaded later, in an execution, have none: what they import counts as called at once. */
#define _GNU_SOURCE
#include "imports.h"
#include "arguments.h"
#include "kernel.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

enum {
    PURE = 1,
    QUIET = 2,
    NAMES = 4,
    KEPT = 8,
    PASSED = 16,
    ROUNDS = 32,
    TRIES = 64,
    RWTRIES = 128,
    TRYJOINS = 256,
    SENDS = 512,
    CLOCK = 1024,
    DESTROYS = 2048
};

static const struct known {
    const char *name;
    unsigned flags;
} table[] = {
#define LIBC(name, flags) {#name, flags},
#include "libc.def"
#undef LIBC
#define POINT(name)          {#name, PASSED},
#define POINT_IF(name, when) {#name, PASSED},
#include "cancel_points.def"
};

/* A name may be there twice. */
static unsigned flags_of(const char *name)
{
    unsigned flags = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(name, table[i].name)) flags |= table[i].flags;
    return flags;
}

/* ---- stubs ---- */

#define STUBS     1024u
#define STUB_SIZE 32u

struct stub {
    const void *function; /* first: the assembly below goes there */
    const char *name;
    unsigned flags;
    bool unknown; /* what it changes is */
    bool called;
    struct mz_arguments arguments;
};

static struct stub stubs[STUBS];
static uint32_t stub_count;
static uint8_t *code; /* of the stubs */

static void called_unknown(struct stub *s)
{
    rt.run.threads[rt.self].changes++;
    if (mz_likely(s->called)) return;
    s->called = true;
    if (!(s->flags & NAMES)) return;
    mz_spin_forbid(s->name);
    mz_explore_restart(rt.x);
}

/* What mz_import_enter leaves on the stack. */
struct entered {
    uint64_t r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax;
    uint64_t frame[2]; /* the caller's frame pointer, and where the function returns to */
};

/* The running thread is about to call the function. */
__attribute__((used)) static void called(struct stub *s, const struct entered *e)
{
    if (!rt.active) return;
    if (s->unknown) called_unknown(s);
    if (!s->arguments.count) return;
    const uint64_t a[] = {e->rdi, e->rsi, e->rdx, e->rcx, e->r8, e->r9};
    mz_arguments_announce(&s->arguments, a, (void *)(uintptr_t)e->frame[1], e->frame);
}

/* The registers of floating-point arguments are saved, too: other threads may run before the function does. */
void mz_import_enter(void);
__asm__(".pushsection .text\n"
        ".hidden mz_import_enter\n"
        ".globl mz_import_enter\n"
        ".type mz_import_enter, @function\n"
        "mz_import_enter:\n\t"
        "pushq %rbp\n\tmovq %rsp, %rbp\n\t"
        "pushq %rax\n\tpushq %rcx\n\tpushq %rdx\n\tpushq %rsi\n\tpushq %rdi\n\t"
        "pushq %r8\n\tpushq %r9\n\tpushq %r10\n\tpushq %r11\n\t"
        "movq %rsp, %rsi\n\t"
        "movq %r11, %rdi\n\t"
        "subq $136, %rsp\n\t" /* a multiple of 16 again */
        "movups %xmm0, (%rsp)\n\tmovups %xmm1, 16(%rsp)\n\tmovups %xmm2, 32(%rsp)\n\t"
        "movups %xmm3, 48(%rsp)\n\tmovups %xmm4, 64(%rsp)\n\tmovups %xmm5, 80(%rsp)\n\t"
        "movups %xmm6, 96(%rsp)\n\tmovups %xmm7, 112(%rsp)\n\t"
        "call called\n\t"
        "movups (%rsp), %xmm0\n\tmovups 16(%rsp), %xmm1\n\tmovups 32(%rsp), %xmm2\n\t"
        "movups 48(%rsp), %xmm3\n\tmovups 64(%rsp), %xmm4\n\tmovups 80(%rsp), %xmm5\n\t"
        "movups 96(%rsp), %xmm6\n\tmovups 112(%rsp), %xmm7\n\t"
        "addq $136, %rsp\n\t"
        "popq %r11\n\tpopq %r10\n\tpopq %r9\n\tpopq %r8\n\t"
        "popq %rdi\n\tpopq %rsi\n\tpopq %rdx\n\tpopq %rcx\n\tpopq %rax\n\tpopq %rbp\n\t"
        "jmp *(%r11)\n"
        ".popsection");

/* movabs $stub, %r11; jmp *0(%rip); .quad mz_import_enter */
static const void *write_stub(struct stub *s)
{
    void (*enter)(void) = mz_import_enter;
    uint8_t *p = code + (size_t)(s - stubs) * STUB_SIZE;
    static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};
    p[0] = 0x49;
    p[1] = 0xbb;
    mz_raw_memcpy(p + 2, &s, sizeof s);
    mz_raw_memcpy(p + 10, jump, sizeof jump);
    mz_raw_memcpy(p + 16, &enter, sizeof enter);
    return p;
}

static bool room_for_stubs(void)
{
    if (!code)
        code = mmap(NULL, STUBS * STUB_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return code != MAP_FAILED && stub_count < STUBS;
}

static bool is_function(const void *p, bool by_call)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    if (by_call) return true;
    if (!dladdr1(p, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) return false;
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC || ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
}

/* The table of addresses is mostly read-only by now. */
static bool set_address(const struct mz_import *i, const void *p)
{
    uintptr_t page = (uintptr_t)i->address & ~(uintptr_t)4095;
    int after = i->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    if (mz_sys(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE) != 0) return false;
    *i->address = p;
    return mz_sys(SYS_mprotect, page, 4096, after) == 0;
}

/* What it does is to be known when it is called. */
static bool watch(const struct mz_import *i, bool unknown, const struct mz_arguments *arguments)
{
    const void *p = *i->address;
    if ((uintptr_t)p >= i->module->start && (uintptr_t)p < i->module->end) p = dlsym(RTLD_DEFAULT, i->name);
    if (!p || !is_function(p, i->by_call)) return true; /* a variable: who changes it is called */
    if (rt.modules_changed || !room_for_stubs()) return false;
    struct stub *s = &stubs[stub_count++];
    *s = (struct stub){.function = p,
                       .name = i->name,
                       .flags = flags_of(i->name),
                       .unknown = unknown,
                       .arguments = *arguments};
    return set_address(i, write_stub(s));
}

void mz_imports_ready(void)
{
    if (code && code != MAP_FAILED) MZ_ASSERT(mprotect(code, STUBS * STUB_SIZE, PROT_READ | PROT_EXEC) == 0);
}

const char *mz_imports_called(void)
{
    for (uint32_t i = 0; i < stub_count; i++)
        if (stubs[i].called) return stubs[i].name;
    return NULL;
}

/* ---- what is known ---- */

/* Libraries whose memory accesses are nobody's concern. */
bool mz_imports_harmless_library(const char *path)
{
    static const char *const system[] = {"libm.so.",     "libpthread.so.", "libdl.so.", "librt.so.",
                                         "libgcc_s.so.", "libstdc++.so.",  NULL};
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/') name = p + 1;
    for (const char *const *s = system; *s; s++)
        if (!strncmp(name, *s, strlen(*s))) return true;
    return false;
}

/* Is it defined in one of those? */
static bool in_harmless_library(const char *name)
{
    Dl_info info;
    void *p = dlsym(RTLD_DEFAULT, name);
    return p && dladdr(p, &info) && info.dli_fname && mz_imports_harmless_library(info.dli_fname);
}

static bool is_quiet(const char *name, unsigned flags)
{
    bool cxx = !strncmp(name, "_Z", 2) && !strstr(name, "istream") && !strstr(name, "random_device");
    return flags & (PURE | QUIET) || cxx || !strncmp(name, "__cxa_", 6);
}

static bool writes_are_known(const char *name, unsigned flags)
{
    static const char *const families[] = {"__tsan_",          "mazurka_",      "pthread_mutex_",
                                           "pthread_cond_",    "pthread_spin_", "pthread_rwlock_",
                                           "pthread_barrier_", "sem_",          NULL};
    for (const char *const *f = families; *f; f++)
        if (!strncmp(name, *f, strlen(*f))) return true;
    return flags & KEPT || (flags & PURE && strncmp(name, "str", 3) != 0);
}

static void note_uses(const char *name, unsigned flags)
{
    if (strstr(name, "personality") || strstr(name, "jmp") || !strncmp(name, "_Unwind", 7) ||
        !strcmp(name, "getcontext") || !strcmp(name, "swapcontext"))
        rt.unwinds = true;
    if (flags & TRIES) rt.trylock_used = true;
    if (flags & RWTRIES) rt.rwtry_used = true;
    if (!strncmp(name, "pthread_spin_", strlen("pthread_spin_"))) rt.spin_locks_used = true;
    if (flags & TRYJOINS) rt.tryjoin_used = true;
    if (!strcmp(name, "pthread_cancel")) rt.cancel_used = rt.tryjoin_used = true;
    if (flags & SENDS) rt.signals_used = true;
    if (!strcmp(name, "kill") || !strcmp(name, "sigqueue") || !strcmp(name, "killpg"))
        rt.kill_used = rt.signals_used = true;
    if (flags & DESTROYS) rt.destroy_used = true;
    if (flags & CLOCK) rt.clock_used = true;
}

void mz_imports_look(const struct mz_import *i)
{
    unsigned flags = flags_of(i->name);
    bool ours = mz_is_ours((uintptr_t)dlsym(RTLD_DEFAULT, i->name)) && !(flags & PASSED);
    if (flags & ROUNDS) rt.switch_fp = true;
    if (!(flags & PURE) && !ours) rt.switch_fs = true;
    if (mz_imports_harmless_library(i->module->path))
        return; /* it does these things only for those who call it */
    if (!writes_are_known(i->name, flags)) rt.writes_unknown = true;
    note_uses(i->name, flags);
    if (!strncmp(i->name, "__tsan_", 7)) i->module->instrumented = 1;
    bool unknown = !ours && !is_quiet(i->name, flags) && !in_harmless_library(i->name);
    struct mz_arguments arguments;
    mz_arguments_find(&arguments, i->name);
    if (!i->address || !(unknown || arguments.count) || watch(i, unknown, &arguments)) return;
    if (unknown) mz_spin_forbid(i->name);
    if (arguments.count)
        mz_unseen("memory that the program hands to functions of libc is not checked: it calls too many");
}
