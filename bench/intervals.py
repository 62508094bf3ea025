# SPDX-License-Identifier: Apache-2.0
"""intervals.py: how sure a difference of two ways is, from the images that it was measured on.

95 % intervals are those of the bootstrap (Efron & Tibshirani 1993, percentiles): images are drawn anew, with replacement, as
many as there are, RESAMPLES times, always by the same seed. Of what is counted the sums over the drawn images are compared, as
the table does, so that an image with many faces counts as often as it has faces.
"""
import numpy as np

RESAMPLES, SEED = 2000, 30
ENOUGH = 3  # points that a sample must be able to tell
# Of n things of which none changed up to 3 / n may (95 %), and resampling does not see that: fewer cannot tell ENOUGH points.
FEWEST = round(100 * 3 / ENOUGH)


class Difference:
    """What one way has above another: the mean, its interval, how many things or images it is of, the image with the least."""

    def __init__(self, mean, low, high, count, worst, least):
        self.mean, self.low, self.high, self.count, self.worst, self.least = mean, low, high, count, worst, least
        self.graded = False  # what is counted is not whole things, but what there is of each

    def too_few(self):
        """Of what is counted: whether nobody can tell from it if a way is ENOUGH points worse."""
        return self.low <= -ENOUGH < self.high or (self.count < FEWEST and not self.graded)


def resampled(statistic, columns, seed=SEED):
    """The 2.5th and 97.5th percentile of a statistic of columns [image]."""
    images = len(columns[0])
    drawn = np.random.default_rng(seed).integers(0, images, (RESAMPLES, images))
    with np.errstate(invalid="ignore", divide="ignore"):
        values = statistic(*(np.asarray(column, float)[drawn] for column in columns))
    return np.nanpercentile(values, [2.5, 97.5])


def of_means(mine, other, less=False):
    """Of {image: figure}: the mean of the margins. `less`: the worst is the image with the largest."""
    names = sorted(set(mine) & set(other))
    margins = np.array([mine[name] - other[name] for name in names])
    low, high = resampled(lambda drawn: drawn.mean(1), [margins])
    worst = margins.argmax() if less else margins.argmin()
    return Difference(margins.mean(), low, high, len(names), names[worst], margins[worst])


def of_counts(mine, other):
    """Of {image: (found, of how many)}: the difference of the shares, in points."""
    names = sorted(set(mine) & set(other))
    columns = np.array([[*mine[name], *other[name]] for name in names], float).T
    share = lambda a, of_a, b, of_b: 100 * (a.sum(-1) / of_a.sum(-1) - b.sum(-1) / of_b.sum(-1))
    low, high = resampled(share, columns)
    least = 100 * (columns[0] / columns[1] - columns[2] / columns[3])
    worst = int(np.nanargmin(least))
    return Difference(float(share(*columns)), low, high, round(columns[3].sum()), names[worst], least[worst])


def line(difference, counted, digits):
    """As text, for a table."""
    text = f"{difference.mean:+.{digits}f} [{difference.low:+.{digits}f}, {difference.high:+.{digits}f}]"
    return text + (" few" if counted and difference.too_few() else "")
