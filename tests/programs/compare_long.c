/* A long search that changes nothing but a register: each memcmp reads twice in one place, and that is no loop that
 * waits.
 * OPTIONS -fno-builtin
 * EXPECT all verified
 * EXPECT -O2 all verified
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static char text[400000], word[2] = {1, 1};

static void *search(void *unused)
{
    const char *at = text;
    while (memcmp(at, word, 2)) at++;
    assert(at == text + 399990);
    return unused;
}

int main(void)
{
    pthread_t thread;
    text[399990] = text[399991] = 1;
    pthread_create(&thread, NULL, search, NULL);
    pthread_join(thread, NULL);
    return 0;
}
