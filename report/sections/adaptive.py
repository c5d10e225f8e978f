"""A campaign that chooses its number of runs: what it concluded, what is open, and which rows need runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.comparison_text import interval_of, outlook_text
from report.analysis.figures import throughput
from report.analysis.layer_text import layer_text
from report.analysis.load_text import load_text
from report.analysis.rankings import Pair, Ranking
from report.analysis.summary import Summary
from report.base.format import plural, rate
from report.sections.first_screen import cell_title
from report.sections.section import Column, Line, Section, TableCell, TableRow, named, number, table_of, words
from report.statistics.decision import DEFAULT_FLOOR
from report.statistics.runs import median_interval
from report.statistics.sequential import LookSchedule, Stop, is_tight, stop_of_side

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


@dataclass(frozen=True, slots=True)
class Row:
    summary: Summary
    stop: tuple[int, Stop] | None
    """The look after which it got no more runs; None: it continues."""

    @property
    def load(self) -> str:
        return load_text(self.summary.identity)

    def text(self, ended: str | None) -> str:
        if self.stop is None:
            return "it was interrupted" if ended is None else _ENDED.get(ended, ended)
        if self.stop[1] == "last" and ended == "budget":
            return _ENDED["budget"]
        return _STOPPED[self.stop[1]]


@dataclass(frozen=True, slots=True)
class Adaptive:
    rows: tuple[Row, ...]
    concluded: tuple[Line, ...]
    unsettled: tuple[Line, ...]
    """What is not decided, and how many more runs that needs."""
    ended: str | None
    """`decided`, `max runs` or `budget`; None: it continues, or was interrupted."""
    most: int
    fewest: int

    @property
    def sentence(self) -> str:
        made = sum(len(row.summary.runs) for row in self.rows)
        why = f"It ended because {_ENDED.get(self.ended, self.ended)}" if self.ended else "It has not ended"
        return f"{why}: {plural(made, 'run')}, of at most {self.most * len(self.rows)}."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _cell_prefix(cell: Cell, several: bool) -> str:
    return f"{cell_title(cell)}: " if several else ""


def _pair_text(pair: Pair, at: int | None) -> tuple[bool, str]:
    found = pair.comparison
    base, new = pair.base.identity.short_label, pair.new.identity.short_label
    runs = f"{plural(found.per_side, 'run')} per side" if found.pairs is None else plural(found.pairs, "pair")
    between = ", ".join(filter(None, (interval_of(found), runs)))
    if found.decided and at is not None:
        if found.status == "no difference":
            if found.ratio is None:
                return (
                    True,
                    f"{new} and {base} both failed their load in half of their runs or more ({between})",
                )
            floor = f"{100 * found.floor:g} %"
            return True, f"{new} and {base} do not differ by more than {floor} ({between})"
        word = "faster" if found.status == "better" else "slower"
        return True, f"{new} is {word} than {base} ({between})"
    why = found.reason or "not evaluated yet"
    outlook = outlook_text(found)
    return False, f"{new} and {base}: {why} ({between}){f'; {outlook}' if outlook else ''}"


def _ranking_rows(
    ranking: Ranking, schedule: LookSchedule, looked: int
) -> dict[str, tuple[int, Stop] | None]:
    stops = ranking.family.stops if ranking.family else ()
    found = {row.id: stop for row, stop in zip(ranking.compared, stops, strict=False)}
    return {row.id: found.get(row.id) or _alone(row, schedule, looked) for row in ranking.summaries} | found


def _alone(row: Summary, schedule: LookSchedule, looked: int) -> tuple[int, Stop] | None:
    return stop_of_side(row.side(throughput), schedule, looked)


def _with_reference(copy: Summary, cells: Sequence[Cell]) -> Summary | None:
    for cell in cells:
        if copy in cell.controls:
            for ranking in cell.rankings:
                if ranking.reference and ranking.reference.identity.label == copy.identity.copied_label:
                    return ranking.reference
    return None


def _beside(control: Summary, cells: Sequence[Cell]) -> list[Summary]:
    return [row for cell in cells if control in cell.controls for row in cell.summaries]


def _lone_text(row: Summary, stop: tuple[int, Stop] | None) -> tuple[bool, str]:
    values = row.throughputs
    name = f"{row.identity.short_label}, {load_text(row.identity)}"
    done = stop is not None and stop[1] == "tight"
    try:
        found = median_interval(values)
    except ValueError:
        return (
            False,
            f"{name}: {plural(len(values), 'run')} that count are too few for an interval: it takes 6",
        )
    if found.low == 0:
        # An end of the interval is a run that failed its load: it has no width in percent.
        return done, f"{name}: {row.spoiled_text or 'nothing was answered in some runs'}"
    off = max(found.high / found.median, found.median / found.low) - 1
    median = f"{rate(found.median)} {layer_text(row.identity.layer).rate_unit}"
    runs = ", ".join(filter(None, (plural(len(values), "run"), row.spoiled_text)))
    text = f"{name}: {median} ± {_percent(off)}, {runs}"
    if done:
        return done, text
    why = "wider than" if not is_tight(values) else "no second look confirmed that it is within"
    return done, f"{text}: {why} ± {_percent(DEFAULT_FLOOR)}"


def _lone(row: Summary, stop: tuple[int, Stop] | None) -> tuple[bool, Line]:
    done, text = _lone_text(row, stop)
    return done, Line(text, row.id)


def adaptive_of(analysis: Analysis) -> Adaptive | None:
    """What such a campaign found, by the looks in its manifest; None for a fixed number of runs.

    It depends only on the results and the looks, so that it gives the same whenever it is called."""
    campaign, summaries = analysis.campaign, analysis.summaries
    schedule = next((row.look_schedule for row in summaries), None)
    if schedule is None or campaign.manifest is None:
        return None
    looked = summaries[0].last_look
    stops: dict[str, tuple[int, Stop] | None] = {}
    conclusions: list[tuple[bool, Line]] = []
    cells = analysis.cells
    for cell in cells:
        for ranking in cell.rankings:
            stops |= _ranking_rows(ranking, schedule, looked)
            settled = ranking.family.settled if ranking.family else ()
            prefix = _cell_prefix(cell, len(cells) > 1)
            for pair, at in zip(ranking.pairs, settled, strict=True):
                done, text = _pair_text(pair, at)
                conclusions.append((done, Line(prefix + text, f"{pair.base.id} {pair.new.id}")))
            if not ranking.pairs:
                conclusions += [_lone(row, stops[row.id]) for row in ranking.summaries]
    for runtime in analysis.runtimes:
        for row in runtime.controls:
            reference = _with_reference(row, runtime.cells) if row.identity.copy else None
            if reference:
                stops[row.id] = stops[reference.id]
                continue
            beside = _beside(row, runtime.cells) if row.by_turns else []
            if beside:
                own = [stops[each.id] for each in beside]
                stops[row.id] = None if None in own else max(filter(None, own))
                continue
            stops[row.id] = _alone(row, schedule, looked)
            conclusions.append(_lone(row, stops[row.id]))
    return Adaptive(
        rows=tuple(Row(row, stops.get(row.id)) for row in summaries),
        concluded=tuple(each for done, each in conclusions if done),
        unsettled=tuple(each for done, each in conclusions if not done),
        ended=campaign.manifest.get("adaptive", {}).get("ended", {}).get("why"),
        most=schedule.looks[-1],
        fewest=schedule.looks[0],
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
                "configuration_hash": row.summary.identity.configuration_hash,
                "label": row.summary.identity.label,
                "load": row.load,
                "runs": len(row.summary.runs),
                "goes_on": row.stop is None,
                "reason": row.text(found.ended),
            }
            for row in found.rows
        ],
    }


def adaptive(analysis: Analysis) -> Section | None:
    found = adaptive_of(analysis)
    if found is None:
        return None
    rows = [
        TableRow(
            row.summary.id,
            (
                *named(row.summary.identity.label, row.load),
                number(f"{len(row.summary.runs)}", len(row.summary.runs)),
                TableCell(row.text(found.ended)),
            ),
        )
        for row in found.rows
    ]
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
