#include <pthread.h>
int g, look(int *);
static void *f(void *a)
{
    if (a) g = 1;
    else look(&g);
    return a;
}
#ifdef OUTSIDE
__asm__(".text\n.globl look\nlook: movl (%rdi), %eax\n\tret");
#endif
#ifdef SECTION
__asm__(".pushsection .mine, \"ax\"\n.globl look\nlook: movl (%rdi), %eax\n\tret\n.popsection");
#endif
#ifdef NO_CODE
__asm__(".symver look, look@ONE\n.pushsection .data\nblob: .long 1\n.popsection");
int look(int *p) { return 0; }
#endif
int main(void)
{
    pthread_t t[2];
    pthread_create(&t[0], 0, f, 0);
    pthread_create(&t[1], 0, f, &g);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
    return 0;
}
