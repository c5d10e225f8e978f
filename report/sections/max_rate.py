"""The highest rate of each target, as a sentence and a table of its trials by rate (M30)."""

from collections.abc import Sequence
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.max_rate_rows import MaxRate, RateTrial
from report.analysis.texts import layer_text
from report.base.csv_text import picked
from report.base.format import plural, rate
from report.sections.section import (
    Column,
    Section,
    Table,
    TableCell,
    TableGroup,
    TableRow,
    number,
    words,
)
from report.statistics.max_rate_estimate import RateEstimate

TEXT = (
    "A rate is kept by a trial, which is one run, if its schedule was sent, the target served it, and every "
    "objective was met. The highest rate is the one that half of the trials keep, with its interval of 95 % "
    "by a logistic curve and the likelihood ratio. All targets took turns over the rates near their bounds, "
    "in random order. ● kept, ○ missed, × does not count."
)
_COLUMNS = (*words("Trials"), Column("Kept"), *words("Interval", "Last miss"))


def _tried(value: float) -> str:
    return f"{value:,g}"


def _so_far(result: MaxRate, objectives: str) -> str:
    kept, missed = result.bracketed
    if result.ended == "done" and (kept is None) != (missed is None):
        if missed is not None:
            return f"not even {_tried(missed)}/s keeps {objectives}"
        return f"{_tried(kept or 0)}/s keeps {objectives}, and no higher rate was tried"
    kept_text = "" if kept is None else f"{_tried(kept)}/s keeps {objectives}"
    known_bounds = ", ".join(
        filter(None, (kept_text, "" if missed is None else f"{_tried(missed)}/s does not"))
    )
    return f"no estimate yet; in single trials {known_bounds or 'nothing is known yet'}"


def _estimated(result: MaxRate, estimate: RateEstimate, objectives: str) -> str:
    rates = len({trial.rate_per_second for trial in result.near})
    trials = f"{plural(estimate.trials, 'trial')} at {plural(rates, 'rate')}"
    estimate_text, low_text, high_text = (
        "" if value is None else f"{rate(value)}/s"
        for value in (estimate.estimate, estimate.low, estimate.high)
    )
    limit = result.limit
    if result.censored and low_text:
        limit_reason = f" ({limit.text})" if limit else ""
        return (
            f"at least {low_text} keeps {objectives} ({trials}). Beyond, the load generator was the "
            f"limit{limit_reason} and not the target, so there is no upper bound: give it more CPU, "
            "or --workers"
        )
    if estimate_text and low_text and high_text:
        is_limit_known = limit is not None and limit.resource != "none"
        limited = (
            f"; limited by: {limit.resource} ({limit.text})" if limit and is_limit_known else ""
        )
        interval = f"95 % interval {low_text} to {high_text}, {trials}"
        return f"{estimate_text} is the highest rate that keeps {objectives} ({interval}){limited}"
    bounds = (("at least", low_text), ("at most", high_text), ("about", estimate_text))
    bounds_text = " and ".join(f"{word} {end}" for word, end in bounds if end)
    open_text = "" if low_text or high_text else ", without an interval: it takes more trials"
    return f"the highest rate that keeps {objectives} is {bounds_text or 'not known'}{open_text} ({trials})"


def max_rate_sentence(result: MaxRate) -> str:
    """The result as a sentence: `iovalkey: 4,321/s is the highest rate that keeps …`."""
    objectives = ", ".join(result.objectives)
    text = (
        _estimated(result, result.estimate, objectives)
        if result.estimate
        else _so_far(result, objectives)
    )
    early_end = {"done": "", "budget": "its time was used up", None: "it was interrupted"}[
        result.ended
    ]
    return f"{result.name}: {text}{f'. The search ended early: {early_end}' if early_end else ''}."


#: A trial that kept the rate has a filled mark, one that missed it an empty one; a cross does not
#: count.
_MARKS = {"kept": "●", "missed": "○", "void": "×"}


