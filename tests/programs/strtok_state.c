/* strtok goes on where the thread before it, which is ordered with it by the mutex, has stopped: that place is the C
 * library's, an access to it is none to the memory of mazurka, and it is part of the state.
 * EXPECT every verified 2
 * EXPECT stateful verified
 * EXPECT --state-match=exact stateful verified
 * EXPECT -DRACE all error kind=data-race
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static char text[] = "a b c";
static int seen;

static void *work(void *unused)
{
#ifndef RACE
    pthread_mutex_lock(&m);
#endif
    char *word = strtok(seen ? NULL : text, " ");
    assert(word && *word == (seen ? 'b' : 'a'));
    seen++;
#ifndef RACE
    pthread_mutex_unlock(&m);
#endif
    return unused;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
    assert(*strtok(NULL, " ") == 'c');
    return 0;
}
