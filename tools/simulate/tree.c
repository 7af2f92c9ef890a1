/* Reading a recorded exploration: see tree.h, and src/event/tree_file.h for the file. What is asked for first
 * has a number: that of the leaf of the wakeup tree, or one that this file gives to the pair of node and
 * thread. When all is read, resolve() finds the execution that each number became, if any. */
#include "tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "event/tree_file.h"

#define NONE          UINT32_MAX
#define MOST_DEPTH    (1u << 24) /* steps of an execution; a recording with longer ones is refused */
#define MOST_REQUESTS ((size_t)1 << 27)

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
    size_t room;         /* for executions */
    struct words asked;  /* (asker, number, node), three words each */
    struct leaf *leaves; /* optimal: which execution each number became, sorted before use */
    size_t leaf_count, leaf_room;
    struct words became;      /* backtrack: number -> execution */
    struct words last_choice; /* backtrack: number -> the last execution of its chain */
    struct words later;       /* pairs (asker, execution) that need no number */
    struct words next_choice; /* execution -> another execution that becomes known at the same time */
    uint32_t depth;
    uint32_t newest; /* number that was given */
    /* For each node of the path: with backtrack sets, the entry of `ids` that has the numbers of the threads
     * that were asked for there (NONE: no thread was); the execution that came there first; how many branched off. */
    uint32_t *set, *creator, *branches;
    size_t path_room;
    uint32_t (*ids)[MZ_MAX_THREADS];
    size_t id_count, id_room;
    struct words free_ids;
};

struct leaf {
    uint32_t number, execution;
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
    if (rest[1] > MZ_ALG_OPTIMAL || rest[2] > 1 || rest[3] > 1) return bad(r, "is damaged");
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
    size_t old = r->path_room;
    r->path_room = 2 * (size_t)depth + 64;
    r->set = grow(r->set, r->path_room * sizeof *r->set);
    r->creator = grow(r->creator, r->path_room * sizeof *r->creator);
    r->branches = grow(r->branches, r->path_room * sizeof *r->branches);
    memset(r->set + old, 0xff, (r->path_room - old) * sizeof *r->set);
}

/* The path of execution i has new nodes behind `from`; those of the execution before it, up to `old`, are gone. */
static void new_nodes(struct reader *r, uint32_t i, uint32_t from, uint32_t old, uint32_t to)
{
    room_for_path(r, to);
    for (uint32_t k = i ? from + 1 : 0; k <= old && k < r->path_room; k++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): room_for_path() has set all of it */
        if (r->set[k] != NONE) add(&r->free_ids, r->set[k]);
        r->set[k] = NONE;
    }
    for (uint32_t k = i ? from + 1 : 0; k <= to; k++) {
        r->creator[k] = i;
        r->branches[k] = 1;
    }
}

/* The numbers of the threads that were asked for at a node. */
static uint32_t *ids_of(struct reader *r, uint32_t node)
{
    if (r->set[node] == NONE) {
        if (r->free_ids.count) {
            r->set[node] = r->free_ids.at[--r->free_ids.count];
        } else {
            if (r->id_count == r->id_room)
                r->ids = grow(r->ids, (r->id_room = 2 * r->id_room + 64) * sizeof *r->ids);
            r->set[node] = (uint32_t)r->id_count++;
        }
        memset(r->ids[r->set[node]], 0xff, sizeof *r->ids);
    }
    return r->ids[r->set[node]];
}

static void number_branch(struct reader *r, uint32_t i)
{
    uint32_t place = r->branches[r->t->node[i]]++;
    r->t->place[i] = place < MANY ? (uint16_t)place : MANY;
    if (place + 1 > r->t->most_branches) r->t->most_branches = place + 1;
}

static void branch_of_leaf(struct reader *r, uint32_t i)
{
    r->t->led[i] = small(r, r->t->steps[i]);
    uint32_t leaf = r->newest - small(r, r->newest);
    if (r->t->led[i] == 0) bad(r, "is damaged");
    if (r->leaf_count == r->leaf_room)
        r->leaves = grow(r->leaves, (r->leaf_room = 2 * r->leaf_room + 1024) * sizeof *r->leaves);
    r->leaves[r->leaf_count++] = (struct leaf){leaf, i};
}

static void branch_of_thread(struct reader *r, uint32_t i, uint32_t from)
{
    uint32_t thread = small(r, MZ_MAX_THREADS - 1);
    r->t->led[i] = 1;
    uint32_t id = r->set[from] == NONE ? NONE : ids_of(r, from)[thread];
    if (id == NONE) { /* another choice of the first thread there */
        add(&r->later, r->creator[from]);
        add(&r->later, i);
        return;
    }
    if (id >= r->became.count || r->became.at[id] == NONE)
        set(&r->became, id, i);
    else
        set(&r->next_choice, r->last_choice.at[id], i);
    set(&r->last_choice, id, i);
}

