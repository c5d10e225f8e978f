"""The highest rate of each target: a sentence, and its trials by rate (M30)."""

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


def _so_far(found: MaxRate, asked: str) -> str:
    kept, missed = found.bracketed
    if found.ended == "done" and (kept is None) != (missed is None):
        if missed is not None:
            return f"not even {_tried(missed)}/s keeps {asked}"
        return f"{_tried(kept or 0)}/s keeps {asked}, and no higher rate was tried"
    keeps = "" if kept is None else f"{_tried(kept)}/s keeps {asked}"
    known = ", ".join(
        filter(None, (keeps, "" if missed is None else f"{_tried(missed)}/s does not"))
    )
    return f"no estimate yet; in single trials {known or 'nothing is known yet'}"


def _estimated(found: MaxRate, estimate: RateEstimate, asked: str) -> str:
    rates = len({trial.rate_per_second for trial in found.near})
    trials = f"{plural(estimate.trials, 'trial')} at {plural(rates, 'rate')}"
    at, low, high = (
        "" if value is None else f"{rate(value)}/s"
        for value in (estimate.estimate, estimate.low, estimate.high)
    )
    limit = found.limit
    if found.censored and low:
        why = f" ({limit.text})" if limit else ""
        return (
            f"at least {low} keeps {asked} ({trials}). Beyond, the load generator was the limit{why} and not "
            "the target, so there is no upper bound: give it more CPU, or --workers"
        )
    if at and low and high:
        known = limit is not None and limit.resource != "none"
        limited = f"; limited by: {limit.resource} ({limit.text})" if limit and known else ""
        interval = f"95 % interval {low} to {high}, {trials}"
        return f"{at} is the highest rate that keeps {asked} ({interval}){limited}"
    ends = (("at least", low), ("at most", high), ("about", at))
    told = " and ".join(f"{word} {end}" for word, end in ends if end)
    open_text = "" if low or high else ", without an interval: it takes more trials"
    return f"the highest rate that keeps {asked} is {told or 'not known'}{open_text} ({trials})"


def max_rate_sentence(found: MaxRate) -> str:
    """The result in words: `iovalkey: 4,321/s is the highest rate that keeps …`."""
    asked = ", ".join(found.objectives)
    text = _estimated(found, found.estimate, asked) if found.estimate else _so_far(found, asked)
    early = {"done": "", "budget": "its time was used up", None: "it was interrupted"}[found.ended]
    return f"{found.name}: {text}{f'. The search ended early: {early}' if early else ''}."


#: A filled mark was kept, an empty one missed, a cross does not count.
_MARKS = {"kept": "●", "missed": "○", "void": "×"}


def _row(found: MaxRate, at: float, trials: Sequence[RateTrial]) -> TableRow:
    counted = [trial.status == "kept" for trial in trials if trial.status != "void"]
    low, high = (found.estimate.low, found.estimate.high) if found.estimate else (None, None)
    within = low is not None and high is not None and low <= at <= high
    said = "; ".join(": ".join(filter(None, (trial.status, trial.reason))) for trial in trials)
    missed = [trial.reason for trial in trials if trial.status != "kept"]
    cells = (
        number(_tried(at), at),
        TableCell("".join(_MARKS[trial.status] for trial in trials), hint=said),
        TableCell(f"{sum(counted)} of {len(counted)}" if counted else "", kind="number"),
        TableCell("within" if within else ""),
        TableCell(missed[-1] if missed else "", kind="text"),
    )
    return TableRow(" ".join(found.ids), cells)


def _table(found: MaxRate, table_id: str, bracket: bool) -> Table:
    by_rate: dict[float, list[RateTrial]] = {}
    for trial in found.trials:
        if trial.bracket is bracket:
            by_rate.setdefault(trial.rate_per_second, []).append(trial)
    rows = tuple(_row(found, at, members) for at, members in sorted(by_rate.items(), reverse=True))
    columns = (Column("Rate", layer_text(found.identity.layer).rate_unit), *_COLUMNS)
    part = ": single trials that bracketed the bound, not part of the estimate" if bracket else ""
    caption = "" if bracket else max_rate_sentence(found)
    groups = (TableGroup(rows),)
    own_id = f"{table_id}{'-bracket' if bracket else ''}"
    return Table(own_id, f"{found.name}{part}", columns, groups, caption, sortable=False)


def max_rate(analysis: Analysis) -> Section | None:
    tables = [
        table
        for index, found in enumerate(analysis.max_rates, start=1)
        for bracket in (False, True)
        if (table := _table(found, f"max-rate-{index}", bracket)).rows
    ]
    if not analysis.max_rates:
        return None
    return Section("max-rate", "The highest rate", text=(TEXT,), tables=tuple(tables), open=True)


def max_rate_document(found: MaxRate) -> dict[str, Any]:
    identity = found.identity
    estimate = found.estimate
    kept, missed = _confirmed(found)
    limit = found.limit
    names = ("label", "layer", "servers", "generators", "workload", "traffic")
    return {
        **picked(identity, *names, "connections"),
        "limits": dict(zip(("points", "window_s", "block_s", "cost"), identity.limits, strict=True))
        if identity.limits
        else None,
        "objectives": list(found.objectives),
        "estimate_per_second": estimate.estimate if estimate and not found.censored else None,
        "interval": {
            "low": estimate.low if estimate else None,
            "high": estimate.high if estimate and not found.censored else None,
        },
        "censored_by": "generator" if found.censored else None,
        "confirmed_per_second": kept,
        "missed_per_second": missed,
        "limited_by": picked(limit, "resource", "text") if limit else None,
        "ended": found.ended,
        "sentence": max_rate_sentence(found),
        "trials": [
            {
                "rate_per_second": trial.rate_per_second,
                "kind": "bracket" if trial.bracket else "estimate",
                **picked(trial, "status", "reason", "file"),
            }
            for trial in found.trials
        ],
    }


def _confirmed(found: MaxRate) -> tuple[float | None, float | None]:
    """The highest rate that all of its trials near the bound kept, and the lowest above it that was
    missed in at least half of them."""
    outcomes: dict[float, list[bool]] = {}
    for trial in found.near:
        outcomes.setdefault(trial.rate_per_second, []).append(trial.status == "kept")
    kept = max((at for at, each in outcomes.items() if all(each)), default=None)
    above = [at for at, each in outcomes.items() if 2 * sum(each) <= len(each)]
    missed = [at for at in above if kept is None or at > kept]
    return kept, min(missed, default=None)
