"""The verdict of a ranking in words: who is told apart from whom, and what it would take for the others."""

from collections.abc import Sequence

from .compare import Ranking, Standing
from .format import plural, rate
from .script_text import joined
from .stats import MIN_RUNS_FOR_A_CLAIM, Comparison

#: Statuses of a row as seen from the first of its ranking, and how a sentence puts them, for one and several.
_TOLD = {
    "worse": ("is slower", "are slower"),
    "better": ("is faster, though its median is lower", "are faster, though their medians are lower"),
    "no difference": ("shows no difference", "show no difference"),
    "inconclusive": ("is not told apart from it", "are not told apart from it"),
}


def interval_text(comparison: Comparison | None) -> str:
    """`0.89–0.93×, worse`; an interval without a status where nothing was tested; empty without one."""
    if comparison is None or comparison.interval is None:
        return ""
    interval = comparison.interval
    status = "" if comparison.status == "indicative" else f", {comparison.status}"
    return f"{interval.low:.2f}–{interval.high:.2f}×{status}"


def runs_text(comparison: Comparison) -> str:
    """`about 14 runs a side would decide`, for a comparison that is not decided."""
    if comparison.runs_needed is None:
        return "no affordable number of runs would decide"
    return f"about {plural(comparison.runs_needed, 'run')} a side would decide"


def _named(standing: Standing) -> str:
    comparison = standing.versus_first
    label = standing.summary.identity.short_label
    if comparison is None or comparison.interval is None:
        return label
    interval = interval_of(comparison)
    if comparison.status == "inconclusive":
        return f"{label} ({interval}: {comparison.reason}; {runs_text(comparison)})"
    return f"{label} ({interval})"


def interval_of(comparison: Comparison) -> str:
    """`0.91×, 0.89–0.93×`: the ratio with its interval."""
    if comparison.ratio is None:
        return ""
    interval = comparison.interval
    return f"{comparison.ratio:.2f}×" + (f", {interval.low:.2f}–{interval.high:.2f}×" if interval else "")


def _tested(compared: Sequence[Standing]) -> list[str]:
    said = []
    for status, (one, several) in _TOLD.items():
        rows = [row for row in compared if row.versus_first and row.versus_first.status == status]
        if rows:
            said.append(f"{joined([_named(row) for row in rows])} {one if len(rows) == 1 else several}.")
    return said


def _indicative(ranking: Ranking, compared: Sequence[Standing]) -> str:
    """Too few runs: what they cannot do, and what the gap that they suggest would take."""
    text = (
        f"Indicative only: {plural(ranking.fewest_runs, 'valid run')} a side "
        f"cannot show a difference, it takes at least {MIN_RUNS_FOR_A_CLAIM}"
    )
    second = compared[0].versus_first if compared else None
    if second is None or second.runs_needed is None or second.runs_needed <= MIN_RUNS_FOR_A_CLAIM:
        return f"{text}."
    return f"{text}, and about {second.runs_needed} for one like that between the first two."


def _together(ranking: Ranking) -> str:
    """What else differs between its rows than the client (rule M12)."""
    said = []
    ran = {script.name for script in (each for row in ranking.summaries for each in row.scripts)}
    if not ranking.group.same_script and len(ran) > 1:
        said.append("Their scripts differ: what is told apart is client and script together.")
    limiters = sorted({row.identity.limiter for row in ranking.summaries if row.identity.limiter})
    if len(limiters) > 1:
        said.append(f"Limiters differ: {joined(limiters)}.")
    return " ".join(said)


def sentence(ranking: Ranking) -> str:
    """What its medians and their tests say, and nothing beyond."""
    first = ranking.standings[0].summary
    if first.median is None:
        return "Nothing to rank: no valid run."
    if ranking.store is None:
        return "Not ranked: the store is not known."
    if not ranking.group.rankable:
        why = "several were recorded" if ranking.group.scripts else "it was not recorded"
        return f"Not ranked: one script is said to run for all, but {why}."
    figure = f"{first.identity.short_label}, {rate(first.median.requests_per_second)} requests/s"
    if first.identity.open_loop:
        return (
            f"{figure}. In an open loop throughput is what was offered: it tells nobody apart, latency does."
        )
    if not ranking.comparable:
        return f"{figure}, and no other row to compare it with."
    compared = [standing for standing in ranking.standings if standing.versus_first]
    tested = _tested(compared)
    if not tested:
        return f"Highest median: {figure}. {_indicative(ranking, compared)}"
    statuses = {row.versus_first.status for row in compared if row.versus_first}
    lead = "Fastest" if statuses == {"worse"} else "Highest median"
    few = [_indicative(ranking, [])] if ranking.few_runs else []
    return " ".join(filter(None, [f"{lead}: {figure}.", *tested, *few, _together(ranking)]))
