static __thread int mine;
int next(void) { return ++mine; }
