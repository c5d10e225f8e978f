"""Compares two sides: refuses what is not comparable, and concludes from the rest."""

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from report.analysis.figures import throughput
from report.analysis.gate import Gate, gate_of
from report.base.errors import USAGE, ReportError
from report.compare import comparability
from report.compare.comparison_metrics import Metric
from report.compare.comparison_notes import comparison_notes
from report.compare.matched_rows import MatchedRows, RowComparison, match_rows
from report.compare.promise_changes import PromiseChange, promise_changes
from report.compare.selection import Selection
from report.compare.stopped_rounds import level_shift
from report.results.generated.records import Audit
from report.statistics.comparison import Comparison
from report.statistics.decision import compare_samples
from report.statistics.median_unbiased import corrected_for_looks


class Outcome(Struct, frozen=True, kw_only=True):
    """What the comparison of two sides shows."""

    base: Selection
    new: Selection
    metric: Metric
    margin: float
    """The difference that is too small to count, as a share of 1."""
    row_comparisons: tuple[RowComparison, ...]
    notes: tuple[str, ...]
    gate: Gate | None = None
    """What passes and what fails, if the user named the loss that is tolerated."""
    promises: tuple[PromiseChange, ...] = ()
    """The promises that an audit of both sides tells apart, or finds broken in both."""

    @property
    def verdict(self) -> str:
        """That of the gate, if there is one. Otherwise it is `regression` if some row is worse
        beyond the margin, `no regression` if each is better or differs by no more than the margin,
        else `not decided`.

        Only rows that can conclude something count."""
        if self.gate:
            return self.gate.verdict([change.kind for change in self.promises])
        comparisons = [
            row_comparison.comparison
            for row_comparison in self.row_comparisons
            if row_comparison.matched.concludes
        ]
        if any(comparison.status == "worse" for comparison in comparisons):
            return "regression"
        are_harmless = all(
            comparison.direction == "better" or comparison.status == "no difference"
            for comparison in comparisons
        )
        return "no regression" if comparisons and are_harmless else "not decided"


def _concluded(matched: MatchedRows, comparison: Comparison, margin: float) -> Comparison:
    """The comparison, with an estimate that knows of looks, and without a conclusion if there is a
    reason against one."""
    if matched.reason:
        if comparison.status == "not comparable":
            return comparison
        # Only the ratio and its interval remain, because no number of runs makes them a second
        # conclusion.
        no_conclusion = dict.fromkeys(("p", "p_holm", "runs_needed", "detectable"))
        return replace(
            comparison, status="not decided", reason=matched.reason, blocked=True, **no_conclusion
        )
    stop = matched.stop
    if not stop or matched.metric.read is not throughput:
        return comparison
    if matched.references is None:
        levels = matched.base.look_schedule.levels if matched.base.look_schedule else ()
        looks = [look for look in levels if stop.rounds is None or look[0] <= stop.rounds]
        return corrected_for_looks(comparison, matched.sample, looks, margin)
    sides = zip(
        matched.rows, matched.references, (matched.base_side, matched.new_side), strict=True
    )
    base_shift, new_shift = (
        level_shift(*side)
        if side[0].look_schedule and stop.rounds in (None, side[0].last_round)
        else 0.0
        for side in sides
    )
    if comparison.ratio is None or comparison.interval is None or new_shift == base_shift:
        return comparison
    ratio = min(
        max(comparison.ratio * math.exp(base_shift - new_shift), comparison.interval.low),
        comparison.interval.high,
    )
    return replace(comparison, ratio=ratio, stopped_at=comparison.ratio)


