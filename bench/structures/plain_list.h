/* A sorted list without locks of its own, for the sets that use one lock for the whole list. */
#ifndef PLAIN_LIST_H
#define PLAIN_LIST_H

#include "set_client.h"

struct node {
    int key;
    struct node *next;
};

static struct node head;

static void setup(void) {}

/* The last node before the key. */
static struct node *find(int key)
{
    struct node *p = &head;
    while (p->next && p->next->key < key) p = p->next;
    return p;
}

static bool is_next(const struct node *p, int key) { return p->next && p->next->key == key; }

static void insert_behind(struct node *p, int key)
{
    struct node *n = malloc(sizeof *n);
    n->key = key;
    n->next = p->next;
    p->next = n;
}

static int look(int key) { return is_next(find(key), key); }

#endif
