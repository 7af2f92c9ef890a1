/* The functions that the program imports. They decide which operations are visible (rt.uses.trylock and so
 * on); libc.def has the facts about each function. Called by load.c and phases.c.
 *
 * An unknown function may change something that the runtime does not see, so a loop that calls it is not a
 * waiting loop (spin.c). Only the call decides that, not the import. So imports.c replaces the function's
 * entry in the module's table of addresses by a stub. The stub counts a change of the running thread,
 * announces the accesses of libc.def, and jumps to the function.
 *
 * Invariants:
 *   I1  A stub preserves the stack and all registers except r11 and the flags. So the function finds its
 *       arguments where the caller left them, and returns to the caller.
 *   I2  Stubs are written before the program starts, and never change.
 *   I3  Where states are compared, the function finds zeros below its return address. Nothing is known about
 *       its frame, so all of it belongs to the state while the function calls back into the program (qsort),
 *       and what the runtime left on the stack would tell equal states apart.
 *   I4  A module that is loaded during an execution has no stubs: all of its imports count as called. */
#define _GNU_SOURCE
#include "runtime/hooks/imports.h"
#include "runtime/hooks/libc.h"
#include "runtime/hooks/libc_words.h"
#include "runtime/hooks/room.h"
#include "runtime/kernel/kernel.h"
#include "runtime/loops/loops.h"
#include "runtime/state/state.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>

/* ---- stubs ---- */

#define MZ_IMPORT_STUBS 1024u
#define STUB_SIZE       32u

#define im mz_hooks_room.imports

static void called_unknown(struct mz_import_stub *s)
{
    rt.run.threads[rt.self].changes++;
    mz_delta_call();
    if (mz_likely(s->called)) return;
    s->called = true;
    if (!(s->known.facts & NAMES)) return;
    mz_spin_forbid(s->name);
    mz_explore_restart(rt.x);
}

/* The stack as mz_import_enter leaves it. */
struct entered {
    uint64_t r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax;
    uint64_t frame[2]; /* the caller's frame pointer and the return address */
};

/* The running thread is about to call the function of the stub. */
__attribute__((used)) static void called(struct mz_import_stub *s, const struct entered *e)
{
    if (!rt.active) return;
    if (s->unknown) called_unknown(s);
    if (s->known.accesses) {
        const uint64_t a[] = {e->rdi, e->rsi, e->rdx, e->rcx, e->r8, e->r9};
        s->known.accesses(&(struct mz_libc_call){a, (void *)(uintptr_t)e->frame[1], e->frame});
    }
    if (mz_unlikely(rt.hashing)) mz_fiber_clear_below();
}

/* Also save the registers of floating-point arguments: other threads may run before the function does. In the end clear
 * the 29 words that were pushed: they hold whatever was in the registers (I3). */
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
        ".set offset, 8\n\t"
        ".rept 29\n\t"
        "movq $0, -offset(%rsp)\n\t"
        ".set offset, offset + 8\n\t"
        ".endr\n\t"
        "jmp *(%r11)\n"
        ".popsection");

