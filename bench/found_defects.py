#!/usr/bin/env python3
"""What campaigns find of planted defects, for `npm run bench:planted`.

    found_defects.py LEAD-IN,SLICE CAMPAIGN…

Prints a line for each campaign and a line with the counts. Exits with 1 where more than one
campaign in ten misses a defect, or more than one copy in 20 is told apart or not settled.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from msgspec import Struct  # noqa: E402

from report.analysis.campaign_analysis import analyse  # noqa: E402
from report.analysis.figures import throughput  # noqa: E402
from report.analysis.rankings import Ranking  # noqa: E402
from report.analysis.settled import HALVES, START  # noqa: E402
from report.analysis.summary import Summary  # noqa: E402
from report.analysis.texts import interval_of  # noqa: E402
from report.results.load import load_campaign  # noqa: E402

#: The campaigns that may miss a defect, and the copies with a finding, as shares.
_MAY_MISS = 0.1
_MAY_BE_FOUND = 0.05

#: The slowness after idling, in milliseconds. A longer lead-in hides it.
_SLOW_MS = 50

_CONNECTIONS = "connections under load, about one for each of"


def _unsettled(ranking: Ranking, row: Summary, checks: Sequence[str] = (START, HALVES)) -> bool:
    """Whether one of these checks says that the throughput is not settled."""
    settling = ranking.settling_of(row, throughput)
    return settling is not None and any(
        result.check.name in checks for result in settling.unsettled
    )


def _unsettled_at_start(ranking: Ranking, row: Summary) -> bool:
    return _unsettled(ranking, row, (START,))


def _differs_from_reference(ranking: Ranking, row: Summary) -> bool:
    comparison = ranking.versus_base(row)
    return _unsettled(ranking, row) or (comparison is not None and comparison.direction is not None)


def _changed_level(ranking: Ranking, row: Summary) -> bool:
    """Whether the report names a change of level of the row, or ratios that differ by halves."""
    (pair,) = (pair for pair in ranking.ranked_by if pair.new is row)
    return pair.level_change is not None or _unsettled(ranking, row, (HALVES,))


def _named_connections(_: Ranking, row: Summary) -> bool:
    measured = [run.record for run in row.runs if run.measured]
    return bool(measured) and all(
        any(_CONNECTIONS in note for note in record.notes) for record in measured
    )


class Expected(Struct, frozen=True):
    """A defect, and whether a campaign shows it."""

    is_shown: Callable[[Ranking, Summary], bool]
    wanted: bool = True
    """Whether campaigns must show it. Otherwise the target must look like a copy."""


def _expected(lead_in_ms: float) -> Mapping[str, Expected]:
    hidden = lead_in_ms >= _SLOW_MS
    return {
        "after-idling": Expected(_differs_from_reference, wanted=False)
        if hidden
        else Expected(_unsettled_at_start),
        "half-way": Expected(_changed_level),
        "new-connection": Expected(_named_connections),
    }


class Findings(Struct):
    """What campaigns say of their defects and of their copies."""

    shown: dict[str, list[bool]]
    """Of each campaign with a defect: whether it shows it."""
    copies_told_apart: list[bool]
    copies_unsettled: list[bool]

    def failures(self, expected: Mapping[str, Expected]) -> list[str]:
        texts = []
        for defect, shown in self.shown.items():
            count = shown.count(expected[defect].wanted)
            if count < (1 - _MAY_MISS) * len(shown):
                texts.append(f"{defect}: {count} of {len(shown)} as wanted")
        copies = {"told apart": self.copies_told_apart, "not settled": self.copies_unsettled}
        for word, findings_of_copies in copies.items():
            if sum(findings_of_copies) > max(1, _MAY_BE_FOUND * len(findings_of_copies)):
                texts.append(
                    f"copies {word}: {sum(findings_of_copies)} of {len(findings_of_copies)}"
                )
        return texts


def _defective(ranking: Ranking, expected: Mapping[str, Expected]) -> tuple[str, Summary]:
    """The defect of a campaign, and the row that has it."""
    ((defect, row),) = (
        (defect, row)
        for row in ranking.summaries
        for defect in expected
        if defect in row.identity.options
    )
    return defect, row


def _add(findings: Findings, folder: Path, expected: Mapping[str, Expected]) -> None:
    analysis = analyse(load_campaign(folder, series=False))
    (ranking,) = (ranking for cell in analysis.cells for ranking in cell.rankings)
    resolution = ranking.resolution
    if resolution is None:
        raise SystemExit(f"{folder} has no copy of its reference")

    defect, row = _defective(ranking, expected)
    is_shown = expected[defect].is_shown(ranking, row)
    copy_unsettled = _unsettled(ranking, resolution.copy)
    findings.shown.setdefault(defect, []).append(is_shown)
    findings.copies_told_apart.append(resolution.told_apart)
    findings.copies_unsettled.append(copy_unsettled)

    comparison = ranking.versus_base(row)
    ratio = interval_of(comparison) if comparison else ""
    copy_text = f"copy {interval_of(resolution.comparison)}"
    print(
        f"{defect} {ratio}, {'shown' if is_shown else 'not shown'}; "
        f"{copy_text}{', not settled' if copy_unsettled else ''}"
    )


def main(words: Sequence[str]) -> int:
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    turn, *folders = words
    expected = _expected(float(turn.partition(",")[0]))
    findings = Findings({}, [], [])
    print(f"turns of {turn} ms:")
    for folder in folders:
        _add(findings, Path(folder), expected)
    counts = [f"{defect} {sum(shown)} of {len(shown)}" for defect, shown in findings.shown.items()]
    print(
        f"shown: {', '.join(counts)}; of {len(folders)} copies "
        f"{sum(findings.copies_told_apart)} told apart, "
        f"{sum(findings.copies_unsettled)} not settled"
    )
    failures = findings.failures(expected)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
