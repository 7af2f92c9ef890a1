/* A set of classes: see class_set.h. The bits of `shift` are those of class.b; the table's hash is from class.a. */
#include "trace/class_set.h"

#define FIRST_SLOTS 1024u

static void each_array(struct mz_class_set *s, void (*f)(void **array, size_t bytes))
{
    f((void **)&s->entries, ((size_t)s->most + 1) * sizeof *s->entries);
    f((void **)&s->table.slots, (size_t)4 * s->most * sizeof *s->table.slots);
}

void mz_class_set_init(struct mz_class_set *s, uint32_t most)
{
    MZ_ASSERT(most >= FIRST_SLOTS && (most & (most - 1)) == 0);
    s->most = most;
    each_array(s, mz_array_reserve);
    s->table.mask = FIRST_SLOTS - 1;
}

void mz_class_set_release(struct mz_class_set *s) { each_array(s, mz_array_release); }

void mz_class_set_clear(struct mz_class_set *s)
{
    mz_table_clear(&s->table, s->table.mask + 1);
    s->shift = 0;
    s->once = s->twice = s->met = 0;
}

static inline bool is_class(const void *entries, uint32_t number, const void *wanted)
{
    const struct mz_class *c = &((const struct mz_class_entry *)entries)[number].class, *w = wanted;
    return c->a == w->a && c->b == w->b;
}

static inline uint32_t hash_of(const void *entries, uint32_t number)
{
    return mz_table_hash(((const struct mz_class_entry *)entries)[number].class.a);
}

static bool is_counted(const struct mz_class_set *s, const struct mz_class *c)
{
    return !(c->b & ((UINT64_C(1) << s->shift) - 1));
}

static void note_times(struct mz_class_set *s, uint64_t before, uint64_t times)
{
    s->once += (before + times == 1) - (uint64_t)(before == 1);
    s->twice += (before + times == 2) - (uint64_t)(before == 2);
    s->met += times;
}

void mz_class_set_raise(struct mz_class_set *s, uint32_t shift)
{
    uint32_t count = s->table.count;
    if (shift <= s->shift) return;
    mz_table_clear(&s->table, s->table.mask + 1);
    s->shift = shift;
    s->once = s->twice = s->met = 0;
    for (uint32_t n = 1; n <= count; n++) {
        struct mz_class_entry e = s->entries[n];
        if (is_counted(s, &e.class)) mz_class_set_add(s, e.class, e.times);
    }
}

bool mz_class_set_add(struct mz_class_set *s, struct mz_class class, uint64_t times)
{
    if (!is_counted(s, &class)) return false;
    uint32_t hash = mz_table_hash(class.a);
    uint32_t *slot = mz_table_find(&s->table, hash, is_class, s->entries, &class);
    bool is_new = !*slot;
    if (is_new && s->table.count == s->most) {
        mz_class_set_raise(s, s->shift + 1);
        return mz_class_set_add(s, class, times);
    }
    if (is_new) {
        if (mz_table_is_half_full(&s->table)) {
            mz_table_grow(&s->table, hash_of, s->entries);
            slot = mz_table_find(&s->table, hash, is_class, s->entries, &class);
        }
        mz_table_fill(&s->table, slot, s->table.count + 1);
        s->entries[*slot] = (struct mz_class_entry){class, 0};
    }
    struct mz_class_entry *e = &s->entries[*slot];
    note_times(s, e->times, times);
    e->times += times;
    return is_new;
}
