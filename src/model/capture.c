/* A model as a system under test: the identity of its state, for the stateful algorithms. See system.c. The
 * engine calls these functions through its options. */
#include <string.h>
#include "model/state.h"

static void take(struct mz_model_explorer *s)
{
    struct mz_model_image *image = &s->image;
    memset(image, 0, sizeof *image);
    for (int t = 0; t < s->m->thread_count; t++) {
        const struct mz_model_runner *from = &s->threads[t];
        memcpy(image->threads[t].regs, from->regs, sizeof from->regs);
        image->threads[t].pc = from->pc;
        image->threads[t].status = from->status;
        image->threads[t].phase = from->phase;
        image->threads[t].flags =
            (uint8_t)(from->gave_up | (from->phase == MZ_RELEASING && from->woken) << 1);
    }
    memcpy(image->vars, s->vars, sizeof s->vars);
    memcpy(image->sems, s->sems, sizeof s->sems);
    memcpy(image->owner, s->owner, sizeof s->owner);
    memcpy(image->waiters, s->waiters, sizeof s->waiters);
    memcpy(image->rwlocks, s->rwlocks, sizeof s->rwlocks);
    memcpy(image->once, s->once, sizeof s->once);
    for (int i = 0; i < s->m->object_count[MZ_MODEL_CHAN] * MZ_MODEL_TAGS; i++) {
        const struct mz_model_queue *from = &s->queues[i / MZ_MODEL_TAGS][i % MZ_MODEL_TAGS];
        struct mz_model_queue *to = &image->queues[i / MZ_MODEL_TAGS][i % MZ_MODEL_TAGS];
        to->sent = (uint8_t)(from->sent - from->taken);
        memcpy(to->values, from->values + from->taken, to->sent * sizeof *to->values);
    }
    for (int i = 0; i < MZ_MODEL_OBJECTS; i++)
        if (s->once[i] == MZ_ONCE_RUNNING) image->once_runner[i] = s->once_runner[i];
}

static uint64_t mix(uint64_t h, uint64_t word, uint64_t factor)
{
    h = (h ^ word) * factor;
    return h ^ h >> 32;
}

void mz_model_state(void *system, struct mz_state *out)
{
    struct mz_model_explorer *s = system;
    uint64_t a = 1, b = 2, word;
    take(s);
    _Static_assert(sizeof s->image % sizeof word == 0, "the image is whole words");
    for (size_t i = 0; i < sizeof s->image; i += sizeof word) {
        memcpy(&word, (const char *)&s->image + i, sizeof word);
        a = mix(a, word, 0x9e3779b97f4a7c15u);
        b = mix(b, word, 0xc2b2ae3d27d4eb4fu);
    }
    out->hash[0] = mix(a, a >> 29, 0xbf58476d1ce4e5b9u);
    out->hash[1] = mix(b, b >> 31, 0x94d049bb133111ebu);
}

size_t mz_model_state_bytes(void *system, const void **bytes)
{
    struct mz_model_explorer *s = system;
    *bytes = &s->image;
    return sizeof s->image;
}
