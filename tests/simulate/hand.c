/* The simulator (tools/simulate) on trees that can be worked out by hand, and on random ones for what must
 * hold for every tree: each execution is run exactly once (in the paper's protocol at least once); n workers
 * need at least the time of the longest chain of executions that ask for each other; and n workers are at
 * most n times as fast as one. Ends with "N passed, M failed". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "simulate.h"

#define UNIT 10.0 /* an execution */
#define MOST 4096

static int passed, failed;

static void check(bool good, const char *what)
{
    if (good) {
        passed++;
    } else {
        failed++;
        printf("FAIL %s\n", what);
    }
}

static bool near(double a, double b) { return fabs(a - b) < 1e-6 * (1 + fabs(b)); }

static void expect_time(const char *what, const struct result *r, double units)
{
    char text[160];
    snprintf(text, sizeof text, "%s: %g units, expected %g", what, r->time / UNIT, units);
    check(near(r->time, units * UNIT), text);
}

/* Nothing but executions takes time. */
static struct parameters free_of_charge(uint32_t workers)
{
    return (struct parameters){.workers = workers, .execution = UNIT};
}

static uint32_t node[MOST], steps[MOST], asks[4 * MOST][2];
static size_t ask_count;

static void ask(uint32_t who, uint32_t whom)
{
    asks[ask_count][0] = who;
    asks[ask_count++][1] = whom;
}

/* ---- by hand ---- */

/* The first execution finds all others, at the root: 1 + 12 / 4 rounds. */
static void star(void)
{
    struct result r;
    ask_count = 0;
    for (uint32_t i = 0; i < 13; i++) {
        node[i] = 0;
        steps[i] = 20;
        if (i) ask(0, i);
    }
    struct tree *t = tree_make(13, node, steps, asks[0], ask_count);
    struct parameters p = free_of_charge(4);
    simulate_ours(t, &p, &r);
    expect_time("star, ours", &r, 4);
    check(r.tasks == 13 && r.splits == 1 && r.updates == 0, "star, ours: 13 tasks after one split");
    simulate_paper(t, &p, &r);
    expect_time("star, paper", &r, 4);
    check(r.redundant == 0 && r.tasks == 10, "star, paper: nine branches are sent to others");
    check(near(longest_chain(t, &p), 2 * UNIT), "star: a chain of two");
    /* One worker is never idle: the time is the sum of the executions. */
    p = free_of_charge(1);
    simulate_ours(t, &p, &r);
    expect_time("star, ours, alone", &r, 13);
    simulate_paper(t, &p, &r);
    expect_time("star, paper, alone", &r, 13);
    /* With a latency of one unit: the first execution ends at 1, its split arrives at 2, the answers arrive
     * at 3, and three workers begin. The first worker is idle from 1 on, too. Then each branch costs 3. */
    p = free_of_charge(4);
    p.latency = UNIT;
    simulate_ours(t, &p, &r);
    expect_time("star, ours, slow messages", &r, 1 + 1 + 1 + 1 + 3 * 3);
    tree_free(t);
}

/* Each execution finds only the next one: nothing can be done at the same time. */
static void chain(void)
{
    struct result r;
    ask_count = 0;
    for (uint32_t i = 0; i < 50; i++) {
        node[i] = 0;
        steps[i] = 3;
        if (i) ask(i - 1, i);
    }
    struct tree *t = tree_make(50, node, steps, asks[0], ask_count);
    for (uint32_t w = 1; w <= 64; w *= 4) {
        struct parameters p = free_of_charge(w);
        simulate_ours(t, &p, &r);
        expect_time("chain, ours", &r, 50);
        simulate_paper(t, &p, &r);
        expect_time("chain, paper", &r, 50);
        check(near(longest_chain(t, &p), 50 * UNIT), "chain: all of it is one");
    }
    tree_free(t);
}

/* A complete binary tree of depth 6: the second branch of a node is found by the first execution there. */
static struct tree *binary(uint32_t depth)
{
    ask_count = 0;
    for (uint32_t i = 0; i < 1u << depth; i++) {
        uint32_t zeros = i ? (uint32_t)__builtin_ctz(i) : depth;
        node[i] = i ? depth - 1 - zeros : 0;
        steps[i] = depth - node[i];
        for (uint32_t m = 0; m < zeros; m++) ask(i, i + (1u << m));
    }
    return tree_make(1u << depth, node, steps, asks[0], ask_count);
}

static void halves(void)
{
    struct result r;
    struct tree *t = binary(6);
    struct parameters p = free_of_charge(2);
    check(near(longest_chain(t, &p), 7 * UNIT), "binary tree: a chain of seven");
    /* After the first execution the worker gives the upper half away: 32 executions. It has 31 left itself. */
    simulate_ours(t, &p, &r);
    expect_time("binary tree, ours", &r, 33);
    check(r.tasks == 2 && r.splits == 1, "binary tree, ours: one split, two tasks");
    /* The paper's protocol needs the same time. */
    simulate_paper(t, &p, &r);
    expect_time("binary tree, paper", &r, 33);
    check(r.redundant == 0 && r.tasks == 2, "binary tree, paper: one branch is sent");
    /* The balancer needs ten units for a task, and ten for the message that a task is done. The first worker
     * begins at 10, the second at 21. The first is done at 42; the balancer has heard this at 52, when the
     * second worker is about to run its last execution, and gives it away. The balancer is busy with this
     * task until 62, with the second worker's done until 72, then with the last done. */
    p.task = p.done = 10 * UNIT;
    simulate_ours(t, &p, &r);
    expect_time("binary tree, ours, slow balancer", &r, 52 + 10 + 10 + 10);
    tree_free(t);
}

