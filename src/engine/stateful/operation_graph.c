/* The visible operation dependency graph of 2008, section 4.2. Its nodes are operations (a thread, an object,
 * how it is accessed). Its edges lead from one operation to another that came right after it somewhere in the
 * search. The operations that can be reached from those pending in a state include everything that happens
 * from there on. The size of the graph is that of the program, not that of its state space. */
#include <string.h>
#include "engine/stateful/stateful.h"
#include "base/region.h"
#include "base/table.h"

#define MAX_NODES   (1u << 24)
#define MAX_EDGES   (1u << 27)
#define FIRST_TABLE 256u

struct edge {
    uint32_t from, to, next; /* next: of the edges from the same node */
};

struct mz_graph {
    struct mz_elem *nodes, *reached;
    uint32_t *first; /* edge of each node */
    uint32_t *stamp; /* the search that reached each node last */
    uint32_t *queue;
    uint32_t node_count, edge_count, queue_count, reached_count, search;
    struct edge *edges;
    struct mz_table node_table, edge_table; /* by key_of_node, key_of_edge */
};

static void each(struct mz_graph *g, void (*f)(void **array, size_t bytes))
{
    f((void **)&g->nodes, MAX_NODES * sizeof *g->nodes);
    f((void **)&g->reached, MAX_NODES * sizeof *g->reached);
    f((void **)&g->first, MAX_NODES * sizeof *g->first);
    f((void **)&g->stamp, MAX_NODES * sizeof *g->stamp);
    f((void **)&g->queue, MAX_NODES * sizeof *g->queue);
    f((void **)&g->edges, (size_t)MAX_EDGES * sizeof *g->edges);
    f((void **)&g->node_table.slots, (size_t)4 * MAX_NODES * sizeof *g->node_table.slots);
    f((void **)&g->edge_table.slots, (size_t)4 * MAX_EDGES * sizeof *g->edge_table.slots);
}

static void reserve(void **array, size_t bytes)
{
    *array = mz_region_reserve(bytes);
    MZ_ASSERT(*array != NULL);
}

static void release(void **array, size_t bytes) { mz_region_free(*array, bytes); }

struct mz_graph *mz_graph_new(void)
{
    struct mz_graph *g = mz_region_reserve(sizeof *g);
    MZ_ASSERT(g != NULL);
    each(g, reserve);
    mz_graph_clear(g);
    return g;
}

void mz_graph_free(struct mz_graph *g)
{
    each(g, release);
    mz_region_free(g, sizeof *g);
}

void mz_graph_clear(struct mz_graph *g)
{
    g->node_count = g->edge_count = 1; /* 0 is none */
    mz_table_clear(&g->node_table, FIRST_TABLE);
    mz_table_clear(&g->edge_table, FIRST_TABLE);
}

uint64_t mz_graph_memory(const struct mz_graph *g)
{
    uint64_t node = 2 * sizeof *g->nodes + sizeof *g->first + sizeof *g->stamp + sizeof *g->queue;
    return g->node_count * node + g->edge_count * sizeof *g->edges +
           ((uint64_t)g->node_table.mask + g->edge_table.mask + 2) * sizeof(uint32_t);
}

bool mz_graph_full(const struct mz_graph *g)
{
    return g->node_count > MAX_NODES / 2 || g->edge_count > MAX_EDGES / 2;
}

static uint64_t key_of_node(const struct mz_elem *e)
{
    uint64_t word;
    memcpy(&word, e, sizeof word);
    return word;
}

static uint64_t key_of_edge(const struct edge *e) { return (uint64_t)e->from << 32 | e->to; }

static inline uint32_t hash_of_node(const void *nodes, uint32_t n)
{
    return mz_table_hash(key_of_node((const struct mz_elem *)nodes + n));
}

static inline uint32_t hash_of_edge(const void *edges, uint32_t n)
{
    return mz_table_hash(key_of_edge((const struct edge *)edges + n));
}

static inline bool is_node(const void *nodes, uint32_t n, const void *key)
{
    return key_of_node((const struct mz_elem *)nodes + n) == *(const uint64_t *)key;
}

static inline bool is_edge(const void *edges, uint32_t n, const void *key)
{
    return key_of_edge((const struct edge *)edges + n) == *(const uint64_t *)key;
}

static uint32_t *find_node(struct mz_graph *g, uint64_t key)
{
    return mz_table_find(&g->node_table, mz_table_hash(key), is_node, g->nodes, &key);
}

static uint32_t *find_edge(struct mz_graph *g, uint64_t key)
{
    return mz_table_find(&g->edge_table, mz_table_hash(key), is_edge, g->edges, &key);
}

uint32_t mz_graph_node(struct mz_graph *g, struct mz_elem entry)
{
    uint32_t *slot = find_node(g, key_of_node(&entry));
    if (*slot) return *slot;
    MZ_ASSERT(g->node_count < MAX_NODES);
    uint32_t n = g->node_count++;
    mz_table_fill(&g->node_table, slot, n);
    g->nodes[n] = entry;
    g->first[n] = g->stamp[n] = 0;
    if (mz_table_is_half_full(&g->node_table)) mz_table_grow(&g->node_table, hash_of_node, g->nodes);
    return n;
}

uint32_t mz_graph_known(struct mz_graph *g, struct mz_elem entry)
{
    return *find_node(g, key_of_node(&entry));
}

void mz_graph_edge(struct mz_graph *g, uint32_t from, uint32_t to)
{
    struct edge edge = {from, to, 0};
    if (!from || !to) return;
    uint32_t *slot = find_edge(g, key_of_edge(&edge));
    if (*slot) return;
    MZ_ASSERT(g->edge_count < MAX_EDGES);
    uint32_t n = g->edge_count++;
    mz_table_fill(&g->edge_table, slot, n);
    edge.next = g->first[from];
    g->edges[n] = edge;
    g->first[from] = n;
    if (mz_table_is_half_full(&g->edge_table)) mz_table_grow(&g->edge_table, hash_of_edge, g->edges);
}

/* The numbers of edges begin at 1. */
uint32_t mz_graph_edges(const struct mz_graph *g) { return g->edge_count - 1; }

bool mz_graph_edge_at(const struct mz_graph *g, uint32_t number, struct mz_elem *from, struct mz_elem *to)
{
    if (number + 1 >= g->edge_count) return false;
    *from = g->nodes[g->edges[number + 1].from];
    *to = g->nodes[g->edges[number + 1].to];
    return true;
}

void mz_graph_begin(struct mz_graph *g)
{
    g->queue_count = 0;
    g->search++;
}

void mz_graph_from(struct mz_graph *g, uint32_t node)
{
    if (!node || g->stamp[node] == g->search) return;
    g->stamp[node] = g->search;
    g->queue[g->queue_count++] = node;
}

const struct mz_elem *mz_graph_reached(struct mz_graph *g, uint32_t *count)
{
    for (uint32_t i = 0; i < g->queue_count; i++) {
        g->reached[i] = g->nodes[g->queue[i]];
        for (uint32_t e = g->first[g->queue[i]]; e; e = g->edges[e].next) mz_graph_from(g, g->edges[e].to);
    }
    *count = g->reached_count = g->queue_count;
    return g->reached;
}

uint32_t mz_graph_append(struct mz_graph *g, struct mz_elem entry)
{
    if (g->stamp[mz_graph_node(g, entry)] == g->search) return g->reached_count;
    g->stamp[mz_graph_node(g, entry)] = g->search;
    g->reached[g->reached_count++] = entry;
    return g->reached_count;
}
