/* std::scoped_lock takes two mutexes in both orders: it locks one, tries the other, lets go of the first if that fails, and
 * begins again with the other. A fair scheduler ends that. A stateless search follows it for some rounds only. It must
 * not come to the step limit for that: each execution is only one round longer than the one before (rounds.c).
 * OPTIONS -std=c++17
 * EXPECT optimal incomplete
 * EXPECT source incomplete
 * EXPECT stateful verified
 * EXPECT s-por verified
 * EXPECT de-s-por verified
 * EXPECT dl-s-por verified
 * EXPECT sdpor verified
 * EXPECT -DBROKEN all error kind=assertion
 */
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex a, b;
static int x;

static void first()
{
    std::scoped_lock lock(a, b);
    x++;
}

static void second()
{
    std::scoped_lock lock(b, a);
    x++;
}

int main()
{
    std::thread t(first), u(second);
    t.join();
    u.join();
#ifdef BROKEN
    assert(x == 1);
#else
    assert(x == 2);
#endif
}
