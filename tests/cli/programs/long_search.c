static _Atomic int x[2];
static void *w(void *a)
{
    for (int i = 0; i < 9; i++) x[i % 2]++;
    return a;
}
int main(void)
{
    pthread_t t[3];
    for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, w, NULL);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    return 0;
}
