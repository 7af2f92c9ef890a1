/* Endless loops without a hook: while (!ready); after the compiler has moved the read out of the loop.
 *
 * Such a loop calls no function, so no code of this library runs. When a thread has used processor time
 * without a step and without a hook (crash.c asks every tick), it is single-stepped. If the thread returns to
 * the same register values, and no instruction in between could write memory, or read any memory but the
 * thread's own stack, the thread loops for ever, whatever other threads do. Then it is stopped like a thread
 * in a loop that waits, and the other threads continue: if one of them writes what was read before the loop,
 * that is a data race; otherwise it is a livelock. Wall-clock time plays no part.
 *
 * Invariants:
 *   I1  Anything uncertain ends the attempt: an instruction that is not in the list below, another module, a
 *       call.
 *   I2  The handlers run on the alternate stack and leave nothing on the fiber's stack, where uninitialised
 *       variables would show it. When a loop has been found, the fiber itself continues in stop_here. */
#define _GNU_SOURCE
#include "runtime/loops/loops.h"
#include "runtime/loops/room.h"

#include <signal.h>
#include <ucontext.h>

#define TRAP_FLAG 0x100
#define REGISTERS MZ_IDLE_REGISTERS
_Static_assert(REGISTERS == REG_EFL + 1, "room.h has as many");
#define STEPS 4096u /* in the first attempt */
#define MOST  (1u << 20)

#define idle mz_loops_room.idle

/* ---- instructions ---- */

/* Is the operand a register, or on the stack? */
static bool is_near(const uint8_t *modrm, uint8_t rex)
{
    uint8_t mod = modrm[0] >> 6, rm = modrm[0] & 7;
    if (mod == 3) return true;
    if (mod == 0 || rex & 1) return false;
    return rm == 5 || (rm == 4 && modrm[1] == 0x24); /* rbp, rsp */
}

static bool is_register(const uint8_t *modrm) { return modrm[0] >> 6 == 3; }

/* Opcodes of two bytes; p points behind 0f. */
static bool two_bytes_is_quiet(const uint8_t *p, uint8_t rex)
{
    if (*p == 0x1f || *p == 0x1e) return true;                         /* nop, endbr */
    if ((*p & 0xf0) == 0x80) return true;                              /* jcc */
    if ((*p & 0xf0) == 0x40) return is_near(p + 1, rex);               /* cmov */
    if ((*p & 0xf0) == 0x90) return is_register(p + 1);                /* setcc */
    if (*p == 0xaf || (*p & 0xf6) == 0xb6) return is_near(p + 1, rex); /* imul, movzx, movsx */
    return false;
}

/* Arithmetic is quiet if its result goes to a register, or if it only compares. */
static bool arithmetic_is_quiet(const uint8_t *p, uint8_t rex)
{
    uint8_t form = *p & 7;
    if (form >= 6) return false;
    if (form >= 4) return true; /* with a constant */
    if (form >= 2 || *p >> 3 == 7) return is_near(p + 1, rex);
    return is_register(p + 1);
}

/* Does the instruction change nothing but registers, and read nothing but registers and the stack? */
static bool is_quiet(const uint8_t *p)
{
    uint8_t rex = 0;
    while (*p == 0x66 || *p == 0x2e || *p == 0x3e || (*p == 0xf3 && p[1] == 0x90)) p++;
    if ((*p & 0xf0) == 0x40) rex = *p++;
    if (*p == 0x0f) return two_bytes_is_quiet(p + 1, rex);
    if (*p < 0x40) return arithmetic_is_quiet(p, rex);
    uint8_t extension = p[1] >> 3 & 7;
    switch (*p) {
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x84:
    case 0x85:
    case 0x8a:
    case 0x8b:
        return is_near(p + 1, rex);
    case 0x80:
    case 0x81:
    case 0x83:
        return extension == 7 ? is_near(p + 1, rex) : is_register(p + 1);
    case 0xf6:
    case 0xf7:
        return extension <= 1 ? is_near(p + 1, rex) : extension <= 5 && is_register(p + 1);
    case 0x86:
    case 0x87:
    case 0x88:
    case 0x89:
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return is_register(p + 1);
    case 0xfe:
    case 0xff:
        return extension <= 1 && is_register(p + 1);
    case 0x8d:
    case 0x90:
    case 0x98:
    case 0x99:
    case 0xa8:
    case 0xa9:
    case 0xe9:
    case 0xeb:
        return true;
    default:
        return (*p & 0xf0) == 0x70 || (*p & 0xf0) == 0xb0; /* jcc, mov with a constant */
    }
}

/* ---- stepping ---- */

static void give_up(ucontext_t *u)
{
    idle.stepping = false;
    u->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
}

/* The thread has not called a hook for some time: begin to single-step. */
void mz_idle_look(void *context)
{
    ucontext_t *u = context;
    greg_t *r = u->uc_mcontext.gregs;
    if (idle.stepping || rt.section || !mz_is_instrumented((uint64_t)r[REG_RIP])) return;
    idle.stepping = true;
    idle.steps = idle.since = 0;
    idle.patience = 1;
    idle.anchor[REG_RIP] = 0;
    r[REG_EFL] |= TRAP_FLAG;
}

/* There was progress: begin with short attempts again. */
void mz_idle_none(void) { idle.most = STEPS; }

static bool is_back(const greg_t *r)
{
    for (int i = 0; i < REGISTERS; i++)
        if (r[i] != idle.anchor[i]) return false;
    return true;
}

static _Noreturn void stop_here(void) { mz_spin_for_ever((const void *)idle.pc); }
static _Noreturn void stop_tired(void) { mz_spin_stop_tired((const void *)idle.pc); }

/* Make the fiber continue in `stop`, on its own stack, as if the loop had called it. */
static void go_on_in(greg_t *r, void (*stop)(void))
{
    uint64_t *sp = (uint64_t *)(((uint64_t)r[REG_RSP] - 128) & ~15ull) - 1;
    idle.pc = (uint64_t)r[REG_RIP] + 1; /* reports expect return addresses */
    *sp = idle.pc;
    r[REG_RSP] = (greg_t)(uintptr_t)sp;
    r[REG_RIP] = (greg_t)(uintptr_t)stop;
}

/* Called after each instruction. Returns false if the trap does not belong to the single-stepping. */
bool mz_idle_step(void *context)
{
    ucontext_t *u = context;
    greg_t *r = u->uc_mcontext.gregs;
    if (!idle.stepping) return false;
    if (++idle.steps > idle.most || !mz_is_instrumented((uint64_t)r[REG_RIP]) ||
        !is_quiet((const uint8_t *)r[REG_RIP])) {
        if (idle.steps > idle.most && idle.most < MOST) idle.most *= 2;
        give_up(u);
        return true;
    }
    if (is_back(r)) {
        give_up(u);
        go_on_in(r, stop_here);
        return true;
    }
    if (idle.since++ < idle.patience && idle.anchor[REG_RIP]) return true;
    idle.patience *= 2;
    idle.since = 0;
    for (int i = 0; i < REGISTERS; i++) idle.anchor[i] = r[i];
    return true;
}

/* The thread has run for seconds without a step, and may run for ever. Stops it if it is in the program's
 * code now: there it is not in the middle of a change to our locks or tables. */
bool mz_idle_stop(void *context)
{
    ucontext_t *u = context;
    greg_t *r = u->uc_mcontext.gregs;
    if (rt.section || rt.trial || !mz_is_instrumented((uint64_t)r[REG_RIP])) return false;
    give_up(u);
    go_on_in(r, stop_tired);
    return true;
}
