"""Warnings about a configuration: what a median and an interval would hide."""

import math
from collections.abc import Sequence

from report.analysis.layer_text import layer_text
from report.base.format import percent, rate
from report.results.model import Run
from report.statistics.instability import MAX_CV_PERCENT, Ramp, trend, two_levels, warm_up_ramp
from report.statistics.runs import spread


def _ramp_text(ramp: Ramp) -> str:
    pace = "slower" if ramp.change < 0 else "faster"
    more = " or longer" if ramp.to_the_middle else ""
    return (
        f"The first {ramp.seconds:.2g} s{more} of the window are {percent(100 * abs(ramp.change))} {pace} "
        f"than the rest: the warm-up is too short (--warmup auto, or {math.ceil(ramp.seconds)} s more)."
    )


def warnings_of(runs: Sequence[Run]) -> tuple[str, ...]:
    counted = [run for run in runs if run.eligible and run.measured is not None]
    ordered = sorted(counted, key=lambda run: (run.record.started_at, run.run))
    values = [run.measured.requests_per_second for run in ordered if run.measured]
    texts: list[str] = []
    found = spread(values)
    unit = layer_text(counted[0].identity.layer).rate_unit if counted else ""
    if found and found.count >= 3 and found.cv_percent is not None and found.cv_percent > MAX_CV_PERCENT:
        texts.append(
            f"Runs lie far apart: CV {percent(found.cv_percent)}, "
            f"from {rate(found.min)} to {rate(found.max)} {unit}."
        )
    drift = trend(values)
    if drift:
        texts.append(
            f"Runs drift: {100 * drift.change:+.1f} % from the first to the last in time (p = {drift.p:.2g})."
        )
    levels = two_levels(values)
    if levels:
        texts.append(
            f"Runs have two levels: {levels.low_runs} near {rate(levels.low)} and {levels.high_runs} near "
            f"{rate(levels.high)} {unit}. A median is of one of them."
        )
    closed = [run.measured for run in ordered if run.measured and not run.identity.open_loop]
    ramp = warm_up_ramp([figures.answers_each_slice for figures in closed])
    if ramp:
        texts.append(_ramp_text(ramp))
    return tuple(texts)