def _row(result: MaxRate, rate_per_second: float, trials: Sequence[RateTrial]) -> TableRow:
    counted = [trial.status == "kept" for trial in trials if trial.status != "void"]
    low, high = (result.estimate.low, result.estimate.high) if result.estimate else (None, None)
    within = low is not None and high is not None and low <= rate_per_second <= high
    hint = "; ".join(": ".join(filter(None, (trial.status, trial.reason))) for trial in trials)
    missed = [trial.reason for trial in trials if trial.status != "kept"]
    cells = (
        number(_tried(rate_per_second), rate_per_second),
        TableCell("".join(_MARKS[trial.status] for trial in trials), hint=hint),
        TableCell(f"{sum(counted)} of {len(counted)}" if counted else "", kind="number"),
        TableCell("within" if within else ""),
        TableCell(missed[-1] if missed else "", kind="text"),
    )
    return TableRow(" ".join(result.ids), cells)


def _table(result: MaxRate, table_id: str, bracket: bool) -> Table:
    by_rate: dict[float, list[RateTrial]] = {}
    for trial in result.trials:
        if trial.bracket is bracket:
            by_rate.setdefault(trial.rate_per_second, []).append(trial)
    rows = tuple(
        _row(result, rate_per_second, trials_at_rate)
        for rate_per_second, trials_at_rate in sorted(by_rate.items(), reverse=True)
    )
    columns = (Column("Rate", layer_text(result.identity.layer).rate_unit), *_COLUMNS)
    title_suffix = (
        ": single trials that bracketed the bound, not part of the estimate" if bracket else ""
    )
    caption = "" if bracket else max_rate_sentence(result)
    groups = (TableGroup(rows),)
    full_id = f"{table_id}{'-bracket' if bracket else ''}"
    return Table(full_id, f"{result.name}{title_suffix}", columns, groups, caption, sortable=False)


def max_rate(analysis: Analysis) -> Section | None:
    tables = [
        table
        for index, result in enumerate(analysis.max_rates, start=1)
        for bracket in (False, True)
        if (table := _table(result, f"max-rate-{index}", bracket)).rows
    ]
    if not analysis.max_rates:
        return None
    return Section("max-rate", "The highest rate", text=(TEXT,), tables=tuple(tables), open=True)


def max_rate_document(result: MaxRate) -> dict[str, Any]:
    identity = result.identity
    estimate = result.estimate
    kept, missed = _confirmed(result)
    limit = result.limit
    names = ("label", "layer", "servers", "generators", "workload", "traffic")
    return {
        **picked(identity, *names, "connections"),
        "limits": dict(zip(("points", "window_s", "block_s", "cost"), identity.limits, strict=True))
        if identity.limits
        else None,
        "objectives": list(result.objectives),
        "estimate_per_second": estimate.estimate if estimate and not result.censored else None,
        "interval": {
            "low": estimate.low if estimate else None,
            "high": estimate.high if estimate and not result.censored else None,
        },
        "censored_by": "generator" if result.censored else None,
        "confirmed_per_second": kept,
        "missed_per_second": missed,
        "limited_by": picked(limit, "resource", "text") if limit else None,
        "ended": result.ended,
        "sentence": max_rate_sentence(result),
        "trials": [
            {
                "rate_per_second": trial.rate_per_second,
                "kind": "bracket" if trial.bracket else "estimate",
                **picked(trial, "status", "reason", "file"),
            }
            for trial in result.trials
        ],
    }


def _confirmed(result: MaxRate) -> tuple[float | None, float | None]:
    """The highest rate that all of its trials near the bound kept, and the lowest rate above it
    that at least half of its trials missed; None for a rate that was not found."""
    outcomes: dict[float, list[bool]] = {}
    for trial in result.near:
        outcomes.setdefault(trial.rate_per_second, []).append(trial.status == "kept")
    kept = max(
        (
            rate_per_second
            for rate_per_second, kept_by_trial in outcomes.items()
            if all(kept_by_trial)
        ),
        default=None,
    )
    mostly_missed = [
        rate_per_second
        for rate_per_second, kept_by_trial in outcomes.items()
        if 2 * sum(kept_by_trial) <= len(kept_by_trial)
    ]
    missed = [
        rate_per_second
        for rate_per_second in mostly_missed
        if kept is None or rate_per_second > kept
    ]
    return kept, min(missed, default=None)
