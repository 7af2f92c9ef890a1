/* Threads share an exception: the last one that releases it destroys it. The counter that decides this is in libstdc++.
 * OPTIONS -std=c++20
 * EXPECT all verified
 * EXPECT stateful verified
 * EXPECT -DBROKEN_PROMISE all verified
 * EXPECT -DBROKEN_PROMISE s-por verified
 * EXPECT -DASYNC all verified
 * EXPECT -DLAST all error kind=assertion
 * EXPECT -DLAST sdpor error kind=assertion
 * EXPECT -DCHANGES all error kind=data-race
 * EXPECT -DNESTED all verified
 */
#include <atomic>
#include <cassert>
#include <exception>
#include <future>
#include <thread>

static std::thread::id destroyer;

struct failure {
    int value = 3;
    failure() = default;
    failure(const failure &) = default;
    ~failure()
    {
        value = 0;
        destroyer = std::this_thread::get_id();
    }
};

static void catch_it(std::exception_ptr p)
{
    try {
        std::rethrow_exception(p);
    } catch (failure &f) {
#ifdef CHANGES
        f.value++;
#else
        assert(f.value == 3);
#endif
#ifdef NESTED
        try {
            throw;
        } catch (failure &again) {
            assert(&again == &f);
        }
#endif
    }
}

int main()
{
#ifdef BROKEN_PROMISE
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread t([p = std::move(promise)]() mutable {});
    try {
        future.get();
        assert(false);
    } catch (std::future_error &e) {
        assert(e.code() == std::future_errc::broken_promise);
    }
    t.join();
#elif defined ASYNC
    auto a = std::async(std::launch::async, [] { throw failure(); });
    try {
        a.get();
        assert(false);
    } catch (failure &f) {
        assert(f.value == 3);
    }
#else
    std::exception_ptr p;
    try {
        throw failure();
    } catch (...) {
        p = std::current_exception();
    }
    std::thread t(catch_it, p);
    catch_it(std::move(p));
    t.join();
#ifdef LAST
    assert(destroyer == std::this_thread::get_id());
#endif
#endif
}
