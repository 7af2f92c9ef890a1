/* "Did you mean": see suggest.h. */
#include "base/suggest.h"

#include <string.h>

#define LONGEST 64

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Number of edits (insert, delete, replace, swap two neighbouring letters) from a to b: optimal string alignment. */
static size_t distance(const char *a, const char *b)
{
    size_t d[LONGEST + 1][LONGEST + 1], n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (size_t i = 0; i <= n; i++) d[i][0] = i;
    for (size_t j = 0; j <= m; j++) d[0][j] = j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[n][m];
}

const char *mz_suggest(const char *word, const char *const *known, size_t count)
{
    const char *best = NULL;
    size_t best_distance = LONGEST, length = strlen(word);
    for (size_t i = 0; i < count; i++) {
        size_t d = distance(word, known[i]);
        /* A word that was cut short, such as --algo for --algorithm, also counts as near. */
        if (length >= 3 && !strncmp(known[i], word, length) && d > 2) d = 2;
        if (d < best_distance) best_distance = d, best = known[i];
    }
    return best_distance <= 1 + length / 3 ? best : NULL;
}
