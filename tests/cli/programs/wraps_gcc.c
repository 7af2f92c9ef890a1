#include <stdlib.h>
#include <unistd.h>
int main(int n, char **words)
{
    char **all = calloc((size_t)n + 2, sizeof *all);
    all[0] = "gcc";
    all[1] = getenv("WHAT");
    for (int i = 1; i < n; i++) all[i + 1] = words[i];
    execvp("gcc", all);
    return 1;
}
