/* The class of an execution as a hash: see class_hash.h. */
#include "trace/class_hash.h"

#define K1 0x9e3779b97f4a7c15ull
#define K2 0xc2b2ae3d27d4eb4full
#define K3 0xd6e8feb86659fd93ull
#define K4 0xa0761d6478bd642full

__extension__ typedef unsigned __int128 wide;

static void each_array(struct mz_class_hash *h, void (*f)(void **array, size_t bytes))
{
    f((void **)&h->ids, h->capacity * sizeof *h->ids);
    f((void **)&h->forms, h->capacity * sizeof *h->forms);
}

void mz_class_hash_init(struct mz_class_hash *h, uint32_t capacity)
{
    h->capacity = (size_t)capacity + 1;
    each_array(h, mz_array_reserve);
}

void mz_class_hash_release(struct mz_class_hash *h) { each_array(h, mz_array_release); }

/* Both halves of the product, folded: each bit of the result depends on all bits of both factors. */
static inline uint64_t fold(uint64_t x, uint64_t y)
{
    wide p = (wide)x * y;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline struct mz_class mix(struct mz_class h, uint64_t x, uint64_t y)
{
    uint64_t a = fold(h.a ^ x ^ K1, y ^ K2), b = fold(h.b ^ y ^ K3, x ^ K4);
    return (struct mz_class){fold(a ^ K3, b ^ h.b ^ K1), fold(b ^ K4, a ^ h.a ^ K2)};
}

static inline struct mz_class plus(struct mz_class p, struct mz_class q)
{
    return (struct mz_class){p.a + q.a, p.b + q.b};
}

static struct mz_class name_of(struct mz_class_hash *h, int thread)
{
    struct mz_class *n = &h->names[thread];
    if (mz_likely(n->a)) return *n;
    *n = mix((struct mz_class){K1, K2}, h->thread_name ? 0 : (uint64_t)thread, 1);
    if (h->thread_name)
        for (const char *c = h->thread_name(h->system, thread); *c; c++) *n = mix(*n, (uint8_t)*c, 2);
    n->a |= 1; /* known */
    return *n;
}

/* The choice as all executions and processes know it: the name of the thread that is woken, or a number. */
static struct mz_class with_choice(struct mz_class_hash *h, struct mz_class id, const struct mz_event *e)
{
    unsigned traits = mz_ops[e->op].traits;
    if (!(e->choices & (e->choices - 1))) return id;
    if (!(traits & MZ_TRAIT_CHOOSES) || (traits & MZ_TRAIT_NUMBERS)) return mix(id, e->choice, 3);
    struct mz_class name = name_of(h, e->choice);
    return mix(id, name.a, name.b);
}

void mz_class_hash_event(struct mz_class_hash *h, const struct mz_trace *tr, mz_number n)
{
    const struct mz_event *e = mz_event_at(tr, n);
    const uint32_t *clock = mz_clock_at(tr, e->clock);
    struct mz_class id = mix(name_of(h, e->thread), tr->thread_event_count[e->thread], 4);
    struct mz_class before = {0, 0};
    h->ids[n] = id;
    for (uint32_t u = 0; u < tr->lanes; u++)
        if (clock[u] && u != e->thread) before = plus(before, h->ids[clock[u]]);
    h->forms[n] = plus(h->forms[n - 1], mix(with_choice(h, id, e), before.a, before.b));
}
