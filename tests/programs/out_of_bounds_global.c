/* Between global variables: the linker leaves room to align the next one, and nothing may be there.
 * All bytes of variables of every kind are right: static and common ones, aliases, literals, tables of
 * the compiler.
 * EXPECT every verified 1
 * EXPECT -O2 every verified 1
 * EXPECT -fcommon optimal verified 1
 * EXPECT -DBEHIND all error kind=out-of-bounds line=60 says=small
 * EXPECT -DBYTE all error kind=out-of-bounds line=63 says=flag
 * EXPECT -DRANGE all error kind=out-of-bounds line=66 says=small
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#define APART __attribute__((aligned(64))) /* so that there is room behind each of them */

struct flexible {
    int n;
    char text[];
};

int small[3] APART = {1, 2, 3};
int next[16] APART = {4};
char flag APART;
long after APART;
APART static struct flexible flexible = {3, "ab"};
int common;
int original = 1;
extern int alias __attribute__((alias("original")));
APART static const char *names[] = {"first", "second", "third"};
APART static int *literal = (int[]){1, 2, 3};
APART static char *writable = (char[]){"text"};

static int table(int i)
{
    switch (i) {
    case 0:
        return 3;
    case 1:
        return 1;
    case 2:
        return 4;
    case 3:
        return 1;
    case 4:
        return 5;
    default:
        return 9;
    }
}

static void *work(void *arg)
{
    static short inside[5];
    volatile int *p = small;
    volatile char *f = &flag;
    for (int i = 0; i < 3; i++) p[i]++;
    for (int i = 0; i < 16; i++) next[i]++;
#ifdef BEHIND
    p[3] = 1;
#endif
#ifdef BYTE
    f[1] = 1;
#endif
#ifdef RANGE
    memset(small, 0, sizeof small + 1);
#endif
    *f = 1;
    after = 2;
    alias = 3;
    for (int i = 0; i < 5; i++) inside[i] = (short)table(i);
    for (int i = 0; i < flexible.n; i++) flexible.text[i]++;
    for (int i = 0; i < 3; i++) literal[i] += (int)strlen(names[i]);
    writable[4] = 'x';
    assert(inside[4] == 5 && original == 3 && common == 0);
    return arg;
}

int main(void)
{
    pthread_t a;
    pthread_create(&a, NULL, work, NULL);
    pthread_join(a, NULL);
    return 0;
}
