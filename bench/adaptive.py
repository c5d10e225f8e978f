#!/usr/bin/env python3
"""Adaptive runs held against a fixed number on recorded campaigns: `npm run bench:adaptive`

Every pair of the record (bench/adaptive-recorded.json, which says how it was made) is decided twice
from the same runs: by the rule of fixed runs with all of them, 20 a side, and by the looks of `--runs auto`,
which see no run that they did not ask for. A conclusion counts as reached when both say the same, so that
`inconclusive` counts as missed unless the fixed runs were inconclusive, too. Exits with 1 when one was
missed, or when the adaptive runs took more than half of the fixed ones.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from report.statistics.decision import Comparison, compare_runs  # noqa: E402
from report.statistics.sequential import LookSchedule, compare_in_looks  # noqa: E402

RECORD = Path(__file__).with_name("adaptive-recorded.json")
#: As `--runs auto` has them by default; a record of fewer runs ends with those that it has.
DEFAULT_LOOKS = (5, 7, 10, 14, 20)


def _interval(found: Comparison) -> str:
    if found.interval is None or found.ratio is None:
        return ""
    return f"{found.ratio:.3f}, {found.interval.low:.3f}–{found.interval.high:.3f}"


def _side(campaign: dict[str, Any], label: str) -> dict[int, float]:
    return {run["run"]: run["requests_per_second"] for run in campaign["runs"][label]}


def _looks(most: int) -> LookSchedule:
    return LookSchedule(looks=(*(look for look in DEFAULT_LOOKS if look * 1.15 < most), most))


def main() -> int:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    for name, campaign in record["campaigns"].items():
        print(f"{name}: {campaign['note']}")
    print()
    print(f"{'kind':12} {'pair':46} {'fixed runs':42} {'auto':42} runs")
    used: defaultdict[str, list[int]] = defaultdict(list)
    fixed_runs: defaultdict[str, list[int]] = defaultdict(list)
    missed = 0
    for pair in record["pairs"]:
        campaign = record["campaigns"][pair["campaign"]]
        sides = [_side(campaign, pair[side]) for side in ("base", "new")]
        most = min(DEFAULT_LOOKS[-1], *(max(side) for side in sides))
        base, new = ([value for run, value in side.items() if run <= most] for side in sides)
        fixed = compare_runs(new, base)
        family = compare_in_looks(sides, _looks(most), most)
        fixed_runs[pair["kind"]].append(2 * most)
        auto = family.comparisons[0]
        runs = sum(stop[0] for stop in family.stops if stop)
        reached = auto.status == fixed.status
        missed += not reached
        used[pair["kind"]].append(runs)
        name = f"{pair['campaign']}: {pair['new']} ÷ {pair['base']}"
        texts = [f"{each.status} ({_interval(each)})" for each in (fixed, auto)]
        mark = "" if reached else "  MISSED"
        print(f"{pair['kind']:12} {name:46} {texts[0]:42} {texts[1]:42} {runs:3d}{mark}")
    print()
    every = sum(len(runs) for runs in used.values())
    for kind, runs_of in used.items():
        made, of = sum(runs_of), sum(fixed_runs[kind])
        print(f"{kind:12} {len(runs_of):2d} pairs: {made} of {of} runs, {made / of:.0%}")
    made, of = (sum(map(sum, runs.values())) for runs in (used, fixed_runs))
    share = made / of
    print(f"{'all':12} {every:2d} pairs: {made} of {of} runs, {share:.0%}")
    print(f"conclusions of fixed runs reached: {every - missed} of {every}")
    met = missed == 0 and share <= 0.5
    print(f"target (all reached, at most half the runs): {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
