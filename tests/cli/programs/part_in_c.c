int part(int x);
int part(int x) { int class = x; return class + 1; } /* a word of C++: this must stay C */
