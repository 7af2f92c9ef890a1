int shared;
int twice(int a) { return 2 * a; }
int sum(int n) { int a[10], s = 0; for (int i = 0; i < 10; i++) a[i] = n + i; for (int i = 0; i < 10; i++) s += a[i]; return s; }
void count(void) { shared++; }
int look(const int *p) { return *p; }
