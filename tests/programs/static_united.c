/* Two threads access overlapping bytes of mapped memory in two sizes: one object, though no variable contains it. Static
 * persistent sets must take at least that as a conflict. TLS: the same in the storage of main.
 * EXPECT optimal error kind=assertion
 * EXPECT static error kind=assertion
 * EXPECT --sleep-sets static error kind=assertion
 * EXPECT --no-sleep-sets --persistent=static dpor error kind=assertion
 * EXPECT --persistent=static classic error kind=assertion
 * EXPECT -DTLS static error kind=assertion
 * EXPECT -DTLS --stateful static error kind=assertion
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

static char *bytes;
#ifdef TLS
static _Thread_local _Alignas(8) char storage[8];
#endif

static void *reads(void *arg)
{
    int value = atomic_load((_Atomic uint32_t *)(void *)(bytes + 4)) != 0;
    assert(value == 0);
    return arg;
}

static void *writes(void *arg)
{
    atomic_store((_Atomic uint64_t *)(void *)bytes, UINT64_C(0x500000006));
    return arg;
}

int main(void)
{
    pthread_t a, b;
#ifdef TLS
    bytes = storage;
#else
    bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
    pthread_create(&a, NULL, reads, NULL);
    pthread_create(&b, NULL, writes, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
