#!/usr/bin/env python3
"""Adaptive runs held against a fixed number on recorded campaigns: `npm run bench:adaptive`

Every pair of the record (bench/adaptive-recorded.json, which says how it was made) is decided from the
same runs: by the rule of fixed runs with all of them, 20 a side, unpaired; and by the looks of `--runs auto`,
which see no run that they did not ask for, once unpaired and once by pairs of one round from ten rounds on.
A conclusion counts as reached when looks and fixed runs say the same; where the fixed runs were inconclusive,
any is. Exits with 1 when one was missed by pairs, or when they took more than 47 % of the fixed runs, which
is what unpaired looks took before there were pairs.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from report.statistics.decision import Comparison, compare_samples  # noqa: E402
from report.statistics.samples import Side, sample_of, upto  # noqa: E402
from report.statistics.sequential import LookSchedule, compare_in_looks  # noqa: E402

RECORD = Path(__file__).with_name("adaptive-recorded.json")
#: As `--runs auto` has them by default; a record of fewer runs ends with those that it has.
DEFAULT_LOOKS = (5, 7, 10, 14, 20)
#: Of the fixed runs, by pairs.
MOST_RUNS = 378 / 800


def _interval(found: Comparison) -> str:
    if found.interval is None or found.ratio is None:
        return ""
    return f"{found.ratio:.3f}, {found.interval.low:.3f}–{found.interval.high:.3f}"


def _side(campaign: dict[str, Any], label: str) -> Side:
    return {(run["run"], 1): run["requests_per_second"] for run in campaign["runs"][label]}


def _looks(most: int) -> LookSchedule:
    return LookSchedule(looks=(*(look for look in DEFAULT_LOOKS if look * 1.15 < most), most))


def main() -> int:
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    for name, campaign in record["campaigns"].items():
        print(f"{name}: {campaign['note']}")
    print()
    print(f"{'kind':12} {'pair':46} {'fixed runs':42} {'looks':42} runs {'by pairs':42} runs")
    used: dict[bool, defaultdict[str, int]] = {False: defaultdict(int), True: defaultdict(int)}
    fixed_runs: defaultdict[str, int] = defaultdict(int)
    missed = {False: 0, True: 0}
    for pair in record["pairs"]:
        campaign = record["campaigns"][pair["campaign"]]
        sides = [_side(campaign, pair[side]) for side in ("base", "new")]
        most = min(DEFAULT_LOOKS[-1], *(max(side)[0] for side in sides))
        (fixed,) = compare_samples([sample_of(*(upto(side, most) for side in reversed(sides)))])
        fixed_runs[pair["kind"]] += 2 * most
        cells = [f"{fixed.status} ({_interval(fixed)})"]
        for in_blocks in (False, True):
            family = compare_in_looks(sides, _looks(most), most, reference=0, in_blocks=in_blocks)
            (found,) = family.comparisons
            runs = sum(stop[0] for stop in family.stops if stop)
            reached = found.status == fixed.status or not fixed.decided
            missed[in_blocks] += not reached
            used[in_blocks][pair["kind"]] += runs
            cells += [f"{found.status} ({_interval(found)})", f"{runs:3d}{'' if reached else '!'}"]
        name = f"{pair['campaign']}: {pair['new']} ÷ {pair['base']}"
        print(
            f"{pair['kind']:12} {name:46} {cells[0]:42} {cells[1]:42} {cells[2]:4} {cells[3]:42} {cells[4]}"
        )
    print()
    pairs = len(record["pairs"])
    every = sum(fixed_runs.values())
    shares = {}
    for in_blocks, name in ((False, "unpaired"), (True, "by pairs")):
        for kind, made in used[in_blocks].items():
            print(f"{name} {kind:12}: {made} of {fixed_runs[kind]} runs, {made / fixed_runs[kind]:.0%}")
        made = sum(used[in_blocks].values())
        shares[in_blocks] = made / every
        print(
            f"{name} all: {made} of {every} runs, {made / every:.0%}; conclusions of fixed runs reached: "
            f"{pairs - missed[in_blocks]} of {pairs}"
        )
    met = missed[True] == 0 and shares[True] <= MOST_RUNS
    verdict = "met" if met else "missed"
    print(f"target (all reached by pairs, with {MOST_RUNS:.0%} of the runs at most): {verdict}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
