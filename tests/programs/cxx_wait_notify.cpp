/* C++20: atomic wait and notify, latch, barrier, semaphore.
 * EXPECT all verified
 * EXPECT -DLATCH all verified
 * EXPECT -DBARRIER all verified
 * EXPECT -DSEMAPHORE all verified
 * EXPECT -DNO_NOTIFY all error kind=deadlock
 * EXPECT -DLATCH -DBROKEN all error kind=deadlock
 * EXPECT -DBARRIER -DBROKEN all error kind=data-race
 * EXPECT -DSEMAPHORE -DBROKEN all error kind=deadlock
 * OPTIONS -std=c++20
 */
#include <atomic>
#include <barrier>
#include <cassert>
#include <latch>
#include <semaphore>
#include <thread>

static int data;
int seen; /* for all the compiler knows, others look at it */

#ifdef LATCH
#ifdef BROKEN
static std::latch done(3);
#else
static std::latch done(2);
#endif
static void give()
{
    data = 1;
    done.count_down();
}
static void take()
{
    done.arrive_and_wait();
    assert(data == 1);
}
#elif defined BARRIER
static std::barrier phase(2);
static void give()
{
    data = 1;
    phase.arrive_and_wait();
}
static void take()
{
#ifdef BROKEN
    seen = data;
    phase.arrive_and_wait();
#else
    phase.arrive_and_wait();
    assert(data == 1);
#endif
}
#elif defined SEMAPHORE
static std::counting_semaphore<4> items(0);
static void give()
{
    data = 1;
    items.release();
}
static void take()
{
    items.acquire();
    assert(data == 1);
#ifdef BROKEN
    items.acquire();
#endif
}
#else
static std::atomic<int> ready;
static void give()
{
    data = 1;
    ready = 1;
#ifndef NO_NOTIFY
    ready.notify_one();
#endif
}
static void take()
{
    ready.wait(0);
    assert(data == 1);
}
#endif

int main()
{
    std::thread a(give), b(take);
    a.join();
    b.join();
    return 0;
}