/* movabs $stub, %r11; jmp *0(%rip); .quad mz_import_enter */
static const void *write_stub(struct mz_import_stub *s)
{
    void (*enter)(void) = mz_import_enter;
    uint8_t *p = im.code + (size_t)(s - im.stubs) * STUB_SIZE;
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
    if (!im.code)
        im.code = mmap(NULL, MZ_IMPORT_STUBS * STUB_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
    return im.code != MAP_FAILED && im.count < MZ_IMPORT_STUBS;
}

static bool is_function(const void *p, bool by_call)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;
    if (by_call) return true;
    if (!dladdr1(p, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol) return false;
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC || ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC;
}

/* Replace the import's address. The loader has made most tables of addresses read-only, so make the page
 * writable for a moment. */
static bool set_address(const struct mz_import *i, const void *p)
{
    uintptr_t page = (uintptr_t)i->address & ~(uintptr_t)4095;
    int after = i->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    if (mz_sys(SYS_mprotect, page, 4096, PROT_READ | PROT_WRITE) != 0) return false;
    *i->address = p;
    return mz_sys(SYS_mprotect, page, 4096, after) == 0;
}

/* Give the import a stub. Return false if there is no room for a stub, or if it is too late for one (I4). */
static bool watch(const struct mz_import *i, bool unknown, const struct mz_libc_known *known)
{
    const void *p = *i->address;
    if ((uintptr_t)p >= i->module->start && (uintptr_t)p < i->module->end) p = dlsym(RTLD_DEFAULT, i->name);
    if (!p || !is_function(p, i->by_call))
        return true; /* a variable: the functions that change it are imports, too */
    if (rt.modules_changed || !room_for_stubs()) return false;
    struct mz_import_stub *s = &im.stubs[im.count++];
    *s = (struct mz_import_stub){.function = p, .name = i->name, .known = *known, .unknown = unknown};
    return set_address(i, write_stub(s));
}

void mz_imports_ready(void)
{
    if (im.code && im.code != MAP_FAILED)
        MZ_ASSERT(mprotect(im.code, MZ_IMPORT_STUBS * STUB_SIZE, PROT_READ | PROT_EXEC) == 0);
}

const char *mz_imports_called(void)
{
    for (uint32_t i = 0; i < im.count; i++)
        if (im.stubs[i].called) return im.stubs[i].name;
    return NULL;
}

/* ---- facts about imports ---- */

/* Is it a system library? These access memory that threads share only on behalf of their callers. All functions of
 * libatomic that access memory are ours (atomic.c). */
bool mz_imports_harmless_library(const char *path)
{
    static const char *const system[] = {"libm.so.",     "libpthread.so.", "libdl.so.",     "librt.so.",
                                         "libgcc_s.so.", "libstdc++.so.",  "libatomic.so.", NULL};
    const char *name = path;
    for (const char *p = path; *p; p++)
        if (*p == '/') name = p + 1;
    for (const char *const *s = system; *s; s++)
        if (!strncmp(name, *s, strlen(*s))) return true;
    return false;
}

/* Does a system library define the function? */
static bool in_harmless_library(const char *name)
{
    Dl_info info;
    void *p = dlsym(RTLD_DEFAULT, name);
    return p && dladdr(p, &info) && info.dli_fname && mz_imports_harmless_library(info.dli_fname);
}

/* Make more operations visible if the program imports functions that can observe their order: see
 * runtime.h. */
static void note_uses(unsigned facts)
{
    rt.uses.unwinding |= (facts & UNWINDS) != 0;
    rt.uses.trylock |= (facts & TRIES) != 0;
    rt.uses.rwtry |= (facts & RWTRIES) != 0;
    rt.uses.spin_locks |= (facts & SPINS) != 0;
    rt.uses.tryjoin |= (facts & (TRYJOINS | CANCELS)) != 0;
    rt.uses.cancel |= (facts & CANCELS) != 0;
    rt.uses.signals |= (facts & (SENDS | KILLS)) != 0;
    rt.uses.kill |= (facts & KILLS) != 0;
    rt.uses.destroy |= (facts & DESTROYS) != 0;
    rt.uses.exception_ptr |= (facts & COUNTS) != 0;
}

void mz_imports_look(const struct mz_import *i)
{
    struct mz_libc_known known = mz_libc_find(i->name);
    unsigned facts = known.facts;
    bool ours = mz_is_ours((uintptr_t)dlsym(RTLD_DEFAULT, i->name)) && !(facts & LIBC_WORKS);
    if (known.state & FPENV) rt.switch_fp = true;
    if (!(facts & PURE) && !ours) rt.switch_fs = true;
    if (mz_imports_harmless_library(i->module->path)) return; /* it calls the function only for its callers */
    if (!(facts & KEPT)) rt.writes_unknown = true;
    note_uses(facts);
    if (known.state & CLOCK) rt.uses.clock = true;
    if (facts & HOOKS) i->module->instrumented = 1;
    bool quiet = facts & (PURE | QUIET) && !(facts & LOUD);
    bool unknown = !ours && !quiet && !in_harmless_library(i->name);
    if (!i->address || !(unknown || known.accesses) || watch(i, unknown, &known)) return;
    if (unknown) mz_spin_forbid(i->name);
    if (known.accesses)
        mz_unseen(
            "memory that the program hands to libc is not checked: the program imports too many functions");
}
