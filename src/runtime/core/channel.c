/* Finding the channel: the memory that this program shares with the command (event/channel.h). An environment
 * variable contains its descriptor. start.c calls this once before main; finding.c calls it earlier if a
 * constructor fails. */
#include "base/region.h"
#include "event/finished.h"
#include "event/link.h"
#include "runtime/core/room.h"
#include "runtime/core/runtime.h"
#include "runtime/kernel/kernel.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FAR_AWAY ((void *)0x400000000000) /* a hint for mmap */

static const char *read_number(const char *text, int *number)
{
    *number = 0;
    for (; *text >= '0' && *text <= '9'; text++) *number = *number * 10 + (*text - '0');
    return text;
}

/* What the workers of a stateful search share follows in the same file. It is mapped out of the way: other mappings have
 * the addresses that they have in a run by one worker. */
static bool map_finished(int fd)
{
    struct stat st = {0};
    size_t size = mz_finished_size();
    if (mz_sys(SYS_fstat, fd, &st) != 0) return false;
    if ((size_t)st.st_size < MZ_FINISHED_OFFSET + size) return true; /* it is a stateless search */
    void *p =
        mmap(FAR_AWAY, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, MZ_FINISHED_OFFSET);
    if (p == MAP_FAILED) return false;
    mz_region_noted(p, size, true);
    mz_core_room.worker.finished = p;
    return true;
}

static struct mz_channel *map_channel(const char *number)
{
    struct stat st = {0};
    int fd = 0;
    number = read_number(number, &fd);
    if (mz_sys(SYS_fstat, fd, &st) != 0 || (size_t)st.st_size < sizeof(struct mz_channel)) return NULL;
    struct mz_channel *c = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (c == MAP_FAILED) return NULL;
    mz_sys(SYS_close, fd);
    if (c->magic != MZ_CHANNEL_MAGIC || c->version != MZ_CHANNEL_VERSION || c->size_of_header != sizeof *c)
        return NULL;
    if (*number != ',') return c;
    read_number(number + 1, &fd); /* the memory of all workers replaces a part of the channel */
    void *common = mmap((char *)c + c->common_offset, sizeof(struct mz_common), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, fd, 0);
    bool mapped = common != MAP_FAILED && map_finished(fd);
    mz_sys(SYS_close, fd);
    return mapped ? c : NULL;
}

/* For a program that was started without the command: a channel that nobody reads. */
static struct mz_channel *private_channel(void)
{
    const uint64_t steps = 10000000, arena = 1 << 20;
    size_t size = sizeof(struct mz_channel) + steps * sizeof(struct mz_step) + arena;
    struct mz_channel *c = mz_region_reserve(size);
    MZ_ASSERT(c != NULL);
    c->options.mode = MZ_MODE_REPLAY;
    c->options.algorithm = MZ_ALG_NONE;
    c->options.show_output = 1;
    c->options.max_steps = steps - 16;
    c->live_offset = sizeof *c;
    c->live_capacity = steps;
    c->arena_offset = c->live_offset + steps * sizeof(struct mz_step);
    c->arena_size = arena;
    return c;
}

static const char *channel_variable(char **envp)
{
    for (; *envp; envp++)
        if (!strncmp(*envp, MZ_CHANNEL_ENV "=", sizeof MZ_CHANNEL_ENV)) return *envp + sizeof MZ_CHANNEL_ENV;
    return NULL;
}

bool mz_find_channel(char **envp)
{
    const char *number = channel_variable(envp);
    rt.standalone = number == NULL;
    rt.channel = number ? map_channel(number) : private_channel();
    return rt.channel != NULL;
}

void mz_hide_channel(char **envp)
{
    int to = 0;
    for (int i = 0; envp[i]; i++)
        if (strncmp(envp[i], MZ_CHANNEL_ENV "=", sizeof MZ_CHANNEL_ENV) != 0) envp[to++] = envp[i];
    envp[to] = NULL;
}
