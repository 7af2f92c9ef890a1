/* Where a process is at this moment: see sample.h. */
#define _GNU_SOURCE
#include "launch/sample.h"

#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#define TOP 16 /* words at the top of the stack that are examined */

static bool read_words(pid_t pid, uint64_t address, uint64_t *words, size_t count)
{
    struct iovec here = {words, count * sizeof *words},
                 there = {(void *)(uintptr_t)address, count * sizeof *words};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)(count * sizeof *words);
}

static bool in_module(const struct mz_channel *c, uint64_t address)
{
    for (uint32_t i = 0; i < c->module_count && i < MZ_MAX_MODULES; i++)
        if (address >= c->modules[i].start && address < c->modules[i].end) return true;
    return false;
}

static void walk(pid_t pid, const struct mz_channel *c, const struct user_regs_struct *registers,
                 struct mz_place *place)
{
    uint64_t frame = registers->rbp, words[2], top[TOP];
    int n = 0;
    place->pc[n++] = registers->rip + 1; /* places are return addresses */
    while (n < MZ_MAX_FRAMES / 2 && frame % 8 == 0 && read_words(pid, frame, words, 2) &&
           in_module(c, words[1])) {
        place->pc[n++] = words[1];
        if (words[0] <= frame) break;
        frame = words[0];
    }
    if (!read_words(pid, registers->rsp, top, TOP)) return;
    for (int i = 0; i < TOP && n < MZ_MAX_FRAMES; i++)
        if (in_module(c, top[i])) place->pc[n++] = top[i];
}

bool mz_sample(pid_t pid, const struct mz_channel *channel, struct mz_place *place, uint64_t *stack_pointer)
{
    struct user_regs_struct registers;
    int status;
    bool known = false;
    memset(place, 0, sizeof *place);
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0) return false;
    if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) == 0 && waitpid(pid, &status, __WALL) == pid &&
        WIFSTOPPED(status)) {
        known = ptrace(PTRACE_GETREGS, pid, NULL, &registers) == 0;
        if (known) {
            walk(pid, channel, &registers, place);
            *stack_pointer = registers.rsp;
        }
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
    }
    return known;
}
