/* What a sample shows, in numbers: see sample.h. */
#include "report/sample.h"

#include <math.h>

#define THREE 3.0 /* -ln(1 - MZ_SAMPLE_CONFIDENCE), rounded up: the rule of three */

static double scale(const struct mz_sample *s) { return ldexp(1, (int)s->shift); }

double mz_sample_classes(const struct mz_sample *s) { return (double)s->classes * scale(s); }

double mz_sample_estimate(const struct mz_sample *s)
{
    double once = (double)s->once, twice = (double)s->twice;
    return ((double)s->classes + once * (once > 0 ? once - 1 : 0) / (2 * (twice + 1))) * scale(s);
}

double mz_sample_unseen(const struct mz_sample *s)
{
    return s->complete ? (double)s->once / (double)s->complete : 1;
}

double mz_sample_missed(const struct mz_sample *s)
{
    return (double)s->alike > THREE ? THREE / (double)s->alike : 1;
}

double mz_sample_pct(const struct mz_sample *s, unsigned depth)
{
    if (!s->expected || !s->threads) return 0;
    return 1 / ((double)s->threads * pow(s->expected, (double)depth - 1));
}
