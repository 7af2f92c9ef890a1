/* Reading a recorded exploration: see tree.h, and src/event/tree_file.h for the file. What is asked for is
 * first known by a number of its own: the leaf of the wakeup tree, or what the pair of node and thread got
 * here; when all is read, it is known which execution that became, if any. */
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "event/tree_file.h"

#define NONE UINT32_MAX

struct words { /* a growing array */
    uint32_t *at;
    size_t count, room;
};

struct reader {
    const char *name;
    FILE *file;
    uint8_t buffer[1 << 16];
    size_t have, at;
    uint64_t sum;
    const char *problem;
    struct tree *t;
    size_t room;              /* for executions */
    struct words asked;       /* (asker, number), two words each */
    struct words became;      /* number -> execution */
    struct words later;       /* pairs (asker, execution) that need no number */
    struct words next_choice; /* execution -> another one that is known when this one is */
    uint32_t depth;
    uint32_t newest; /* number that was given */
    /* For each node of the path, with backtrack sets: the number of each thread that was asked for there. */
    uint32_t (*ids)[MZ_MAX_THREADS];
    uint32_t *creator, *branches; /* who came there first; how many branched off */
    size_t path_room;
};

static void *grow(void *p, size_t bytes)
{
    p = realloc(p, bytes ? bytes : 1);
    if (!p) {
        fputs("mz-simulate: out of memory\n", stderr);
        exit(2);
    }
    return p;
}

static void add(struct words *w, uint32_t value)
{
    if (w->count == w->room) w->at = grow(w->at, (w->room = w->room ? 2 * w->room : 1024) * sizeof *w->at);
    w->at[w->count++] = value;
}

static void set(struct words *w, size_t i, uint32_t value)
{
    while (w->count <= i) add(w, NONE);
    w->at[i] = value;
}

/* ---- bytes ---- */

static bool bad(struct reader *r, const char *problem)
{
    if (!r->problem) r->problem = problem;
    return false;
}

static uint8_t byte(struct reader *r)
{
    if (r->at == r->have) {
        r->at = 0;
        r->have = fread(r->buffer, 1, sizeof r->buffer, r->file);
        if (r->have == 0) {
            bad(r, "is not complete, or damaged: the search did not end, or the file was cut off");
            return 0;
        }
    }
    r->sum = mz_tree_sum(r->sum, &r->buffer[r->at], 1);
    return r->buffer[r->at++];
}

static uint64_t number(struct reader *r)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t b = byte(r);
        value |= (uint64_t)(b & 127) << shift;
        if (!(b & 128)) return value;
    }
    bad(r, "is damaged");
    return 0;
}

static uint32_t small(struct reader *r, uint32_t most)
{
    uint64_t n = number(r);
    if (n <= most) return (uint32_t)n;
    bad(r, "is damaged");
    return 0;
}

static bool head(struct reader *r)
{
    uint8_t bytes[MZ_TREE_HEAD];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = byte(r);
        if (i == 0 && r->problem) return false; /* nothing in it */
    }
    const uint8_t *rest = bytes + sizeof MZ_TREE_MAGIC - 1;
    if (r->problem || memcmp(bytes, MZ_TREE_MAGIC, sizeof MZ_TREE_MAGIC - 1) != 0) {
        r->problem = NULL;
        return bad(r, "is no recorded tree (mazurka check --record-tree)");
    }
    if (rest[0] != MZ_TREE_VERSION) return bad(r, "was written by another version of mazurka");
    r->t->algorithm = (enum mz_algorithm)rest[1];
    r->t->eager = rest[3];
    return true;
}

/* ---- executions ---- */

static void room_for_execution(struct reader *r)
{
    struct tree *t = r->t;
    if (t->count < r->room) return;
    r->room = r->room ? 2 * r->room : 1024;
    t->node = grow(t->node, r->room * sizeof *t->node);
    t->steps = grow(t->steps, r->room * sizeof *t->steps);
    t->led = grow(t->led, r->room * sizeof *t->led);
    t->place = grow(t->place, r->room * sizeof *t->place);
}

static void room_for_path(struct reader *r, uint32_t depth)
{
    if (depth < r->path_room) return;
    r->path_room = 2 * (size_t)depth + 64;
    r->ids = grow(r->ids, r->path_room * sizeof *r->ids);
    r->creator = grow(r->creator, r->path_room * sizeof *r->creator);
    r->branches = grow(r->branches, r->path_room * sizeof *r->branches);
}

