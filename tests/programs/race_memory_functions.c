/* memcpy, memset and memmove are accesses to every byte of their ranges.
 * EXPECT -DCALL=memset(area,1,50) all error kind=data-race
 * EXPECT -DCALL=memcpy(area,other,50) all error kind=data-race
 * EXPECT -DCALL=memcpy(other,area,50) all error kind=data-race
 * EXPECT -DCALL=memmove(area,other,50) all error kind=data-race
 * EXPECT -DCALL=memmove(other,area,50) all error kind=data-race
 * EXPECT -DCALL=memset(area,1,49) all verified 1
 * EXPECT -DCALL=memcpy(area,other,49) all verified 1
 * EXPECT -DCALL=memmove(area+1,area,48) all verified 1
 */
#include <pthread.h>
#include <string.h>

#ifndef CALL
#define CALL memset(area, 1, 50)
#endif

char area[100], other[100];

static void *caller(void *arg)
{
    CALL;
    return arg;
}

static void *writer(void *arg)
{
    area[49] = 7;
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, caller, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return other[99];
}
