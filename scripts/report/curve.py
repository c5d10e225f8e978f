"""The distribution of latencies as a curve: what the percentile chart draws."""

import numpy as np
from hdrh.histogram import HdrHistogram

#: In percent, ascending; closer together where the tail is.
CURVE = (
    *(10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 96.5),
    *(97.5, 98.0, 98.5, 99.0, 99.25, 99.5, 99.7, 99.8, 99.85, 99.9),
)


def curve_ms(histogram: HdrHistogram | None) -> tuple[float, ...]:
    """Latencies in ms at the percentiles of `CURVE`, of a histogram in µs.

    By nearest rank, as `stats.percentiles_ms` has them, so that both agree on a percentile that both name.

    Returns:
        Nothing without values.
    """
    if histogram is None or histogram.get_total_count() == 0:
        return ()
    counts = np.ctypeslib.as_array(histogram.counts)
    reached = np.cumsum(counts[: histogram.counts_len])
    exact = np.array(CURVE) / 100 * int(reached[-1])
    ranks = np.maximum(1, np.ceil(exact - np.spacing(exact)))
    indices = np.searchsorted(reached, ranks)
    return tuple(
        histogram.get_highest_equivalent_value(histogram.get_value_from_index(int(index))) / 1000
        for index in indices
    )
