/* Exceptions in threads: caught ones, those carried to another thread, those that nobody catches. Destructors
 * run on the way, also when the thread exits or is cancelled.
 * EXPECT every verified 2
 * EXPECT -DUNCAUGHT every error kind=crash line=45 says=runtime_error
 * EXPECT -DNOEXCEPT every error kind=crash says=terminate
 * EXPECT -DNOT_JOINED every error kind=crash says=terminate
 * EXPECT -DEXIT every verified 2
 * EXPECT -DCANCEL every verified
 * EXPECT -DCARRIED all verified
 */
#include <atomic>
#include <cassert>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <thread>

static std::atomic<int> destroyed;
static std::exception_ptr carried;

struct object {
    ~object() { destroyed++; }
};

static void deep(int n)
{
    object o;
    if (n) {
        deep(n - 1);
    } else {
#ifdef EXIT
        pthread_exit(nullptr);
#elif defined CANCEL
        for (;;) pthread_testcancel();
#else
        throw std::runtime_error("deep");
#endif
    }
}

static void work()
{
#if defined UNCAUGHT || defined NOEXCEPT
    object *leaked = new object;
    if (leaked) throw std::runtime_error("nobody catches this");
#elif defined EXIT || defined CANCEL
    deep(0);
    assert(false);
#else
    try {
        deep(0);
        assert(false);
    } catch (const std::runtime_error &e) {
        carried = std::current_exception();
    }
#endif
}

static void guarded() noexcept { work(); }

int main()
{
#ifdef NOEXCEPT
    std::thread a(guarded);
    a.join();
#elif defined UNCAUGHT
    std::thread a(work);
    a.join();
#elif defined NOT_JOINED
    std::thread a([] { destroyed++; });
    (void)guarded;
#elif defined CARRIED
    std::thread a(work);
    a.join();
    bool found = false;
    try {
        std::rethrow_exception(carried);
    } catch (const std::runtime_error &e) {
        found = e.what()[0] == 'd';
    }
    assert(found && destroyed == 1);
#elif defined CANCEL
    pthread_t t;
    auto start = [](void *) -> void * {
        work();
        return nullptr;
    };
    pthread_create(&t, nullptr, start, nullptr);
    pthread_cancel(t);
    pthread_join(t, nullptr);
    assert(destroyed == 1);
#else
    auto start = [](void *) -> void * {
        try {
            deep(0);
        } catch (const std::runtime_error &e) {
        }
        return nullptr;
    };
    pthread_t t[2];
    for (auto &x : t) pthread_create(&x, nullptr, start, nullptr);
    for (auto &x : t) pthread_join(x, nullptr);
    assert(destroyed == 2);
#endif
    return 0;
}