static void new_nodes(struct reader *r, uint32_t i, uint32_t from, uint32_t to)
{
    room_for_path(r, to);
    for (uint32_t k = i ? from + 1 : 0; k <= to; k++) {
        if (r->t->algorithm != MZ_ALG_OPTIMAL) memset(r->ids[k], 0xff, sizeof r->ids[k]);
        r->creator[k] = i;
        r->branches[k] = 1;
    }
}

static void number_branch(struct reader *r, uint32_t i)
{
    uint32_t place = r->branches[r->t->node[i]]++;
    r->t->place[i] = place < MANY ? (uint16_t)place : MANY;
    if (place + 1 > r->t->most_branches) r->t->most_branches = place + 1;
}

static void branch_of_leaf(struct reader *r, uint32_t i)
{
    r->t->led[i] = small(r, UINT32_MAX);
    set(&r->became, r->newest - small(r, r->newest), i);
}

static void branch_of_thread(struct reader *r, uint32_t i, uint32_t from)
{
    uint32_t thread = small(r, MZ_MAX_THREADS - 1);
    r->t->led[i] = 1;
    uint32_t id = r->ids[from][thread];
    if (id == NONE) { /* another choice of the first thread there */
        add(&r->later, r->creator[from]);
        add(&r->later, i);
    } else if (id >= r->became.count || r->became.at[id] == NONE) {
        set(&r->became, id, i);
    } else {
        uint32_t last = r->became.at[id];
        while (last < r->next_choice.count && r->next_choice.at[last] != NONE) last = r->next_choice.at[last];
        set(&r->next_choice, last, i);
    }
}

static uint32_t number_of_thread(struct reader *r, uint32_t node)
{
    uint32_t *id = &r->ids[node][small(r, MZ_MAX_THREADS - 1)];
    if (*id == NONE) *id = r->newest++;
    return *id;
}

static void requests(struct reader *r, uint32_t i)
{
    bool optimal = r->t->algorithm == MZ_ALG_OPTIMAL;
    for (uint32_t n = small(r, UINT32_MAX); n > 0 && !r->problem; n--) {
        uint32_t node = r->depth - small(r, r->depth);
        add(&r->asked, i);
        add(&r->asked, optimal ? r->newest - small(r, r->newest) : number_of_thread(r, node));
    }
}

static bool execution(struct reader *r, uint64_t word)
{
    struct tree *t = r->t;
    uint32_t i = t->count, most = i ? r->depth : 0;
    uint64_t steps = word / 4;
    room_for_execution(r);
    uint32_t from = small(r, most);
    if (steps > UINT32_MAX / 2 - from || i == NONE - 1) return bad(r, "is damaged");
    t->node[i] = from;
    t->steps[i] = (uint32_t)steps;
    t->led[i] = i > 0;
    t->place[i] = 0;
    r->depth = from + (uint32_t)steps;
    if (r->depth > t->max_depth) t->max_depth = r->depth;
    if (t->algorithm == MZ_ALG_OPTIMAL) r->newest += small(r, NONE - 1 - r->newest);
    if (r->problem) return false;
    if (i) {
        number_branch(r, i);
        if (t->algorithm == MZ_ALG_OPTIMAL)
            branch_of_leaf(r, i);
        else
            branch_of_thread(r, i, from);
    }
    new_nodes(r, i, from, r->depth);
    t->count++;
    requests(r, i);
    t->blocked += word % 4 == MZ_TREE_BLOCKED;
    t->cut += word % 4 == MZ_TREE_CUT;
    t->transitions += steps;
    return !r->problem;
}

static bool end(struct reader *r)
{
    struct tree *t = r->t;
    uint64_t executions = number(r), blocked = number(r), cut = number(r), transitions = number(r);
    uint64_t sum = r->sum, is = 0;
    for (int i = 0; i < 8; i++) is |= (uint64_t)byte(r) << 8 * i;
    if (r->problem) return false;
    bool right = is == sum && executions + blocked + cut == t->count && blocked == t->blocked &&
                 cut == t->cut && transitions == t->transitions;
    return right || bad(r, "is damaged");
}

