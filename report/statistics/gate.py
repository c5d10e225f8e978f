"""What a gate says of a change: it passes, it fails, or it is not decided. The command `compare`,
adaptive campaigns and the action for pull requests all ask this file."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from report.statistics.comparison import ONE_LOOK, Comparison, Level
from report.statistics.decision import compare_samples, p_of_bounds
from report.statistics.samples import Sample

Verdict = Literal["passes", "fails", "not decided"]

PromiseChangeKind = Literal["broke", "not checked", "was broken before", "holds now"]
"""What became of a promise: only the head breaks it, only the head could not be checked, both sides
break it, or only the base breaks it."""


class GatedSample(Struct, frozen=True):
    """The runs of one figure that a gate judges."""

    sample: Sample
    higher_is_better: bool


class GatedFigure(Struct, frozen=True):
    """What a gate knows of one figure."""

    comparison: Comparison
    bounded: bool
    """Whether the head was shown to be worse by less than what is tolerated, if at all."""


def gated_figures(
    samples: Sequence[GatedSample], margin: float, tolerated: float, level: Level = ONE_LOOK
) -> tuple[GatedFigure, ...]:
    """Compares all figures of a gate as one family.

    A figure is bounded if the interval of its ratio ends before the tolerated loss, and the exact
    one-sided test of that rejects at the level of the family after Holm's correction. It is better
    or worse by the rule of `compare_samples`. `margin` and `tolerated` are shares of 1."""
    comparisons = compare_samples(
        [gated.sample for gated in samples],
        margin,
        [gated.higher_is_better for gated in samples],
        level,
    )
    worst_ratios = [1 - tolerated if gated.higher_is_better else 1 + tolerated for gated in samples]
    tested = [index for index, comparison in enumerate(comparisons) if comparison.p is not None]
    p_values = dict(
        zip(
            tested,
            p_of_bounds(
                [samples[index].sample for index in tested],
                [worst_ratios[index] for index in tested],
                family=len(samples),
                level=level,
            ),
            strict=True,
        )
    )
    return tuple(
        GatedFigure(
            comparison,
            _ends_before(comparison, worst_ratio) and p_values.get(index, 1.0) <= level.test,
        )
        for index, (comparison, worst_ratio) in enumerate(
            zip(comparisons, worst_ratios, strict=True)
        )
    )


def _ends_before(comparison: Comparison, worst_ratio: float) -> bool:
    interval = comparison.interval
    if interval is None:
        return False
    if comparison.higher_is_better:
        return interval.low > worst_ratio
    return interval.high < worst_ratio


def verdict_of(
    figures: Sequence[GatedFigure], promises: Sequence[PromiseChangeKind] = ()
) -> Verdict:
    """The verdict, by the first of these that holds:

    1. It fails if the head breaks a promise that the base keeps.
    2. It is not decided if a promise that the base keeps could not be checked, and nothing fails.
    3. It passes if each figure is bounded: no loss reaches what is tolerated. A smaller one, though
       shown, does not fail it.
    4. It fails if a figure was shown to be worse by more than the margin.
    5. Otherwise it is not decided."""
    if "broke" in promises:
        return "fails"

    is_bounded = bool(figures) and all(figure.bounded for figure in figures)
    is_worse = any(figure.comparison.status == "worse" for figure in figures)
    if is_worse and not is_bounded:
        return "fails"
    return "passes" if is_bounded and "not checked" not in promises else "not decided"
