#!/usr/bin/env python3
"""What the report's rules find in campaigns whose truth is known, for `npm run bench:differences`.

    found_differences.py equal CAMPAIGN      rows that are all the same: how many are told apart
    found_differences.py planted CAMPAIGN    one row with more work: the rounds that find it

`planted` holds pairs of one round beside two independent sides of runs, on the same runs. Both exit
with 1 where the result is not what the rules ask: more than 5 % of equal rows told apart, or a
planted row not found.
"""

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from report.analysis.campaign_analysis import analyse  # noqa: E402
from report.analysis.figures import throughput  # noqa: E402
from report.analysis.rankings import Ranking  # noqa: E402
from report.analysis.row_pairs import sample_between  # noqa: E402
from report.analysis.summary import Summary  # noqa: E402
from report.results.load import load_campaign  # noqa: E402
from report.statistics.comparison import DEFAULT_MARGIN, Comparison  # noqa: E402
from report.statistics.decision import compare_samples  # noqa: E402
from report.statistics.power import (  # noqa: E402
    PAIRED,
    UNPAIRED,
    log_deviation,
    log_deviation_of_pairs,
    runs_needed,
)
from report.statistics.ratio import RatioInterval  # noqa: E402
from report.statistics.samples import MIN_ROUNDS_TO_PAIR, Side, sample_of, upto  # noqa: E402

#: Of equal rows, told apart at most.
MAX_FLAGGED = 0.05


def _text(comparison: Comparison) -> str:
    interval = comparison.interval
    if comparison.ratio is None or interval is None:
        return comparison.status
    return (
        f"{comparison.status}, {comparison.ratio:.3f} ({interval.low:.3f} to {interval.high:.3f})"
    )


def _excludes_one(interval: RatioInterval | None) -> bool:
    return interval is not None and not interval.low <= 1 <= interval.high


def equal(folder: Path) -> int:
    rankings = _rankings(folder)
    pairs = [pair for ranking in rankings for pair in ranking.order]
    alone = [
        compare_samples([sample_between(pair.new, pair.base, throughput)])[0] for pair in pairs
    ]
    flagged = sum(comparison.shown for comparison in alone)
    flagged_as_family = sum(pair.comparison.shown for pair in pairs)
    without_one = sum(_excludes_one(comparison.interval) for comparison in alone)
    print(f"{len(pairs)} comparisons of equal rows, each with each:")
    print(f"told apart {flagged}, each by itself, and {flagged_as_family} as one family")
    print(f"intervals without 1: {without_one}")
    return 0 if pairs and flagged <= MAX_FLAGGED * len(pairs) else 1


def planted(folder: Path) -> int:
    (ranking,) = _rankings(folder)
    (pair,) = ranking.ranked_by
    (cpu,) = ranking.cpu_pairs
    print(f"CPU per request of the server: {_text(cpu.comparison)}")
    rows = (pair.new, pair.base)
    rounds = min(row.planned_rounds for row in rows)
    finished: dict[bool, int | None] = {}
    new, base = (row.side(throughput) for row in rows)
    round_s = _round_s(rows, rounds)
    for paired in (True, False):
        comparisons = {
            n: _compared(new, base, n, paired) for n in range(MIN_ROUNDS_TO_PAIR, rounds + 1)
        }
        # From here on every larger number of rounds finds it, too.
        late = [n for n, comparison in comparisons.items() if not comparison.shown]
        first = max(late, default=MIN_ROUNDS_TO_PAIR - 1) + 1
        finished[paired] = first if first <= rounds else None
        after = "not found" if first > rounds else f"found from {first} rounds on"
        kind = "pairs" if paired else "unpaired"
        print(f"{kind}: {_text(comparisons[rounds])} after {rounds} rounds; {after}")
        print(f"  {_outlook(new, base, rounds, paired, round_s)}")
    return 0 if finished[True] else 1


def _outlook(new: Side, base: Side, rounds: int, paired: bool, round_s: float) -> str:
    """What 5 % would take with the deviation of these runs."""
    sample = sample_of(upto(new, rounds), upto(base, rounds), rounds)
    deviation = (
        log_deviation_of_pairs(sample.pairs) if paired else log_deviation(sample.new, sample.base)
    )
    needed = runs_needed(
        0.95, deviation or 0, DEFAULT_MARGIN, method=PAIRED if paired else UNPAIRED
    )
    if deviation is None or needed is None:
        return "5 % would take more than 1000 rounds"
    minutes = needed * round_s / 60
    return f"deviation {100 * deviation:.1f} %: 5 % would take about {needed} rounds, {minutes:.0f} min"


def _round_s(rows: Sequence[Summary], rounds: int) -> float:
    """Seconds from the start of the first run to the end of the last, by rounds."""
    runs = [run for row in rows for run in row.runs]
    first = min(run.record.started_at for run in runs)
    last = max(run.record.finished_at for run in runs)
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() / rounds


def _compared(new: Side, base: Side, rounds: int, paired: bool) -> Comparison:
    sample = sample_of(upto(new, rounds), upto(base, rounds), rounds if paired else 0)
    (comparison,) = compare_samples([sample])
    return comparison


def _rankings(folder: Path) -> tuple[Ranking, ...]:
    analysis = analyse(load_campaign(folder, series=False))
    return tuple(
        ranking for cell in analysis.cells for ranking in cell.rankings if ranking.ranked_by
    )


def main(words: list[str]) -> int:
    kinds = {"equal": equal, "planted": planted}
    if len(words) != 2 or words[0] not in kinds:
        print(__doc__, file=sys.stderr)
        return 2
    return kinds[words[0]](Path(words[1]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