/* 2007, Fig. 8: three threads that take one mutex. Below the branches of t0 and of t1, executions ask for the
 * branch of t2 at the root, and for nothing else there: 0 (t0 t1 t2) asks for 1 and 2; 1 (t0 t2 t1)
 * and 2 (t1 t0 t2) ask for 4. */
static void three_locks(void)
{
    static const uint32_t nodes[] = {0, 1, 0, 1, 0, 1}, new_steps[] = {3, 2, 3, 2, 3, 2};
    static const uint32_t late[][2] = {{0, 1}, {0, 2}, {1, 4}, {2, 3}, {2, 4}, {3, 4}, {4, 5}};
    static const uint32_t early[][2] = {{0, 1}, {0, 2}, {0, 4}, {1, 4}, {2, 3}, {2, 4}, {4, 5}};
    struct result r;
    struct parameters p = free_of_charge(2);
    p.limit = 1;
    struct tree *t = tree_make(6, nodes, new_steps, late[0], 7);
    simulate_paper(t, &p, &r);
    check(r.redundant == 2 && r.executions == 8, "2007, Fig. 8: the third branch is explored twice");
    simulate_ours(t, &p, &r);
    check(r.executions == 6, "2007, Fig. 8, ours: nothing is explored twice");
    tree_free(t);
    t = tree_make(6, nodes, new_steps, early[0], 7);
    simulate_paper(t, &p, &r);
    check(r.redundant == 0 && r.executions == 6, "2007, Fig. 10: with the modified update it is not");
    tree_free(t);
}

/* ---- any tree ---- */

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33) % n;
}

/* Each execution but the first is asked for by earlier executions that pass its node. */
static struct tree *random_tree(uint32_t count)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < count; i++) {
        node[i] = i ? draw(depth) : 0;
        steps[i] = 1 + draw(6);
        depth = node[i] + steps[i];
    }
    ask_count = 0;
    struct tree *t = tree_make(count, node, steps, asks[0], 0);
    for (uint32_t i = 1; i < count; i++) {
        uint32_t j = i - 1, more = draw(3);
        ask(i - 1, i); /* so that at least one does */
        while (more-- && j > 0 && tree_passes(t, i, j = draw(i))) ask(j, i);
    }
    tree_free(t);
    return tree_make(count, node, steps, asks[0], ask_count);
}

static struct parameters random_parameters(void)
{
    return (struct parameters){.workers = 1 + draw(20),
                               .execution = draw(100),
                               .step = 1 + draw(20),
                               .replay = draw(5),
                               .latency = draw(50),
                               .start = draw(100),
                               .alone = draw(100),
                               .least = draw(100),
                               .round = draw(5),
                               .poll = draw(3),
                               .far = draw(3),
                               .here = draw(20),
                               .task = draw(10),
                               .split = draw(10),
                               .update = draw(10),
                               .done = draw(10),
                               .quiet = draw(100),
                               .limit = draw(4),
                               .ahead = draw(2) * draw(8),
                               .single = draw(2),
                               .waits = draw(2)};
}

static bool sane(const struct tree *t, const struct parameters *p, const struct result *r)
{
    double bound = longest_chain(t, p), share = (r->alone - p->start) / p->workers;
    return r->time >= bound - 1e-6 && r->time >= share - 1e-6 && r->busy <= r->time * p->workers + 1e-6 &&
           r->balancer <= r->time + 1e-6 && r->executions - r->redundant == t->count;
}

static void any_tree(uint64_t number)
{
    struct result r;
    char text[80];
    seed = number * 0x9e3779b97f4a7c15ull + 1;
    struct tree *t = random_tree(2 + draw(600));
    struct parameters p = random_parameters();
    snprintf(text, sizeof text, "random tree %u", (unsigned)number);
    simulate_ours(t, &p, &r);
    check(sane(t, &p, &r) && r.redundant == 0, text);
    bool few = t->most_branches <= 64;
    if (few) {
        simulate_paper(t, &p, &r);
        check(sane(t, &p, &r), text);
    }
    p = free_of_charge(1);
    simulate_ours(t, &p, &r);
    check(near(r.time, t->count * UNIT) && r.tasks >= 1, text);
    if (few) {
        simulate_paper(t, &p, &r);
        check(near(r.time, t->count * UNIT) && r.redundant == 0, text);
    }
    tree_free(t);
}

int main(void)
{
    star();
    chain();
    halves();
    three_locks();
    for (uint64_t i = 1; i <= 1000; i++) any_tree(i);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
