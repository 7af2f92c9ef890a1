/* Where a process is just now: see sample.h. */
#define _GNU_SOURCE
#include "sample.h"

#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

static bool read_words(pid_t pid, uint64_t address, uint64_t words[2])
{
    struct iovec here = {words, 2 * sizeof *words}, there = {(void *)(uintptr_t)address, 2 * sizeof *words};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)(2 * sizeof *words);
}

static void walk(pid_t pid, const struct user_regs_struct *registers, struct mz_place *place)
{
    uint64_t frame = registers->rbp, words[2];
    int n = 0;
    place->pc[n++] = registers->rip + 1; /* places are return addresses */
    while (n < MZ_MAX_FRAMES && frame % 8 == 0 && read_words(pid, frame, words) && words[1]) {
        place->pc[n++] = words[1];
        if (words[0] <= frame) break;
        frame = words[0];
    }
}

bool mz_sample(pid_t pid, struct mz_place *place, uint64_t *stack_pointer)
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
            walk(pid, &registers, place);
            *stack_pointer = registers.rsp;
        }
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
    }
    return known;
}
