/* No second thread: nothing was checked, and that is said.
 * EXPECT all vacuous
 */
#include <assert.h>
#include <stdatomic.h>

static _Atomic int x;

int main(void)
{
    atomic_fetch_add(&x, 1);
    assert(x == 1);
    return 0;
}
