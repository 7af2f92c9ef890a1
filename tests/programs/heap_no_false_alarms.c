/* Nothing is wrong here: flexible arrays, container_of, copied structures, blocks that grow and
 * shrink, large and aligned ones, all their bytes to the last, and blocks that another thread frees.
 * EXPECT every verified 1
 * EXPECT -O2 every verified 1
 * EXPECT -DONE --heap=reuse every verified 1
 */
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct flexible {
    short length;
    char text[];
};
struct inner {
    char c;
};
struct outer {
    long first;
    struct inner inner;
    double last;
};

static void *work(void *arg)
{
    struct flexible *f = malloc(sizeof *f + 5);
    f->length = 5;
    memcpy(f->text, "abcde", 5);
    for (int i = 0; i < f->length; i++) assert(f->text[i] == 'a' + i);
    struct outer *o = calloc(2, sizeof *o), copy = {1, {2}, 3};
    o[1] = copy;
    o[0] = o[1];
    struct inner *in = &o[1].inner;
    struct outer *again = (struct outer *)((char *)in - offsetof(struct outer, inner));
    assert(again->last == 3 && o[0].inner.c == 2);
    for (size_t size = 1; size < 70; size++) {
        char *p = malloc(size);
        for (size_t i = 0; i < size; i++) p[i] = (char)i;
        p = realloc(p, size + 40);
        for (size_t i = 0; i < size + 40; i++) p[i] = (char)i;
        p = realloc(p, size);
        assert(p[size - 1] == (char)(size - 1));
        free(p);
    }
    size_t big = ((size_t)3 << 20) + 5;
    char *large = malloc(big);
    for (size_t i = 0; i < big; i += 1000) large[i] = 1;
    large[big - 1] = 2;
    large = realloc(large, big + 100);
    large[big + 99] = 1;
    free(large);
    long *aligned = aligned_alloc(256, 512);
    aligned[63] = 1;
    assert((uintptr_t)aligned % 256 == 0 && aligned[63] == 1);
    free(aligned);
    free(o);
    free(f);
    *(int *)arg = 5;
    free(arg);
    return NULL;
}

int main(void)
{
    pthread_t a, b;
#ifndef ONE
    pthread_create(&b, NULL, work, calloc(1, sizeof(int)));
#else
    b = pthread_self();
#endif
    pthread_create(&a, NULL, work, malloc(sizeof(int)));
    pthread_join(a, NULL);
    if (!pthread_equal(b, pthread_self())) pthread_join(b, NULL);
    return 0;
}
