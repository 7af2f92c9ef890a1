/* Clients of sets and maps: a1 adds the key 1, r1 removes it, c1 looks whether it is there.
 *
 * In a map, each call of `a` has its own value, and puts it if the key is absent; `r` and `c` return the value
 * of the key, or 0. In a set all values are 1. So the content after some calls does not depend on their order:
 * it is the sum of the added values minus the sum of the removed ones. This makes it cheap to check whether an
 * order of all calls, with the calls of each thread in program order, explains all results. */
#ifndef SET_CLIENT_H
#define SET_CLIENT_H

#include "client.h"

#define KEYS 10

#ifdef MAP
static int put(int key, int value); /* 1; 0: the key has a value already */
static int take(int key);           /* the value, or 0 */
static int get(int key);
#define VALUE(t, i) (10 * (t) + (i) + 1)
#else
static bool add(int key);
static bool take(int key);
static bool contains(int key);
#define VALUE(t, i)     1
#define put(key, value) add(key)
#define get(key)        contains(key)
#endif
static int look(int key); /* get, without other threads */

static int call(char operation, int key, int t, int i)
{
    (void)t, (void)i;
    switch (operation) {
    case 'a':
        return put(key, VALUE(t, i));
    case 'r':
        return take(key);
    case 'c':
        return get(key);
    default:
        abort();
    }
}

/* Return the value of the key after the first at[t] calls of each thread t. */
static int value_after(const int at[1 + THREADS], int key)
{
    int value = 0;
    for (int t = 0; t <= THREADS; t++) {
        for (int i = 0; i < at[t]; i++) {
            if (digit_of(t, i) != key) continue;
            if (operation_of(t, i) == 'a' && results[t][i]) value += VALUE(t, i);
            if (operation_of(t, i) == 'r') value -= results[t][i];
        }
    }
    return value;
}

/* Does the result of the next call of thread t fit, if the thread makes it after the first at[] calls of each thread? */
static bool explained(const int at[1 + THREADS], int t)
{
    int i = at[t], value = value_after(at, digit_of(t, i));
    return operation_of(t, i) == 'a' ? results[t][i] == !value : results[t][i] == value;
}

static void check(void)
{
    bool reached[MOST + 1][MOST + 1][MOST + 1] = {{{false}}};
    int count[1 + THREADS] = {0};
    for (int t = 0; t <= THREADS; t++)
        while (is_call(t, count[t])) count[t]++;
    reached[0][0][0] = true;
    for (int a = 0; a <= count[1]; a++) {
        for (int b = 0; b <= count[2]; b++) {
            for (int c = 0; c <= count[3]; c++) {
                int at[] = {count[0], a, b, c};
                if (!reached[a][b][c]) continue;
                if (a < count[1] && explained(at, 1)) reached[a + 1][b][c] = true;
                if (b < count[2] && explained(at, 2)) reached[a][b + 1][c] = true;
                if (c < count[3] && explained(at, 3)) reached[a][b][c + 1] = true;
            }
        }
    }
    assert(reached[count[1]][count[2]][count[3]]);
    for (int key = 0; key < KEYS; key++) {
        for (int t = 0; t <= THREADS; t++) {
            bool used = false;
            for (int i = 0; i < count[t]; i++) used |= digit_of(t, i) == key;
            if (used) assert(look(key) == value_after(count, key));
        }
    }
}

#endif
