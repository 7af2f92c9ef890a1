static __attribute__((noinline)) int inner(volatile int *p) { return *p; }
int look(int *p) { return inner(p) + 1; }
