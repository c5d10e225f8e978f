"""Warns of properties of a row's runs that a median and an interval would hide."""

import math
from collections.abc import Iterator, Sequence

from report.analysis.texts import layer_text
from report.base.format import percent, rate
from report.results import model
from report.statistics.instability import MAX_CV_PERCENT, Ramp, trend, two_levels, warm_up_ramp
from report.statistics.run_samples import spread


def _ramp_text(ramp: Ramp) -> str:
    pace = "slower" if ramp.change < 0 else "faster"
    or_longer = " or longer" if ramp.to_the_middle else ""
    change = percent(100 * abs(ramp.change))
    return (
        f"The warm-up is too short: the first {ramp.seconds:.2g} s{or_longer} of the window are {change} "
        f"{pace} than the rest (--warmup auto, or {math.ceil(ramp.seconds)} s more)."
    )


def warnings_of(runs: Sequence[model.Run]) -> Iterator[str]:
    """A sentence for each property of the runs that a median and an interval would hide."""
    counted = [run for run in runs if run.eligible and run.measured is not None]
    ordered = sorted(counted, key=lambda run: (run.record.started_at, run.run))
    values = [run.measured.requests_per_second for run in ordered if run.measured]
    unit = layer_text(counted[0].identity.layer).rate_unit if counted else ""

    distribution = spread(values)
    if (
        distribution
        and distribution.count >= 3
        and distribution.cv_percent is not None
        and distribution.cv_percent > MAX_CV_PERCENT
    ):
        yield (
            f"Runs lie far apart: CV {percent(distribution.cv_percent)}, "
            f"from {rate(distribution.min)} to {rate(distribution.max)} {unit}."
        )

    if drift := trend(values):
        share = f"{100 * drift.change:+.1f} %"
        yield f"Runs drift: {share} from the first to the last in time (p = {drift.p:.2g})."

    if levels := two_levels(values):
        yield (
            f"Runs have two levels: {levels.low_runs} near {rate(levels.low)} and {levels.high_runs} near "
            f"{rate(levels.high)} {unit}. A median is of one of them."
        )

    closed_loops = [run.measured for run in ordered if run.measured and not run.identity.open_loop]
    if ramp := warm_up_ramp([figures.answers_each_slice for figures in closed_loops]):
        yield _ramp_text(ramp)
