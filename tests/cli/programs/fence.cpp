#include <atomic>
#include <thread>
std::atomic<int> a;
int main()
{
    std::thread t([] { std::atomic_thread_fence(std::memory_order_seq_cst); a.store(1, std::memory_order_relaxed); });
    t.join();
    return a.load() - 1;
}
