"""A campaign that chooses its number of runs: what it concluded, what is open, and which rows need
runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import throughput
from report.analysis.rankings import Pair
from report.analysis.summary import Summary
from report.analysis.texts import interval_of, layer_text, load_text, name, outlook
from report.base.format import plural, rate
from report.sections.first_screen import cell_title
from report.sections.section import Column, Line, Section, TableRow, named, number, table_of, words
from report.sections.verdict_text import although_suspect
from report.statistics.decision import DEFAULT_FLOOR
from report.statistics.run_samples import median_interval
from report.statistics.sequential import Stop, is_tight, stop_of_side

#: Why a configuration got no more runs.
_STOPPED: dict[Stop, str] = {
    "decided": "its order is decided",
    "tight": "its interval is tight, at two looks in a row",
    "none counts": "none of its runs counts",
    "hopeless": "more runs, up to the most allowed, would hardly decide it",
    "last": "it had the most runs allowed",
}

#: Why the campaign ended, by the word that its manifest has.
_ENDED = {
    "decided": "all that could be decided was decided",
    "max runs": "the most runs allowed were made",
    "budget": "its time was used up",
}


#: The look after which a row got no more runs, and why; None: it continues.
Stopped = tuple[int, Stop] | None


#: A row, whether it goes on, and why it got no more runs.
Row = tuple[Summary, bool, str]


class Adaptive(Struct, frozen=True):
    rows: tuple[Row, ...]
    concluded: tuple[Line, ...]
    unsettled: tuple[Line, ...]
    """What is not decided, and how many more runs that needs."""
    ended: str | None
    """`decided`, `max runs` or `budget`; None: it continues, or was interrupted."""
    most: int

    @property
    def sentence(self) -> str:
        made = sum(len(row.runs) for row, _, _ in self.rows)
        why = (
            f"It ended because {_ENDED.get(self.ended, self.ended)}"
            if self.ended
            else "It has not ended"
        )
        return f"{why}: {plural(made, 'run')}, of at most {self.most * len(self.rows)}."


def _reason(stop: Stopped, ended: str | None) -> str:
    if stop is None:
        return "it was interrupted" if ended is None else _ENDED.get(ended, ended)
    return _ENDED["budget"] if stop[1] == "last" and ended == "budget" else _STOPPED[stop[1]]


def _pair_text(pair: Pair, at: int | None) -> tuple[bool, str]:
    found, base, new = pair.comparison, name(pair.base), name(pair.new)
    runs = (
        f"{plural(found.per_side, 'run')} per side"
        if found.pairs is None
        else plural(found.pairs, "pair")
    )
    between = ", ".join(filter(None, (interval_of(found), runs)))
    although = although_suspect((pair.base, pair.new))
    if not found.decided or at is None:
        more = outlook(found)
        why = found.reason or "not evaluated yet"
        return False, f"{new} and {base}: {why} ({between}){f'; {more}' if more else ''}"
    if found.status != "no difference":
        return True, f"{new} is {found.conclusion} than {base} ({between}){although}"
    if found.ratio is None:
        return (
            True,
            f"{new} and {base} both failed their load in half of their runs or more ({between})",
        )
    return (
        True,
        f"{new} and {base} do not differ by more than {100 * found.floor:g} % ({between}){although}",
    )


def _lone_text(row: Summary, stop: Stopped) -> tuple[bool, str]:
    values, label = row.throughputs, f"{name(row)}, {load_text(row.identity)}"
    done = stop is not None and stop[1] == "tight"
    counted = plural(len(values), "run")
    try:
        found = median_interval(values)
    except ValueError:
        return False, f"{label}: {counted} that count are too few for an interval: it takes 6"
    if found.low == 0:
        # An end of the interval is a run that failed its load: it has no width in percent.
        return done, f"{label}: {row.spoiled_text or 'nothing was answered in some runs'}"
    off = max(found.high / found.median, found.median / found.low) - 1
    median = f"{rate(found.median)} {layer_text(row.identity.layer).rate_unit}"
    runs = ", ".join(filter(None, (counted, row.spoiled_text)))
    text = f"{label}: {median} ± {100 * off:.1f} %, {runs}"
    if done:
        return done, text
    why = "wider than" if not is_tight(values) else "no second look confirmed that it is within"
    return done, f"{text}: {why} ± {100 * DEFAULT_FLOOR:.1f} %"


def _stop_of_control(
    row: Summary, cells: Sequence[Cell], stops: Mapping[str, Stopped]
) -> list[Stopped]:
    """Those of its reference, or of the rows beside it; empty where it stands alone."""
    own = [cell for cell in cells if row in (*cell.controls, *cell.copies)]
    if row.identity.copy:
        for ranking in (ranking for cell in own for ranking in cell.rankings):
            if ranking.reference and ranking.reference.identity.label == row.identity.copy_of:
                return [stops[ranking.reference.id]]
    return [stops[each.id] for cell in own for each in cell.summaries] if row.by_turns else []


def adaptive_of(analysis: Analysis) -> Adaptive | None:
    """What such a campaign found, by the looks in its manifest; None for a fixed number of runs.

    It depends only on the results and the looks, so that it gives the same whenever it is
    called."""
    campaign, summaries, cells = analysis.campaign, analysis.summaries, analysis.cells
    schedule = next((row.look_schedule for row in summaries), None)
    if schedule is None or campaign.manifest is None:
        return None
    looked = summaries[0].last_look
    stops: dict[str, Stopped] = {}
    conclusions: list[tuple[bool, Line]] = []

    def conclude(done: bool, text: str, ids: str) -> None:
        conclusions.append((done, Line(text, ids)))

    for cell in cells:
        prefix = f"{cell_title(cell)}: " if len(cells) > 1 else ""
        for ranking in cell.rankings:
            family = ranking.family
            rows = ranking.summaries
            stops |= {row.id: stop_of_side(row.side(throughput), schedule, looked) for row in rows}
            own = zip(ranking.compared, family.stops if family else (), strict=False)
            stops |= {row.id: stop for row, stop in own}
            for pair, at in zip(ranking.pairs, family.settled if family else (), strict=True):
                done, text = _pair_text(pair, at)
                conclude(done, prefix + text, f"{pair.base.id} {pair.new.id}")
            for row in ranking.summaries if not ranking.pairs else ():
                conclude(*_lone_text(row, stops[row.id]), row.id)
    for runtime in analysis.runtimes:
        copies = (copy for cell in runtime.cells for copy in cell.copies)
        for row in (*runtime.controls, *copies):
            beside = _stop_of_control(row, runtime.cells, stops)
            if beside:
                stops[row.id] = None if None in beside else max(filter(None, beside))
                continue
            stops[row.id] = stop_of_side(row.side(throughput), schedule, looked)
            conclude(*_lone_text(row, stops[row.id]), row.id)
    ended = campaign.manifest.get("adaptive", {}).get("ended", {}).get("why")
    of_rows = [(row, stops.get(row.id)) for row in summaries]
    return Adaptive(
        rows=tuple((row, stop is None, _reason(stop, ended)) for row, stop in of_rows),
        concluded=tuple(each for done, each in conclusions if done),
        unsettled=tuple(each for done, each in conclusions if not done),
        ended=ended,
        most=schedule.looks[-1],
    )


def adaptive_document(found: Adaptive) -> dict[str, Any]:
    return {
        "ended": found.ended,
        "sentence": found.sentence,
        "max_runs": found.most,
        "concluded": [each.text for each in found.concluded],
        "not_concluded": [each.text for each in found.unsettled],
        "configurations": [
            {
                "configuration_hash": row.identity.configuration_hash,
                "label": row.identity.label,
                "load": load_text(row.identity),
                "runs": len(row.runs),
                "goes_on": goes_on,
                "reason": reason,
            }
            for row, goes_on, reason in found.rows
        ],
    }


def adaptive(analysis: Analysis) -> Section | None:
    found = adaptive_of(analysis)
    if found is None:
        return None
    rows = []
    for row, _, reason in found.rows:
        identity, made = row.identity, len(row.runs)
        cells = (
            *named(identity.label, load_text(identity)),
            number(f"{made}", made),
            *named(reason),
        )
        rows.append(TableRow(row.id, cells))
    columns = (*words("Target", "Load"), Column("Runs"), *words("Why it stopped"))
    lists = (("Concluded", found.concluded), ("Not decided", found.unsettled))
    return Section(
        "adaptive",
        "How many runs it took",
        found.sentence,
        text=("The confidence levels allow for looking at the runs more than once.",),
        tables=(table_of("adaptive-rows", columns, rows),),
        lists=tuple((title, lines) for title, lines in lists if lines),
    )
