#include <cassert>
#include <mutex>
#include <thread>
extern "C" int part(int);
namespace bank {
struct account {
    int money = 0;
    void deposit(int x) { money = part(money) + x - 1; }
};
}
static bank::account a;
int main()
{
    std::thread t([] { a.deposit(1); });
    a.deposit(1);
    t.join();
    return 0;
}
