/* Layouts and translations: see layout.h. */
#include "event/layout.h"

#include <stddef.h>

static const struct mz_part *find(const struct mz_layout *l, const struct mz_part *like)
{
    for (uint32_t i = 0; i < l->count && i < MZ_MAX_PARTS; i++)
        if (l->parts[i].id == like->id && l->parts[i].size == like->size) return &l->parts[i];
    return NULL;
}

uint32_t mz_layout_misses(const struct mz_layout *a, const struct mz_layout *b)
{
    uint32_t i = 0;
    while (i < a->count && i < MZ_MAX_PARTS && (!a->parts[i].module || find(b, &a->parts[i]))) i++;
    return i;
}

void mz_translation_make(struct mz_translation *t, const struct mz_layout *from, const struct mz_layout *to)
{
    bool same = true;
    t->count = 0;
    for (uint32_t i = 0; i < from->count && i < MZ_MAX_PARTS; i++) {
        const struct mz_part *p = &from->parts[i], *q = find(to, p);
        same &= q && q->start == p->start;
        if (!q) continue;
        uint32_t at = t->count++;
        for (; at > 0 && t->shifts[at - 1].start > p->start; at--) t->shifts[at] = t->shifts[at - 1];
        t->shifts[at] = (struct mz_shift){p->start, p->start + p->size, q->start - p->start};
    }
    if (same) t->count = 0;
}

bool mz_translate(const struct mz_translation *t, uint64_t *address)
{
    uint32_t low = 0, high = t->count;
    if (!t->count) return true;
    while (high - low > 1) { /* the last that starts at or before it */
        uint32_t middle = low + (high - low) / 2;
        if (t->shifts[middle].start <= *address)
            low = middle;
        else
            high = middle;
    }
    if (*address < t->shifts[low].start || *address >= t->shifts[low].end) return false;
    *address += t->shifts[low].by;
    return true;
}

/* ---- what is in a channel ---- */

static void code(const struct mz_translation *t, uint64_t *pc)
{
    uint64_t before = *pc - 1; /* a return address may lie just after the end of its module */
    if (*pc && mz_translate(t, &before)) *pc = before + 1;
}

static void place(const struct mz_translation *t, struct mz_place *p)
{
    for (int i = 0; i < MZ_MAX_FRAMES && p->pc[i]; i++) code(t, &p->pc[i]);
}

/* Only the low half of the address is known: look for the one part that has such an address. */
static void half(const struct mz_translation *t, uint64_t *low)
{
    for (uint32_t i = 0; i < t->count; i++) {
        const struct mz_shift *s = &t->shifts[i];
        uint64_t whole = (s->start & ~0xffffffffull) | *low;
        if (whole < s->start) whole += 1ull << 32;
        if (whole >= s->end || s->end - s->start > 1ull << 31) continue; /* no part with code is that large */
        *low = (uint32_t)(whole + s->by);
        return;
    }
}

void mz_translate_finding(const struct mz_translation *t, struct mz_finding *f)
{
    if (!t->count) return;
    mz_translate(t, &f->address);
    mz_translate(t, &f->object_start);
    mz_translate(t, &f->other_address);
    mz_translate(t, &f->frame_cfa);
    code(t, &f->frame_pc);
    place(t, &f->place);
    place(t, &f->other_place);
    if (f->kind == MZ_KIND_DATA_RACE) half(t, &f->other_pc);
    for (int i = 0; i < MZ_MAX_THREADS; i++) {
        mz_translate(t, &f->threads[i].object);
        place(t, &f->threads[i].place);
    }
    f->hash = mz_finding_hash(f);
}

void mz_translate_channel(const struct mz_translation *t, struct mz_channel *c)
{
    if (!t->count) return;
    place(t, &c->end_place);
    place(t, &c->kernel_place);
    for (uint32_t i = 0; i < c->module_count && i < MZ_MAX_MODULES; i++) {
        struct mz_module *m = &c->modules[i];
        uint64_t start = m->start;
        mz_translate(t, &start);
        m->bias += start - m->start;
        m->end += start - m->start;
        m->start = start;
    }
    for (int i = 0; i < MZ_MAX_THREADS; i++) mz_translate(t, &c->threads[i].start);
    for (uint32_t i = 0; i < c->area_count && i < MZ_MAX_AREAS; i++) {
        uint64_t size = c->areas[i].end - c->areas[i].start;
        mz_translate(t, &c->areas[i].start);
        c->areas[i].end = c->areas[i].start + size;
    }
    for (uint32_t i = 0; i < c->name_count && i < MZ_MAX_NAMES; i++) mz_translate(t, &c->names[i].address);
    for (uint32_t i = 0; i < c->unseen_write_count && i < MZ_MAX_UNSEEN_WRITES; i++) {
        mz_translate(t, &c->unseen_writes[i].address);
        code(t, &c->unseen_writes[i].pc);
    }
    for (uint32_t i = 0; i < c->reorder_count && i < MZ_MAX_REORDERS; i++)
        for (int k = 0; k < 2; k++) {
            mz_translate(t, &c->reorders[i].key[k]);
            code(t, &c->reorders[i].pc[k]);
        }
    for (uint32_t i = 0; i < MZ_MAX_HOT_SPOTS; i++) {
        mz_translate(t, &c->hot_spots[i].key);
        code(t, &c->hot_spots[i].pc);
    }
    for (uint32_t i = 0; i < c->warning_count && i < MZ_MAX_WARNINGS; i++)
        for (uint32_t k = 0; k < MZ_WARNING_STEPS; k++) {
            mz_translate(t, &c->warnings[i].step[k].held);
            mz_translate(t, &c->warnings[i].step[k].locked);
            code(t, &c->warnings[i].step[k].pc);
        }
}
