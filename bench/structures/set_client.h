/* Clients of sets and maps: a1 adds the key 1, r1 removes it, c1 looks whether it is there.
 *
 * In a map, a call puts a value of its own if the key is not there, and the others return the value, or 0. In
 * a set all values are 1. So what is in the structure after a call does not depend on the order of the calls
 * before it: it is what was added less what was removed. That makes it cheap to ask whether some order of the
 * calls, each thread's as it made them, explains all that was returned. */
#ifndef SET_CLIENT_H
#define SET_CLIENT_H

#include "client.h"

#define KEYS 10

#ifdef MAP
static int put(int key, int value); /* 1, or 0: there is one */
static int take(int key);           /* the value */
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
static int look(int key); /* get, when nobody else is there */

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

/* The value of a key after so many calls of each thread. */
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

/* Can the next call of thread t, made then, return what it has returned? */
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