def _comparisons(
    pairs: Sequence[MatchedRows], metric: Metric, margin: float
) -> dict[MatchedRows, Comparison]:
    """The comparison of each pair. Those that cannot conclude are a family of their own, so that
    they do not make that of the others larger."""
    comparison_by_rows: dict[MatchedRows, Comparison] = {}
    for concluding in (True, False):
        family = [pair for pair in pairs if concluding is not bool(pair.reason)]
        comparisons = compare_samples(
            [pair.sample for pair in family], margin, metric.read.higher_is_better
        )
        for pair, comparison in zip(family, comparisons, strict=True):
            comparison_by_rows[pair] = _concluded(pair, comparison, margin)
    return comparison_by_rows


def _refuse(differences: Sequence[comparability.Difference], allowed: frozenset[str]) -> None:
    """Raises ReportError for differences that `--allow` does not permit."""
    refused = list(
        dict.fromkeys(
            difference for difference in differences if not allowed.issuperset(difference.kinds)
        )
    )
    if refused:
        kinds = ",".join(sorted(allowed.union(*(difference.kinds for difference in refused))))
        texts = "; ".join(difference.text for difference in refused)
        raise ReportError(
            f"not comparable: {texts}. To compare them all the same: --allow {kinds}", USAGE
        )


def _differs(
    matched: MatchedRows, differences: Sequence[comparability.Difference]
) -> tuple[str, ...]:
    """See `RowComparison.differs`."""
    texts = [difference.text for difference in differences]
    if not any("script" in difference.kinds for difference in differences):
        texts += filter(None, [comparability.script_note(*matched.rows, matched.names)])
    if texts and matched.base.identity.label != matched.new.identity.label:
        texts[-1] += f": the comparison is of {comparability.together_text(matched.parts)}"
    return tuple(texts)


def compare_sides(
    base: Selection, new: Selection, metric: Metric, margin: float, allowed: frozenset[str]
) -> Outcome:
    """Compares what two sides have in common.

    All comparisons that can conclude something form one family of Holm's correction, because there
    is one exit code. Within one campaign, rows are compared as in its report. Across campaigns they
    are compared through their common reference (rule M22). If the influence of the host does not
    cancel, nothing is decided."""
    pairs, unmatched = match_rows(base, new, metric)
    across = base.folder != new.folder
    rows = [pair.rows for pair in pairs]
    campaign_differences = (
        comparability.campaign_differences(base.campaign, new.campaign, rows) if across else []
    )
    row_differences = comparability.row_differences(rows, [pair.names for pair in pairs])
    _refuse(
        [
            *campaign_differences,
            *(difference for differences in row_differences for difference in differences),
        ],
        allowed,
    )
    comparison_by_rows = _comparisons(pairs, metric, margin)
    row_comparisons = tuple(
        RowComparison(pair, comparison_by_rows[pair], _differs(pair, differences))
        for pair, differences in zip(pairs, row_differences, strict=True)
    )
    notes = dict.fromkeys(
        [
            *(difference.text for difference in campaign_differences),
            *comparison_notes(base, new, row_comparisons),
            *unmatched,
        ]
    )
    return Outcome(
        base=base,
        new=new,
        metric=metric,
        margin=margin,
        row_comparisons=row_comparisons,
        notes=tuple(notes),
    )


def with_gate(outcome: Outcome, tolerated: float, audit: Audit | None) -> Outcome:
    """The comparison of two targets of one campaign with the verdict of a gate.

    Raises ReportError where the runs of the two sides were not made next to each other."""
    if outcome.base.folder != outcome.new.folder or not (outcome.base.label and outcome.new.label):
        raise ReportError("--tolerate: give two targets of one campaign", USAGE)
    pairs = [row_comparison.matched for row_comparison in outcome.row_comparisons]
    if reason := next((pair.nothing_cancels for pair in pairs if pair.nothing_cancels), ""):
        raise ReportError(f"--tolerate: {reason}: run with --order turns or interleaved", USAGE)
    changes = promise_changes(audit, outcome.base.label, outcome.new.label) if audit else ()
    return replace(
        outcome,
        gate=gate_of([pair.rows for pair in pairs], tolerated, outcome.margin),
        promises=changes,
    )
