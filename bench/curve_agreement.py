"""Whether a load curve says the same of a rate as runs at that rate alone:

    .venv/bin/python bench/curve_agreement.py CURVE SINGLES

CURVE is the folder of a campaign with `--rates` (or `--load-curve`), SINGLES that of one with
`--rate`, of the same targets on the same machine. For each target it prints the CPU per request of
server, store and service in both, as medians, and the ratio of the runs alone to those of the curve
with its interval of 95 %. All ratios of a part are one family of the report's decision rule
(M17, unpaired). Ends with 1 when one of them is told apart, and with 2 when there is none to tell.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from report.analysis.frames import frames  # noqa: E402
from report.statistics.decision import compare_samples  # noqa: E402
from report.statistics.samples import Sample  # noqa: E402

PARTS = ("server", "store", "service")


def counted_runs(folder: str) -> pd.DataFrame:
    """The runs of a campaign that count."""
    runs = frames(folder).runs
    return runs[runs["verdict"].ne("invalid") & runs["outcome"].eq("served")]


def values_of(runs: pd.DataFrame, label: str, part: str) -> tuple[float, ...]:
    """µs of CPU per request, one of each run of a target. Empty where it has no such part."""
    values = runs.loc[runs["label"].eq(label), f"{part}_cpu_us_per_request"].dropna()
    return tuple(float(value) for value in values if value > 0)


def print_part(curve: pd.DataFrame, singles: pd.DataFrame, part: str) -> Sequence[str]:
    """Prints the table of a part. Returns the labels of the targets that are told apart."""
    labels = sorted(set(curve["label"]) & set(singles["label"]))
    samples = {
        label: Sample(new=values_of(singles, label, part), base=values_of(curve, label, part))
        for label in labels
    }
    samples = {label: sample for label, sample in samples.items() if sample.new and sample.base}
    told_apart = []
    comparisons = compare_samples(list(samples.values()), higher_is_better=False)
    for (label, sample), comparison in zip(samples.items(), comparisons, strict=True):
        interval = comparison.interval
        bounds = f"{interval.low:.3f} to {interval.high:.3f}" if interval else "no interval"
        print(
            f"{part:8} {label:24} alone {median(sample.new):7.1f} µs ({len(sample.new)} runs), "
            f"curve {median(sample.base):7.1f} µs ({len(sample.base)}), "
            f"ratio {comparison.ratio or 0:.3f} ({bounds}): {comparison.status}"
        )
        if "better" in comparison.status or "worse" in comparison.status:
            told_apart.append(f"{label} ({part})")
    return told_apart


def main(curve_folder: str, singles_folder: str) -> int:
    singles = counted_runs(singles_folder)
    curve = counted_runs(curve_folder)
    rates = set(singles["rate_per_second"].dropna())
    if len(rates) != 1:
        raise SystemExit(f"{singles_folder} has runs at {len(rates)} rates: give one with --rate")
    curve = curve[curve["rate_per_second"].isin(rates)]
    if not set(curve["label"]) & set(singles["label"]):
        print(f"{curve_folder} has no target of {singles_folder} at its rate", file=sys.stderr)
        return 2
    told_apart = [text for part in PARTS for text in print_part(curve, singles, part)]
    print(f"told apart: {', '.join(told_apart) or 'none'}")
    return 1 if told_apart else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit("give the folder of a load curve, and that of runs at one rate")
    raise SystemExit(main(*sys.argv[1:]))
