/* Unaligned accesses that overlap in one byte race; those that only touch do not.
 * EXPECT -DOFFSET=4 all error kind=data-race
 * EXPECT -DOFFSET=7 all error kind=data-race
 * EXPECT -DOFFSET=8 all error kind=data-race
 * EXPECT -DOFFSET=9 all verified 1
 */
#include <pthread.h>

#ifndef OFFSET
#define OFFSET 4
#endif

struct packed {
    char before;
    long value;
    char rest[32];
} __attribute__((packed, aligned(16)));
struct number {
    int value;
} __attribute__((packed));

struct packed area;

static void *writer(void *arg)
{
    area.value = -1;
    return arg;
}

static void *reader(void *arg)
{
    struct number *n = (struct number *)((char *)&area + OFFSET);
    n->value = 1;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
