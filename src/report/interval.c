/* The interval of a survey.
 *
 * The values of the tours are skewed: a few are much larger than the mean, and a survey that has met none of these has
 * too small a mean and too small a standard error. So the interval is one for the logarithm, as if the mean had a
 * log-normal distribution, and its upper half is longer:
 *
 *   low    mean / e^(1.645 sigma)                sigma: the relative standard error of the mean, at least 1 %
 *   high   mean * e^(3 sigma (1 + sigma))        or, if that is more,
 *          m * e^(1.645 s)                       m: the mean that follows from the mean and the variance of the
 *                                                logarithms, but at most 4 times the mean; s: its standard error. These
 *                                                do not depend on the few largest values
 *
 * bench/estimate.py measures how often the interval contains the true number. */
#include "report/interval.h"

#include <math.h>

#define LEAST_HITS  50
#define LEAST_ERROR 0.01
#define LOWER       1.645 /* 5 % of a normal distribution are farther from its mean on one side */
#define UPPER       3.0
#define MOST_LARGER 4.0
#define MOST        1e300

/* The upper end that follows from the logarithms. */
static double high_of_logs(const struct mz_tour_sums *sums, double mean, double error)
{
    long double hits = (long double)sums->hits, log2 = sums->logs / hits;
    double variance = (double)(sums->log_squares / hits - log2 * log2) * M_LN2 * M_LN2;
    if (variance < 0) variance = 0;
    double part = (double)hits / (double)sums->tours;
    double m = fmin(part * exp((double)log2 * M_LN2 + variance / 2), MOST_LARGER * mean);
    return m * exp(LOWER * fmax(error, sqrt((variance + variance * variance / 2) / (double)hits)));
}

struct mz_interval mz_interval_of(const struct mz_tour_sums *sums)
{
    struct mz_interval i = {.tours = sums->tours, .at_least = sums->too_long > 0};
    long double n = (long double)sums->tours, mean = n > 0 ? sums->sum / n : 0;
    if (sums->hits < LEAST_HITS || !(mean > 0) || mean > (long double)MOST) return i;
    double variance = (double)((sums->squares / n / (mean * mean) - 1) / (n - 1));
    double error = fmax(sqrt(log1p(variance > 0 ? variance : 0)), LEAST_ERROR);
    i.mean = (double)mean;
    i.low = i.mean * exp(-LOWER * error);
    i.high = fmax(i.mean * exp(UPPER * error * (1 + error)), high_of_logs(sums, i.mean, error));
    i.high = fmin(i.high, MOST);
    return i;
}