/* ---- who asks for whom ---- */

static void find_jumps(struct tree *t)
{
    t->jump = grow(NULL, (t->count + 1) * sizeof *t->jump);
    for (uint32_t i = t->count; i-- > 0;) {
        uint32_t j = i + 1;
        while (j < t->count && t->node[j] >= t->node[i]) j = t->jump[j];
        t->jump[i] = j;
    }
}

/* Pairs (asker, asked) into lists. */
static void sort_pairs(struct tree *t, const uint32_t *pairs, size_t count)
{
    t->ask_start = grow(NULL, (t->count + 2) * sizeof *t->ask_start);
    t->ask = grow(NULL, count * sizeof *t->ask);
    memset(t->ask_start, 0, (t->count + 2) * sizeof *t->ask_start);
    for (size_t k = 0; k < count; k++) t->ask_start[pairs[2 * k] + 2]++;
    for (uint32_t i = 0; i <= t->count; i++) t->ask_start[i + 1] += t->ask_start[i];
    for (size_t k = 0; k < count; k++) t->ask[t->ask_start[pairs[2 * k] + 1]++] = pairs[2 * k + 1];
}

static void resolve(struct reader *r)
{
    struct words pairs = r->later;
    for (size_t k = 0; k < r->asked.count; k += 2) {
        uint32_t number = r->asked.at[k + 1];
        uint32_t i = number < r->became.count ? r->became.at[number] : NONE;
        while (i != NONE) {
            add(&pairs, r->asked.at[k]);
            add(&pairs, i);
            i = i < r->next_choice.count ? r->next_choice.at[i] : NONE;
        }
    }
    r->later = pairs;
    sort_pairs(r->t, pairs.at, pairs.count / 2);
}

static bool read_all(struct reader *r)
{
    if (!head(r)) return false;
    for (;;) {
        uint64_t word = number(r);
        if (r->problem) return false;
        if (word % 4 == MZ_TREE_END) break;
        if (!execution(r, word)) return false;
    }
    if (!end(r)) return false;
    find_jumps(r->t);
    resolve(r);
    return true;
}

struct tree *tree_read(const char *file)
{
    struct reader *r = grow(NULL, sizeof *r);
    memset(r, 0, sizeof *r);
    r->file = fopen(file, "rb");
    r->sum = MZ_TREE_SUM;
    r->t = grow(NULL, sizeof *r->t);
    memset(r->t, 0, sizeof *r->t);
    if (!r->file) {
        fprintf(stderr, "mz-simulate: %s: %s\n", file, strerror(errno));
        tree_free(r->t);
        free(r);
        return NULL;
    }
    read_all(r);
    fclose(r->file);
    struct tree *t = r->t;
    if (r->problem) {
        fprintf(stderr, "mz-simulate: %s: %s\n", file, r->problem);
        tree_free(t);
        t = NULL;
    }
    free(r->asked.at);
    free(r->became.at);
    free(r->later.at);
    free(r->next_choice.at);
    free(r->ids);
    free(r->creator);
    free(r->branches);
    free(r);
    return t;
}

struct tree *tree_make(uint32_t count, const uint32_t *node, const uint32_t *steps, const uint32_t *asks,
                       size_t ask_count)
{
    struct reader r = {.t = grow(NULL, sizeof *r.t)};
    struct tree *t = r.t;
    memset(t, 0, sizeof *t);
    t->algorithm = MZ_ALG_OPTIMAL;
    for (uint32_t i = 0; i < count; i++) {
        room_for_execution(&r);
        t->node[i] = node[i];
        t->steps[i] = steps[i];
        t->led[i] = i > 0;
        t->place[i] = 0;
        t->transitions += steps[i];
        r.depth = node[i] + steps[i];
        if (r.depth > t->max_depth) t->max_depth = r.depth;
        if (i) number_branch(&r, i);
        new_nodes(&r, i, node[i], r.depth);
        t->count++;
    }
    find_jumps(t);
    sort_pairs(t, asks, ask_count);
    free(r.ids);
    free(r.creator);
    free(r.branches);
    return t;
}

void tree_free(struct tree *t)
{
    if (!t) return;
    free(t->node);
    free(t->steps);
    free(t->led);
    free(t->jump);
    free(t->place);
    free(t->ask_start);
    free(t->ask);
    free(t);
}
