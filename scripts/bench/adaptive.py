#!/usr/bin/env python3
"""Adaptive runs held against a fixed number on recorded campaigns: `npm run bench:adaptive`

Every pair of the record (scripts/bench/adaptive-recorded.json, which says how it was made) is decided twice
from the same runs: by the rule of fixed runs with all 20 a side, and by the looks of `--runs auto`, which see
no run that they did not ask for. A conclusion counts as reached when both say the same; `inconclusive` counts
as missed unless the fixed runs were inconclusive, too. Exits with 1 when one was missed, or when the adaptive
runs took more than half of the fixed ones.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "scripts")]

from report.stats import Comparison, Schedule, compare_runs, family_in_looks  # noqa: E402

RECORD = Path(__file__).with_name("adaptive-recorded.json")
LOOKS = Schedule(looks=(5, 7, 10, 14, 20))
MOST = LOOKS.looks[-1]


def _interval(found: Comparison) -> str:
    if found.interval is None or found.ratio is None:
        return ""
    return f"{found.ratio:.3f}, {found.interval.low:.3f}–{found.interval.high:.3f}"


def _side(campaign: dict[str, Any], label: str) -> list[float]:
    values: list[float] = [run["requests_per_second"] for run in campaign["runs"][label]][:MOST]
    return values


def main() -> int:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    print(f"{record['note']}\n")
    print(f"{'kind':12} {'pair':46} {'fixed, 20 runs a side':42} {'auto':42} runs")
    used: defaultdict[str, list[int]] = defaultdict(list)
    missed = 0
    for pair in record["pairs"]:
        campaign = record["campaigns"][pair["campaign"]]
        new, base = _side(campaign, pair["new"]), _side(campaign, pair["base"])
        fixed = compare_runs(new, base)
        sides = [dict(enumerate(side, start=1)) for side in (base, new)]
        family = family_in_looks(sides, LOOKS, MOST)
        auto = family.comparisons[0]
        runs = sum(stop[0] for stop in family.stops if stop)
        reached = auto.status == fixed.status
        missed += not reached
        used[pair["kind"]].append(runs)
        name = f"{pair['campaign']}: {pair['new']} ÷ {pair['base']}"
        told = [f"{each.status} ({_interval(each)})" for each in (fixed, auto)]
        mark = "" if reached else "  MISSED"
        print(f"{pair['kind']:12} {name:46} {told[0]:42} {told[1]:42} {runs:3d}{mark}")
    print()
    every = [runs for runs_of in used.values() for runs in runs_of]
    share = 0.0
    for kind, runs_of in [*used.items(), ("all", every)]:
        fixed_runs = 2 * MOST * len(runs_of)
        share = sum(runs_of) / fixed_runs
        print(f"{kind:12} {len(runs_of):2d} pairs: {sum(runs_of)} of {fixed_runs} runs, {share:.0%}")
    print(f"conclusions of fixed runs reached: {len(every) - missed} of {len(every)}")
    met = missed == 0 and share <= 0.5
    print(f"target (all reached, at most half the runs): {'met' if met else 'missed'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
