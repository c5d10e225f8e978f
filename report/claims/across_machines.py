"""What several machines say about the ratio on another one (rule M32)."""

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from report.statistics.rank_test import student_quantile
from report.statistics.ratio import ALPHA

#: From this number of machines on, an interval for another machine means something.
MIN_MACHINES_TO_PREDICT = 5


class AcrossMachines(Struct, frozen=True):
    """The ratios of several machines. A statement holds on these machines, and a prediction on
    another one of their kind."""

    machines: int
    low: float
    high: float
    predicted: bool
    """Whether the ends are those of an interval for one more machine. Otherwise they are the lowest
    and the highest ratio."""


def across_machines(ratios: Mapping[str, Sequence[float]]) -> AcrossMachines | None:
    """The range of the ratios, or from five machines on the prediction interval at 95 %.

    `ratios` has those of the attempts on each machine, of which the geometric mean counts. The
    prediction takes the logarithms as a normal sample of machines: mean ± t · s · sqrt(1 + 1/n)
    (Hahn and Meeker, Statistical Intervals, 1991, section 4.7). None without a ratio, or if one is
    not positive."""
    usable = {machine: values for machine, values in ratios.items() if values}
    every = [value for values in usable.values() for value in values]
    if not every or min(every) <= 0 or not all(map(math.isfinite, every)):
        return None
    if len(usable) < MIN_MACHINES_TO_PREDICT:
        return AcrossMachines(len(usable), min(every), max(every), predicted=False)

    logs = [sum(map(math.log, values)) / len(values) for values in usable.values()]
    number = len(logs)
    mean = sum(logs) / number
    deviation = math.sqrt(sum((value - mean) ** 2 for value in logs) / (number - 1))
    width = student_quantile(number - 1, 1 - ALPHA / 2) * deviation * math.sqrt(1 + 1 / number)
    return AcrossMachines(number, math.exp(mean - width), math.exp(mean + width), predicted=True)
