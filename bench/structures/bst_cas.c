/* A set as a binary search tree with compare and swap (Ellen et al. 2010; NonBlockingTorontoBSTSet of
 * Synchrobench). Keys are in the leaves. Before a thread changes a child pointer, it writes its plan into the
 * `update` of the inner node, so that other threads can help. The parent of a removed leaf stays marked for
 * ever. Nothing is freed: another thread may be walking over it. -DBUG: the parent is not marked, so a key
 * that another thread adds below it at the same time is lost.
 * EXPECT -DT0=a1 -DT1=r1 -DT2=a2 -DT3=c2 all verified
 * EXPECT -DBUG -DT0=a1 -DT1=r1 -DT2=a2 -DT3=c2 all error kind=assertion
 */
#include "set_client.h"

enum { CLEAN, ADD, REMOVE, MARK, STATE = 3 }; /* the low bits of `update`; the rest is a plan or NULL */

struct node {
    int key;
    bool leaf;
    _Atomic(uintptr_t) update;
    _Atomic(struct node *) left, right;
};

struct plan {
    struct node *grandparent, *parent, *leaf;
    struct node *fresh;      /* ADD: takes the place of the leaf */
    uintptr_t parent_update; /* REMOVE: `update` of the parent */
};

struct place {
    struct node *grandparent, *parent, *leaf;
    uintptr_t grandparent_update, parent_update;
};

static struct node leaves[] = {{.key = KEYS, .leaf = true}, {.key = KEYS + 1, .leaf = true}};
static struct node root = {.key = KEYS + 1, .left = &leaves[0], .right = &leaves[1]};

static void setup(void) {}

static uintptr_t word(const struct plan *plan, unsigned state) { return (uintptr_t)plan | state; }
static unsigned state_of(uintptr_t update) { return update & STATE; }
static const struct plan *plan_of(uintptr_t update)
{
    return (const struct plan *)(update & ~(uintptr_t)STATE);
}

static struct place find(int key)
{
    struct place p = {.leaf = &root};
    while (!p.leaf->leaf) {
        p.grandparent = p.parent;
        p.grandparent_update = p.parent_update;
        p.parent = p.leaf;
        p.parent_update = p.parent->update;
        p.leaf = key < p.parent->key ? p.parent->left : p.parent->right;
    }
    return p;
}

/* Replace the child `old` by `fresh`, unless a helping thread has done so already. */
static void exchange_child(struct node *parent, struct node *old, struct node *fresh)
{
    if (fresh->key < parent->key)
        atomic_compare_exchange_strong(&parent->left, &old, fresh);
    else
        atomic_compare_exchange_strong(&parent->right, &old, fresh);
}

static void settle(struct node *node, uintptr_t flagged)
{
    atomic_compare_exchange_strong(&node->update, &flagged, word(plan_of(flagged), CLEAN));
}

static void finish_add(const struct plan *plan)
{
    exchange_child(plan->parent, plan->leaf, plan->fresh);
    settle(plan->parent, word(plan, ADD));
}

static void finish_remove(const struct plan *plan)
{
    struct node *right = plan->parent->right;
    struct node *other = right == plan->leaf ? plan->parent->left : right;
    exchange_child(plan->grandparent, plan->parent, other);
    settle(plan->grandparent, word(plan, REMOVE));
}

static void help(uintptr_t update);

/* The grandparent is flagged already. Return false if another thread has changed the parent: the plan is dropped. */
static bool try_remove(const struct plan *plan)
{
#ifndef BUG
    uintptr_t update = plan->parent_update;
    if (!atomic_compare_exchange_strong(&plan->parent->update, &update, word(plan, MARK)) &&
        update != word(plan, MARK)) {
        help(update);
        settle(plan->grandparent, word(plan, REMOVE));
        return false;
    }
#endif
    finish_remove(plan);
    return true;
}

static void help(uintptr_t update)
{
    switch (state_of(update)) {
    case ADD:
        finish_add(plan_of(update));
        break;
    case REMOVE:
        try_remove(plan_of(update));
        break;
    case MARK:
        finish_remove(plan_of(update));
        break;
    default:
        break;
    }
}

static struct node *new_leaf(int key)
{
    struct node *n = calloc(1, sizeof *n);
    n->key = key;
    n->leaf = true;
    return n;
}

/* Return an inner node whose children are a leaf with the new key and a copy of the old leaf. */
static struct node *new_inner(int key, const struct node *old)
{
    struct node *n = calloc(1, sizeof *n), *mine = new_leaf(key), *copy = new_leaf(old->key);
    n->key = key < old->key ? old->key : key;
    atomic_init(&n->left, key < old->key ? mine : copy);
    atomic_init(&n->right, key < old->key ? copy : mine);
    return n;
}

static bool add(int key)
{
    for (;;) {
        struct place p = find(key);
        if (p.leaf->key == key) return false;
        if (state_of(p.parent_update) != CLEAN) {
            help(p.parent_update);
            continue;
        }
        struct plan *plan = malloc(sizeof *plan);
        *plan = (struct plan){.parent = p.parent, .leaf = p.leaf, .fresh = new_inner(key, p.leaf)};
        uintptr_t update = p.parent_update;
        if (atomic_compare_exchange_strong(&p.parent->update, &update, word(plan, ADD))) {
            finish_add(plan);
            return true;
        }
        help(update);
    }
}

static bool take(int key)
{
    for (;;) {
        struct place p = find(key);
        if (p.leaf->key != key) return false;
        if (state_of(p.grandparent_update) != CLEAN) {
            help(p.grandparent_update);
        } else if (state_of(p.parent_update) != CLEAN) {
            help(p.parent_update);
        } else {
            struct plan *plan = malloc(sizeof *plan);
            *plan = (struct plan){p.grandparent, p.parent, p.leaf, NULL, p.parent_update};
            uintptr_t update = p.grandparent_update;
            if (!atomic_compare_exchange_strong(&p.grandparent->update, &update, word(plan, REMOVE)))
                help(update);
            else if (try_remove(plan))
                return true;
        }
    }
}

static bool contains(int key) { return find(key).leaf->key == key; }

static int look(int key) { return contains(key); }
