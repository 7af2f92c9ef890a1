long shared;
void add(void) { shared++; }
