"""Shows a campaign that chooses its number of runs: what it concluded, what is open, and which rows
need more runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.figures import throughput
from report.analysis.gate import Gate, GateRow, RowPair, gate_of
from report.analysis.ranked_pairs import Pair
from report.analysis.rankings import Ranking
from report.analysis.summary import Summary
from report.analysis.texts import interval_of, layer_text, load_text, name, outlook
from report.base.format import plural, rate
from report.sections.headings import cell_title
from report.sections.ranking_text import although_suspect
from report.sections.section import Column, Line, Section, TableRow, named, number, table_of, words
from report.statistics.run_samples import median_interval
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

Stopped = tuple[int, Stop] | None
"""The look after which a row got no more runs, and the reason; None for a row that continues."""

Row = tuple[Summary, bool, str]
"""A row, whether it goes on, and the reason why it got no more runs."""


class Adaptive(Struct, frozen=True):
    rows: tuple[Row, ...]
    concluded: tuple[Line, ...]
    unsettled: tuple[Line, ...]
    """Lines about what is not decided, with how many more runs that takes."""
    ended: str | None
    """`decided`, `max runs` or `budget`; None for a campaign that continues or was interrupted."""
    most: int

    @property
    def sentence(self) -> str:
        run_count = sum(len(row.runs) for row, _, _ in self.rows)
        state = "It has not ended"
        if self.ended:
            state = f"It ended because {_ENDED.get(self.ended, self.ended)}"
        return f"{state}: {plural(run_count, 'run')}, of at most {self.most * len(self.rows)}."


def _reason(stop: Stopped, ended: str | None) -> str:
    """Why a row got no more runs."""
    if stop is None:
        return "it was interrupted" if ended is None else _ENDED.get(ended, ended)
    _, stop_reason = stop
    return (
        _ENDED["budget"] if stop_reason == "last" and ended == "budget" else _STOPPED[stop_reason]
    )


def _pair_text(pair: Pair, settled_at: int | None) -> tuple[bool, str]:
    """Whether a pair is concluded, and a text about what was shown or is missing.

    `settled_at` is the look that settled it."""
    comparison = pair.comparison
    base = name(pair.base)
    new = name(pair.new)
    if comparison.pairs is None:
        runs = f"{plural(comparison.per_side, 'run')} per side"
    else:
        runs = plural(comparison.pairs, "pair")
    interval = ", ".join(filter(None, (interval_of(comparison), runs)))

    if not comparison.concluded or settled_at is None:
        reason = comparison.reason or "not evaluated yet"
        more = outlook(comparison)
        subject = (
            f"{new} is {comparison.direction_word} than {base}, and"
            if comparison.size_is_open
            else f"{new} and {base}:"
        )
        text = f"{subject} {reason} ({interval})"
        return False, f"{text}; {more}" if more else text

    although = although_suspect((pair.base, pair.new))
    if comparison.status != "no difference":
        return True, f"{new} is {comparison.conclusion} than {base} ({interval}){although}"
    if comparison.ratio is None:
        failed = "both failed their load in half of their runs or more"
        return True, f"{new} and {base} {failed} ({interval})"
    margin = f"{100 * comparison.margin:g} %"
    return True, f"{new} and {base} do not differ by more than {margin} ({interval}){although}"


def _lone_text(row: Summary, stop: Stopped) -> tuple[bool, str]:
    """Whether a row that is compared with no other is concluded, and how tight its interval is."""
    values = row.throughputs
    label = f"{name(row)}, {load_text(row.identity)}"
    is_tight_twice = stop is not None and stop[1] == "tight"
    counted = plural(len(values), "run")
    try:
        interval = median_interval(values)
    except ValueError:
        return False, f"{label}: {counted} that count are too few for an interval: it takes 6"
    if interval.low == 0:
        # The low end is a run that failed its load, so the interval has no width in percent.
        return is_tight_twice, f"{label}: {row.spoiled_text or 'nothing was answered in some runs'}"

    width = max(interval.high / interval.median, interval.median / interval.low) - 1
    median = f"{rate(interval.median)} {layer_text(row.identity.layer).rate_unit}"
    runs = ", ".join(filter(None, (counted, row.spoiled_text)))
    text = f"{label}: {median} ± {100 * width:.1f} %, {runs}"
    if is_tight_twice:
        return True, text
    open_reason = (
        "wider than"
        if not is_tight(values, row.margin)
        else "no second look confirmed that it is within"
    )
    return False, f"{text}: {open_reason} ± {100 * row.margin:.1f} %"


def _gated_pairs(analysis: Analysis) -> list[RowPair]:
    """Each row with the reference of its ranking."""
    return [
        (ranking.reference, row)
        for cell in analysis.cells
        for ranking in cell.rankings
        if ranking.reference
        for row in ranking.compared_rows
        if row is not ranking.reference
    ]


def _stop_of_gate(gate: Gate) -> Stopped:
    """When the rows of a gate stop, which they do together."""
    if gate.look is None:
        return None
    if gate.verdict() != "not decided":
        return gate.look, "decided"
    return (gate.look, "last") if gate.is_last else None


def _gate_line(row: GateRow, tolerated: float) -> Line:
    bound = f"a loss of {100 * tolerated:g} % is {'' if row.gated.bounded else 'not '}excluded"
    interval = interval_of(row.comparison)
    text = f"{name(row.new)}, {row.name}: {row.comparison.statement}, {bound} ({interval})"
    return Line(text, f"{row.base.id} {row.new.id}")


class _Conclusions:
    """Collects when each row stopped, and what was concluded about rows and pairs."""

    def __init__(self, schedule: LookSchedule, last_look: int) -> None:
        self.stops: dict[str, Stopped] = {}
        """When each row stopped, by the id of the row."""
        self._lines: list[tuple[bool, Line]] = []
        self._schedule = schedule
        self._last_look = last_look

    def lines(self, is_concluded: bool) -> tuple[Line, ...]:
        return tuple(line for concluded, line in self._lines if concluded is is_concluded)

    def add_gate(self, gate: Gate) -> None:
        """Stops the rows of a gate together, in place of what their ranking says."""
        is_decided = gate.verdict() != "not decided"
        self._lines = [(is_decided, _gate_line(row, gate.tolerated)) for row in gate.rows]
        for row in gate.rows:
            for summary in (row.base, row.new):
                self.stops[summary.id] = _stop_of_gate(gate)

    def add_ranking(self, ranking: Ranking, prefix: str) -> None:
        """Adds the rows and pairs of a ranking. The prefix names its cell where there are
        several."""
        for row in ranking.summaries:
            self.stops[row.id] = self._stop_of(row)
        family = ranking.family
        if family:
            for row, stop in zip(ranking.compared_rows, family.stops, strict=False):
                self.stops[row.id] = stop

        settled = family.settled if family else ()
        for pair, settled_at in zip(ranking.pairs, settled, strict=True):
            is_concluded, text = _pair_text(pair, settled_at)
            line = Line(prefix + text, f"{pair.base.id} {pair.new.id}")
            self._lines.append((is_concluded, line))
        if not ranking.pairs:
            for row in ranking.summaries:
                self._add_lone(row)

    def add_control(self, row: Summary, cells: Sequence[Cell]) -> None:
        """Adds a control or a copy. A copy stops with its reference, and a control with the last of
        the rows that are up with it."""
        stops = _stops_beside(row, cells, self.stops)
        if stops:
            self.stops[row.id] = None if None in stops else max(filter(None, stops))
            return
        self.stops[row.id] = self._stop_of(row)
        self._add_lone(row)

    def _stop_of(self, row: Summary) -> Stopped:
        return stop_of_side(row.side(throughput), self._schedule, self._last_look, row.margin)

    def _add_lone(self, row: Summary) -> None:
        is_concluded, text = _lone_text(row, self.stops[row.id])
        self._lines.append((is_concluded, Line(text, row.id)))


def _stops_beside(
    row: Summary, cells: Sequence[Cell], stops: Mapping[str, Stopped]
) -> list[Stopped]:
    """When the reference of a copy stopped, or the rows that are up with a control; empty for a row
    that stands alone."""
    cells_of_row = [cell for cell in cells if row in (*cell.controls, *cell.copies)]
    if row.identity.copy:
        for ranking in (ranking for cell in cells_of_row for ranking in cell.rankings):
            if ranking.reference and ranking.reference.identity.label == row.identity.copy_of:
                return [stops[ranking.reference.id]]
    if not row.by_turns:
        return []
    return [stops[summary.id] for cell in cells_of_row for summary in cell.summaries]


def adaptive_of(analysis: Analysis) -> Adaptive | None:
    """What the campaign concluded by the looks in its manifest; None for a fixed number of runs.

    It depends only on the results and the looks, so every call gives the same."""
    manifest = analysis.campaign.manifest
    summaries = analysis.summaries
    schedule = next((row.look_schedule for row in summaries), None)
    if schedule is None or manifest is None:
        return None

    conclusions = _Conclusions(schedule, summaries[0].last_look)
    for cell in analysis.cells:
        prefix = f"{cell_title(cell)}: " if len(analysis.cells) > 1 else ""
        for ranking in cell.rankings:
            conclusions.add_ranking(ranking, prefix)
    tolerate_percent = manifest["plan"]["adaptive"].get("tolerate_percent")
    gated_pairs = [] if tolerate_percent is None else _gated_pairs(analysis)
    if gated_pairs:
        conclusions.add_gate(gate_of(gated_pairs, tolerate_percent / 100, analysis.campaign.margin))
    for runtime in analysis.runtimes:
        copies = (copy for cell in runtime.cells for copy in cell.copies)
        for row in (*runtime.controls, *copies):
            conclusions.add_control(row, runtime.cells)

    ended = manifest.get("adaptive", {}).get("ended", {}).get("why")
    stops = [(row, conclusions.stops.get(row.id)) for row in summaries]
    return Adaptive(
        rows=tuple((row, stop is None, _reason(stop, ended)) for row, stop in stops),
        concluded=conclusions.lines(is_concluded=True),
        unsettled=conclusions.lines(is_concluded=False),
        ended=ended,
        most=schedule.looks[-1],
    )


def adaptive_document(campaign: Adaptive) -> dict[str, Any]:
    return {
        "ended": campaign.ended,
        "sentence": campaign.sentence,
        "max_runs": campaign.most,
        "concluded": [line.text for line in campaign.concluded],
        "not_concluded": [line.text for line in campaign.unsettled],
        "configurations": [
            {
                "configuration_hash": row.identity.configuration_hash,
                "label": row.identity.label,
                "load": load_text(row.identity),
                "runs": len(row.runs),
                "goes_on": goes_on,
                "reason": reason,
            }
            for row, goes_on, reason in campaign.rows
        ],
    }


def adaptive(analysis: Analysis) -> Section | None:
    campaign = adaptive_of(analysis)
    if campaign is None:
        return None
    rows = []
    for row, _, reason in campaign.rows:
        identity = row.identity
        run_count = len(row.runs)
        cells = (
            *named(identity.label, load_text(identity)),
            number(f"{run_count}", run_count),
            *named(reason),
        )
        rows.append(TableRow(row.id, cells))
    columns = (*words("Target", "Load"), Column("Runs"), *words("Why it stopped"))
    lists = (("Concluded", campaign.concluded), ("Not decided", campaign.unsettled))
    return Section(
        "adaptive",
        "How many runs it took",
        campaign.sentence,
        text=("The confidence levels allow for looking at the runs more than once.",),
        tables=(table_of("adaptive-rows", columns, rows),),
        lists=tuple((title, lines) for title, lines in lists if lines),
    )
