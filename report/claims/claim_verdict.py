"""The one verdict of a claim over its attempts."""

from collections.abc import Sequence

from report.claims.across_machines import AcrossMachines, across_machines
from report.claims.attempts import Attempt
from report.claims.compared_rows import Document
from report.claims.judgement import (
    ANSWERED,
    BETTER,
    CANNOT_BE_TOLD,
    CHANGED_LATER,
    CONFIRMED,
    EXPLAINED,
    NOT_COMPARABLE,
    NOT_COMPARABLE_MEMBER,
    REFUTED,
    TOLD,
    Verdict,
)

#: The verdicts that decide a claim whose comparisons differ, the first one that occurs. What is
#: refuted in one comparison is no longer confirmed as a whole.
_PRECEDENCE = (REFUTED, EXPLAINED, BETTER, CONFIRMED)


def as_published(claim: Document) -> list[int]:
    """The numbers of the comparisons that the publication made itself. The others are variations of
    ours."""
    return [
        number
        for number, expectation in enumerate(claim["expects"])
        if "other_conditions" not in expectation
    ]


def claim_verdict(claim: Document, attempts: Sequence[Attempt]) -> Verdict:
    """The verdict on a published statement.

    Only comparisons as published decide it, each by those of its attempts that stand and tell
    something. Where one has none, or two attempts contradict each other, it cannot be told."""
    if NOT_COMPARABLE_MEMBER in claim:
        return Verdict(NOT_COMPARABLE, claim[NOT_COMPARABLE_MEMBER])
    numbers = as_published(claim)
    if not numbers:
        return Verdict(CANNOT_BE_TOLD, "not measured as published")

    verdicts = [_of_comparison(number, attempts) for number in numbers]
    untold = [verdict for verdict in verdicts if verdict.word not in TOLD]
    refuted = [verdict for verdict in verdicts if verdict.word == REFUTED]
    if untold and not refuted:
        return untold[0]
    return min(
        (verdict for verdict in verdicts if verdict.word in TOLD),
        key=lambda verdict: _PRECEDENCE.index(verdict.word),
    )


def _of_comparison(number: int, attempts: Sequence[Attempt]) -> Verdict:
    standing = [
        attempt for attempt in attempts if attempt.comparison == number and not attempt.superseded
    ]
    if not standing:
        return Verdict(CANNOT_BE_TOLD, "not measured")
    verdicts = [attempt.verdict for attempt in standing if attempt.verdict.word in TOLD]
    if not verdicts:
        # What the latest attempt lacks is what the next one needs. A criterion that changed later
        # counts nowhere, so the claim itself cannot be verdicts.
        latest = standing[-1].verdict
        if latest.word == CHANGED_LATER:
            return Verdict(CANNOT_BE_TOLD, CHANGED_LATER)
        return Verdict(latest.word, latest.first_reason)
    words = {verdict.word for verdict in verdicts}
    return (
        verdicts[-1]
        if len(words) == 1
        else Verdict(CANNOT_BE_TOLD, "attempts contradict each other")
    )


def over_machines(attempts: Sequence[Attempt], number: int) -> AcrossMachines | None:
    """The ratios of the attempts at a comparison that stand and tell something, over the machines
    that measured them."""
    ratios: dict[str, list[float]] = {}
    for attempt in attempts:
        is_counted = attempt.comparison == number and not attempt.superseded
        tells = attempt.verdict.word in (*TOLD, ANSWERED)
        if is_counted and tells and attempt.measured and attempt.measured.ratio:
            ratios.setdefault(attempt.machine, []).append(attempt.measured.ratio)
    return across_machines(ratios)