static uint32_t number_of_thread(struct reader *r, uint32_t node)
{
    uint32_t *id = &ids_of(r, node)[small(r, MZ_MAX_THREADS - 1)];
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
        add(&r->asked, node);
    }
}

static bool execution(struct reader *r, uint64_t word)
{
    struct tree *t = r->t;
    uint32_t i = t->count, most = i ? r->depth : 0, old = r->depth;
    uint64_t steps = word / 4;
    room_for_execution(r);
    uint32_t from = small(r, most);
    if (steps > MOST_DEPTH - from || i == NONE - 1) return bad(r, "is damaged");
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
    if (r->problem) return false;
    new_nodes(r, i, from, old, r->depth);
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
    bool more = r->at < r->have || fgetc(r->file) != EOF;
    bool right = is == sum && executions + blocked + cut == t->count && blocked == t->blocked &&
                 cut == t->cut && transitions == t->transitions && t->count > 0 && !more;
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

/* Sort the pairs (asker, asked) into lists by asker. */
static void sort_pairs(struct tree *t, const uint32_t *pairs, size_t count)
{
    t->ask_start = grow(NULL, (t->count + 2) * sizeof *t->ask_start);
    t->ask = grow(NULL, count * sizeof *t->ask);
    memset(t->ask_start, 0, (t->count + 2) * sizeof *t->ask_start);
    for (size_t k = 0; k < count; k++) t->ask_start[pairs[2 * k] + 2]++;
    for (uint32_t i = 0; i <= t->count; i++) t->ask_start[i + 1] += t->ask_start[i];
    for (size_t k = 0; k < count; k++) t->ask[t->ask_start[pairs[2 * k] + 1]++] = pairs[2 * k + 1];
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct leaf *)a)->number, y = ((const struct leaf *)b)->number;
    return (x > y) - (x < y);
}

/* Each leaf of a wakeup tree is explored once. */
static bool sort_leaves(struct reader *r)
{
    if (r->leaf_count) qsort(r->leaves, r->leaf_count, sizeof *r->leaves, by_number);
    for (size_t k = 1; k < r->leaf_count; k++)
        if (r->leaves[k].number == r->leaves[k - 1].number) return bad(r, "is damaged");
    return true;
}

/* Return the first execution that the number became, or NONE. */
static uint32_t first_of(const struct reader *r, uint32_t number)
{
    struct leaf key = {.number = number}, *found = NULL;
    if (r->t->algorithm != MZ_ALG_OPTIMAL) return number < r->became.count ? r->became.at[number] : NONE;
    if (r->leaf_count) found = bsearch(&key, r->leaves, r->leaf_count, sizeof key, by_number);
    return found ? found->execution : NONE;
}

/* Replace numbers by executions. An execution that asks for a branch at a node must pass that node, and so must the branch. */
static bool resolve(struct reader *r)
{
    for (size_t k = 0; k < r->asked.count; k += 3) {
        uint32_t asker = r->asked.at[k], node = r->asked.at[k + 2];
        for (uint32_t i = first_of(r, r->asked.at[k + 1]); i != NONE;) {
            if (r->t->node[i] < node || (asker != i && tree_parting(r->t, asker, i) < node))
                return bad(r, "is damaged");
            if (r->later.count / 2 >= MOST_REQUESTS) return bad(r, "asks for too many branches");
            add(&r->later, asker);
            add(&r->later, i);
            i = i < r->next_choice.count ? r->next_choice.at[i] : NONE;
        }
    }
    sort_pairs(r->t, r->later.at, r->later.count / 2);
    return true;
}

/* Check that each execution but the first is asked for by an earlier one. */
static bool all_are_asked_for(struct reader *r)
{
    const struct tree *t = r->t;
    uint8_t *asked = grow(NULL, t->count);
    uint32_t i = 1;
    memset(asked, 0, t->count);
    for (uint32_t j = 0; j < t->count; j++)
        for (uint64_t a = t->ask_start[j]; a < t->ask_start[j + 1]; a++) asked[t->ask[a]] |= t->ask[a] > j;
    while (i < t->count && asked[i]) i++;
    free(asked);
    return i == t->count || bad(r, "is damaged");
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
    return sort_leaves(r) && resolve(r) && all_are_asked_for(r);
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
    free(r->leaves);
    free(r->free_ids.at);
    free(r->set);
    free(r->became.at);
    free(r->last_choice.at);
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
        new_nodes(&r, i, node[i], 0, r.depth);
        t->count++;
    }
    find_jumps(t);
    sort_pairs(t, asks, ask_count);
    free(r.set);
    free(r.free_ids.at);
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
