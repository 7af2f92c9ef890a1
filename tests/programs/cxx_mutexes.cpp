/* The mutexes of C++ and their guards. Two threads, one critical section each: two orders.
 * Shared locks of two readers and one writer: the writer is before or behind each of them.
 * A timed lock may also fail.
 * EXPECT every verified 2
 * EXPECT -DRECURSIVE every verified 2
 * EXPECT -DSHARED every verified 4
 * EXPECT -DTIMED every verified 3
 * std::scoped_lock gives back what it has and tries again: in opposite orders that may go on for ever. States come
 * back; a search without states is bounded.
 * EXPECT -DSCOPED --max-steps=60 all incomplete search=stateless
 * EXPECT -DSCOPED stateful verified
 * EXPECT -DNO_LOCK all error kind=data-race line=72
 * EXPECT -DABBA every error kind=deadlock
 * OPTIONS -std=c++17
 */
#include <cassert>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

static int count;
static bool failed;

#ifdef RECURSIVE
static std::recursive_mutex m;
static void work()
{
    std::lock_guard<std::recursive_mutex> outer(m);
    std::unique_lock<std::recursive_mutex> inner(m);
    count++;
}
#elif defined SHARED
static std::shared_mutex m;
static int sum;
static void look()
{
    std::shared_lock<std::shared_mutex> guard(m);
    assert(count == 0 || count == 1);
}
static void work()
{
    std::unique_lock<std::shared_mutex> guard(m);
    count++;
    sum++;
}
#elif defined TIMED
static std::timed_mutex m;
static void patient()
{
    std::lock_guard<std::timed_mutex> guard(m);
    count++;
}
static void work()
{
    if (m.try_lock_for(std::chrono::milliseconds(1))) {
        count++;
        m.unlock();
    } else {
        failed = true;
    }
}
#elif defined SCOPED || defined ABBA
static std::mutex m, n;
#else
static std::mutex m;
static void work()
{
#ifndef NO_LOCK
    std::lock_guard<std::mutex> guard(m);
#endif
    count++;
}
#endif

int main()
{
#ifndef SHARED
    const int all = 2;
#endif
#ifdef SHARED
    std::thread a(look), b(look), c(work);
    c.join();
    assert(sum == 1);
    const int all = 1;
#elif defined TIMED
    std::thread a(work), b(patient);
#elif defined SCOPED
    std::thread a([] {
        std::scoped_lock guard(m, n);
        count++;
    });
    std::thread b([] {
        std::scoped_lock guard(n, m);
        count++;
    });
#elif defined ABBA
    std::thread a([] {
        std::lock_guard<std::mutex> one(m), two(n);
        count++;
    });
    std::thread b([] {
        std::lock_guard<std::mutex> one(n), two(m);
        count++;
    });
#else
    std::thread a(work), b(work);
#endif
    a.join();
    b.join();
    assert(count == all || failed);
    return 0;
}
