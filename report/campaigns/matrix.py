"""The matrix of targets and questions. Each cell holds what the newest campaign found."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd
from msgspec import Struct

from report.analysis import column
from report.analysis.campaign_analysis import Analysis
from report.analysis.cells import Cell
from report.analysis.column import Column
from report.analysis.figures import PARTS, consumer_cpu, node_cpu, p99
from report.analysis.frames import table
from report.analysis.summary import Summary
from report.analysis.texts import AT_FULL_LOAD, LOAD_FIELDS, load_text
from report.base.format import ABSENT, count, joined, microseconds, plural
from report.campaigns.questions import (
    BURST,
    CHECKS,
    COST,
    FAULT_FIGURES,
    FIRST_QUESTIONS,
    OF_LIMITERS,
    QUESTIONS,
    RUN,
    STATED_RATE,
)
from report.results.generated.records import Audit, Finding
from report.results.load import BROKEN, HOLDS, NOT_PROMISED, SKIPPED
from report.results.model import Identity, fault_title, short_label
from report.sections import section
from report.sections.audit import bounds, findings_of, verdict
from report.sections.cpu import part_kinds
from report.sections.script_text import DEFAULT_LIMITER
from report.sections.section import Section, TableCell, TableRow
from report.statistics.decision import Comparison

#: The condition of answers that do not depend on the load.
ANY = ""

#: The condition that is shown first.
DEFAULT_CONDITION = "light · realistic · 50 connections"

CAPTION = (
    "Each cell is what the newest campaign under its condition found, with its interval, or the range over "
    "its runs; it leads to the report. Machine, date and versions stand in its hint. Figures of two "
    "campaigns are not compared: a ratio is one within its campaign. The p99 is that at "
    f"{count(STATED_RATE)} requests/s, or at the rate of the condition."
)

Ends = tuple[float | None, float | None]


class Source(Struct, frozen=True):
    """The campaign or audit that an answer comes from."""

    started_at: str
    machine: str
    link: str


class Key(Struct, frozen=True, order=True):
    """A target as its row shows it."""

    label: str
    store: str
    topology: str


class Answer(Struct, frozen=True, kw_only=True):
    """What a campaign or an audit found about a question."""

    condition: str
    key: Key
    question: str
    text: str
    interval: str
    source: Source
    versions: str = ""
    good: bool | None = None
    """Whether a promise is kept. None where the answer is a figure, or nobody promises it."""
    ends: tuple[float, float] | None = None
    """The ends of the interval, or of the range over the runs, in the unit of the question."""
    value: float | None = None
    """The figure in the unit of the question. None where the answer is a promise."""

    def is_apart_from(self, other: "Answer") -> bool:
        """Whether the intervals of both answers do not overlap."""
        if self.ends is None or other.ends is None:
            return False
        return self.ends[1] < other.ends[0] or other.ends[1] < self.ends[0]


def _member(name: str) -> column.Read:
    return lambda answer: getattr(answer, name)


#: The table of all answers. A cell of the matrix has those with its condition, key and question.
ANSWER_COLUMNS: Mapping[str, Column] = {
    "condition": column.text(_member("condition")),
    "key": column.thing(_member("key")),
    "question": column.text(_member("question")),
    "started_at": column.text(lambda answer: answer.source.started_at),
    "answer": column.thing(lambda answer: answer),
}


@dataclass(slots=True)
class Matrix:
    """Answers of campaigns and audits, in the order in which they were added."""

    answers: list[Answer] = field(default_factory=list)
    sentences: list[tuple[int, str, str]] = field(default_factory=list)
    """Each sentence of a campaign, after the number of targets it is about and the campaign's
    start."""
    targets: dict[Key, list[str]] = field(default_factory=dict)
    """The texts by which commands name a target."""
    loads: dict[str, str] = field(default_factory=dict)
    """The flags of a condition."""
    works: dict[str, str] = field(default_factory=dict)
    """The condition without its load, by condition."""
    not_applicable: dict[tuple[Key, str], str] = field(default_factory=dict)
    """The reason for which a question does not apply to a target."""
    skipped: dict[tuple[str, str], str] = field(default_factory=dict)
    """The reason for which a plan skipped a target, by its text in commands and the question."""

    def frame(self) -> pd.DataFrame:
        """The table of answers, with the newest first."""
        answers = table(ANSWER_COLUMNS, self.answers)
        return answers.sort_values("started_at", ascending=False, kind="stable")

    def add_campaign(self, analysis: Analysis, source: Source) -> None:
        """Adds the medians over its runs, each with its interval or its range over the runs."""
        for part in analysis.runtimes:
            for ranking in (ranking for cell in part.cells for ranking in cell.rankings):
                for row in ranking.summaries:
                    versus_base = None if ranking.open_loop else ranking.versus_base(row)
                    self._add_row(row, versus_base, source)
            for control in part.controls:
                self._add_row(control, None, source)

        for skip in (analysis.campaign.manifest or {}).get("plan", {}).get("skips", ()):
            if skip["reason"].startswith("store-restart"):
                self.skipped |= {
                    (skip["asked"], question): skip["reason"] for question in FAULT_FIGURES
                }

        self.sentences += _sentences(analysis, source)
        self._add_highest_rates(analysis, source)
        self._add_memory(analysis, source)
        self._add_faults(analysis, source)

    def _add_highest_rates(self, analysis: Analysis, source: Source) -> None:
        for search in analysis.max_rates:
            estimate = search.estimate
            if estimate and estimate.estimate:
                ends = (estimate.low, estimate.high)
                condition = _work(search.identity)
                self._add(condition, search.identity, "highest", estimate.estimate, ends, source)

    def _add_memory(self, analysis: Analysis, source: Source) -> None:
        for memory in analysis.memory:
            if memory.slopes:
                line = memory.slopes[0].line
                self._add(ANY, memory.identity, "memory", line.slope, (line.low, line.high), source)

    def _add_faults(self, analysis: Analysis, source: Source) -> None:
        for case in (case for group in analysis.faults for case in group.cases):
            if fault_title(case.fault) != "store-restart":
                continue
            for question, figure in FAULT_FIGURES.items():
                if spread := case.spread(figure):
                    ends = (spread.low, spread.high)
                    self._add(ANY, case.identity, question, spread.middle, ends, source)

    def _add(
        self,
        condition: str,
        identity: Identity,
        question: str,
        value: float | None,
        ends: Ends | None,
        source: Source,
        versions: str = "",
    ) -> None:
        """Adds a figure with its interval, unless the figure is None."""
        if value is None:
            return

        show = QUESTIONS[question].show
        low, high = ends or (None, None)
        known_ends = None if low is None or high is None else (low, high)
        interval = ""
        if known_ends:
            low_text, high_text = map(show, known_ends)
            interval = f"{low_text}–{high_text}" if low_text != high_text else ""

        key = _key(identity)
        self._add_name(key, identity.label)
        self.answers.append(
            Answer(
                condition=condition,
                key=key,
                question=question,
                text=show(value),
                interval=interval,
                source=source,
                versions=versions,
                ends=known_ends,
                value=value,
            )
        )

    def _add_name(self, key: Key, text: str) -> None:
        names = self.targets.setdefault(key, [])
        if text not in names:
            names.append(text)

    def _add_row(self, summary: Summary, versus_base: Comparison | None, source: Source) -> None:
        identity = summary.identity
        if identity.copy or not summary.has_figures:
            return

        is_at_stated_rate = identity.rate_per_second == STATED_RATE
        condition = _work(identity) if is_at_stated_rate else _condition(identity)
        self.loads.setdefault(condition, _load_flags(identity))
        self.works.setdefault(_condition(identity), _work(identity))
        self._add_not_applicable(summary)

        versions = _versions_text(summary)
        if versus_base and versus_base.ratio and (interval := versus_base.interval):
            ends = (interval.low, interval.high)
            self._add(condition, identity, "ratio", versus_base.ratio, ends, source, versions)

        # Without a limiter nothing is decided, so the matrix has the cost of a request instead.
        node = consumer_cpu if identity.ceiling else node_cpu
        costs = {"node": node, "service": PARTS["service"], "store": PARTS["store"]}
        figures = {"p99": p99} if identity.open_loop else costs
        for question, figure in figures.items():
            median = summary.figure_of(figure)
            self._add(condition, identity, question, median.value, median.range, source, versions)

    def _add_not_applicable(self, summary: Summary) -> None:
        identity = summary.identity
        key = _key(identity)
        for part in {"service", "store"} - set(part_kinds(identity)):
            self.not_applicable[key, part] = f"it has no {part}"
        if summary.reference:
            self.not_applicable[key, "ratio"] = "it is the reference"
        if identity.ceiling:
            self.not_applicable |= {
                (key, question): "it has no store" for question in FAULT_FIGURES
            }
        if identity.decided_by == "nothing":
            self.not_applicable |= {
                (key, question): "it limits nothing" for question in OF_LIMITERS
            }

    def add_audit(self, audit: Audit, link: str) -> None:
        """Adds what the audit saw of promises about exactness."""
        source = Source(audit.started_at, audit.runtime, link)
        for audited in audit.targets:
            target = audited.target
            findings = findings_of(audited)
            # A target without a store has an empty store and topology, as in a campaign.
            has_store = target.topology != "none"
            label = short_label(target.label, target.topology)
            key = Key(label, target.store, target.topology) if has_store else Key(label, "", "")
            self._add_name(key, target.text.replace(":standalone", ""))
            for check, finding in findings.items():
                if check not in CHECKS:
                    continue
                if finding.status in (HOLDS, BROKEN, NOT_PROMISED):
                    self.answers.append(_answer_of(finding, key, check, source))
                elif finding.status == SKIPPED:
                    self.not_applicable[key, check] = finding.reason or ""

    def empty_cell(self, condition: str, key: Key, question: str) -> TableCell:
        """A cell without an answer, whose hint is the command that would fill it, or the reason for
        which none would."""
        skips = (self.skipped.get((name, question)) for name in self.targets[key])
        if reason := self.not_applicable.get((key, question)) or next(filter(None, skips), None):
            return TableCell(ABSENT, kind="number", sort="", hint=f"does not apply: {reason}")

        command = QUESTIONS[question].fill.format(self.targets[key][0])
        flags = f" --checks {question}" if question in CHECKS else ""
        if QUESTIONS[question].fill == RUN:
            flags = self.loads.get(condition, "")
        hint = f"to fill it: ratelimit-bench {command}{flags}"
        return TableCell(ABSENT, kind="number", sort="", hint=hint)

    def first_screen(self, answers: pd.DataFrame) -> list[str]:
        """The sentences at the top of the page, which are at most two."""
        sentences = [text for *_, text in sorted(self.sentences, reverse=True)[:1]]
        bursts = answers[answers["question"].eq(BURST)].drop_duplicates(["condition", "key"])
        promised = [answer for answer in bursts["answer"] if answer.good is not None]
        if promised:
            broken = sorted({self.targets[answer.key][0] for answer in promised if not answer.good})
            exceptions = f", not {joined(broken)}" if broken else ""
            kept_count = sum(bool(answer.good) for answer in promised)
            sentences.append(
                f"Exact when many ask at once: {kept_count} of {len(promised)} targets{exceptions}."
            )
        return sentences


def _answer_of(finding: Finding, key: Key, check: str, source: Source) -> Answer:
    text, _, details = verdict(finding).partition("; ")
    return Answer(
        condition=ANY,
        key=key,
        question=check,
        text=text,
        interval=", ".join(filter(None, [details, bounds(finding)])),
        source=source,
        good=None if finding.status == NOT_PROMISED else finding.status == HOLDS,
    )


def _versions_text(summary: Summary) -> str:
    versions = next((run.versions for run in summary.selected_first if run.versions), {})
    parts = [part for part in ("client", "limiter", "store") if versions.get(part)]
    return ", ".join(f"{part} {versions[part]}" for part in parts)


def _sentences(analysis: Analysis, source: Source) -> Iterator[tuple[int, str, str]]:
    """The sentence about what clients on a standalone store cost, beside a server without a
    limiter.

    It comes with the number of clients and the start of the campaign, by which it is chosen."""
    for cell in analysis.cells[:1]:
        costs = sorted(_node_costs(cell))
        costs_without_limiter = [
            cost
            for row in cell.controls
            if row.identity.client == "none" and (cost := row.figure_of(consumer_cpu).value)
        ]
        if cell.identity.open_loop or not costs_without_limiter:
            continue
        if len({client for *_, client in costs}) < 2:
            continue

        least, cheapest, _ = costs[0]
        most, dearest, _ = costs[-1]
        text = (
            f"{AT_FULL_LOAD.capitalize()} with a standalone store {cheapest} costs Node least, "
            f"{microseconds(least)} µs of CPU a decision, {dearest} most, {microseconds(most)} µs; a server "
            f"without a limiter spends {microseconds(costs_without_limiter[0])} µs a request "
            f"({source.machine}, {source.started_at[:10]})."
        )
        yield len(costs), source.started_at, text


def _node_costs(cell: Cell) -> Iterator[tuple[float, str, str]]:
    """The cost in µs per decision, label and client of each row of the default limiter on a
    standalone store."""
    for row in cell.summaries:
        identity = row.identity
        is_default = identity.limiter == DEFAULT_LIMITER and not identity.options
        cost = row.figure_of(node_cpu).value
        if identity.topology == "standalone" and is_default and cost is not None:
            yield cost, identity.short_label, identity.client


#: The fields of a load except its length, on which no answer depends.
_PARTS = tuple(part for part in LOAD_FIELDS if part.name != "Length" and not part.only_if_differing)


def _condition(identity: Identity) -> str:
    """The condition of a row, such as `light · realistic · 50 connections`."""
    return load_text(identity, [part for part in _PARTS if part.read(identity) != part.default])


def _work(identity: Identity) -> str:
    """A condition without its load, such as `light · realistic`."""
    parts = [part for part in _PARTS if part.name != "Load" and part.read(identity) != part.default]
    return load_text(identity, parts)


def _key(identity: Identity) -> Key:
    if identity.ceiling:
        return Key(identity.short_label, "", "")
    return Key(identity.short_label, identity.store_text, identity.topology or "")


def _load_flags(identity: Identity) -> str:
    """The flags that differ from their default. The rate is not among them, because CPU times are
    those of closed loops."""
    flags = {
        "layer": (identity.layer, "server"),
        "workload": (identity.workload, "light"),
        "traffic": (identity.traffic, "realistic"),
        "concurrency": (identity.connections, 50),
        **{name: (number or 1, 1) for name, number in identity.counts.items()},
        "cost": (identity.limits[3] if identity.limits else 1, 1),
    }
    return "".join(
        f" --{name} {value}" for name, (value, default) in flags.items() if value != default
    )


def _cell(answers: Sequence[Answer]) -> TableCell:
    """The newest answer. Its hint has the interval, and an answer of another machine if their
    intervals do not overlap."""
    newest, *older = answers
    others = [
        f"{answer.text} on {answer.source.machine}"
        for answer in older
        if answer.source.machine != newest.source.machine and answer.is_apart_from(newest)
    ]
    source_texts = [newest.source.machine, newest.source.started_at[:10], newest.versions]
    older_text = f"{plural(len(older), 'older campaign')} in the list below" if older else ""
    kind_ending = {None: "", True: " holds", False: " broken"}[newest.good]
    return TableCell(
        newest.text,
        kind=f"number{kind_ending}",
        sort=newest.text.replace(",", "").rstrip("×/s"),
        link=newest.source.link,
        hint=", ".join(filter(None, [newest.interval, *others[:1], *source_texts, older_text])),
    )


class MatrixView(Struct, frozen=True):
    sentences: tuple[str, ...]
    section: Section
    filters: Mapping[str, Sequence[str]]
    rows: Mapping[str, Mapping[str, str]]
    """The value of each row for each filter."""


_FILTERS = ("condition", "client", "store", "topology")


class _View(Struct, frozen=True):
    """A condition that is shown, and the conditions of the answers in its rows."""

    condition: str
    work: str
    """The condition without its load."""
    places: frozenset[str]
    """The conditions of the answers for which it has a row."""


def _views(matrix: Matrix, answers: pd.DataFrame) -> list[_View]:
    """The views, beginning with that of the default condition, then those with the most cells.

    Answers that do not depend on the load have rows in the first view alone. Answers that hold for
    a work at any load have them in the first view of its work."""
    cells = answers.drop_duplicates(["condition", "key", "question"])["condition"]
    sizes = {
        str(condition): int(size) for condition, size in cells[cells.ne(ANY)].value_counts().items()
    }
    ordered = sorted(
        sizes, key=lambda condition: (condition != DEFAULT_CONDITION, -sizes[condition], condition)
    ) or [ANY]
    first_condition_of_work = {
        work: condition
        for condition in reversed(ordered)
        if (work := matrix.works.get(condition)) in sizes
    }
    shown_conditions = [
        condition for condition in ordered if condition not in first_condition_of_work
    ]

    views = []
    for condition in shown_conditions:
        work = matrix.works.get(condition, condition)
        places = {condition}
        if condition == shown_conditions[0]:
            places.add(ANY)
        if first_condition_of_work.get(work) == condition:
            places.add(work)
        views.append(_View(condition, work, frozenset(places)))
    return views


def _keys(view: _View, answers: pd.DataFrame) -> list[Key]:
    """The targets of a view, the cheapest first and those without a cost last."""
    keys = set(answers.loc[answers["condition"].isin(list(view.places)), "key"])
    is_cost = answers["condition"].eq(view.condition) & answers["question"].eq(COST)
    newest = answers[is_cost].drop_duplicates("key")
    costs = {answer.key: answer.value for answer in newest["answer"]}
    return sorted(keys, key=lambda key: (costs.get(key, math.inf), key))


def view_of(matrix: Matrix) -> MatrixView:
    """The matrix with a row for each target and condition."""
    answers = matrix.frame()
    by_cell = (
        answers.groupby(["condition", "key", "question"], sort=False)["answer"].agg(list).to_dict()
    )
    views = _views(matrix, answers)

    rows: list[TableRow] = []
    values: dict[str, dict[str, str]] = {}
    view_keys = [(shown, key) for shown in views for key in _keys(shown, answers)]
    for view, key in view_keys:
        row_id = f"m{len(rows) + 1}"
        cells = []
        for question in QUESTIONS:
            places = ((place, key, question) for place in (view.condition, view.work, ANY))
            cell_answers = next((by_cell[place] for place in places if place in by_cell), None)
            cells.append(
                _cell(cell_answers)
                if cell_answers
                else matrix.empty_cell(view.condition, key, question)
            )

        label, *place_cells = section.named(key.label, key.store, key.topology)
        first_cells = cells[:FIRST_QUESTIONS]
        other_cells = cells[FIRST_QUESTIONS:]
        row = (label, *first_cells, *place_cells, *other_cells, TableCell(view.condition))
        rows.append(TableRow(row_id, row))
        values[row_id] = {
            "condition": view.condition,
            "client": re.split(r"[@+~:]", key.label)[0],
            "store": key.store,
            "topology": key.topology,
        }
    return MatrixView(
        tuple(matrix.first_screen(answers)),
        _section(rows),
        _filters(values.values(), [view.condition for view in views]),
        values,
    )


def _section(rows: Sequence[TableRow]) -> Section:
    figures = [section.Column(question.name, question.unit) for question in QUESTIONS.values()]
    columns = (
        *section.words("Target"),
        *figures[:FIRST_QUESTIONS],
        *section.words("Store", "Topology"),
        *figures[FIRST_QUESTIONS:],
        *section.words("Condition"),
    )
    names_by_command: dict[str, dict[str, None]] = {}
    for question in QUESTIONS.values():
        command = question.fill.format("TARGET")
        names_by_command.setdefault(command, {})[question.name] = None
    commands = "; ".join(
        f"ratelimit-bench {command}: {', '.join(names)}"
        for command, names in names_by_command.items()
    )
    return Section(
        "matrix",
        "All targets",
        tables=(section.Table("matrix-rows", "", columns, (section.TableGroup(tuple(rows)),)),),
        notes=(
            CAPTION,
            f"The hint of an empty cell is the command that would fill it. {commands}.",
        ),
        open=True,
    )


def _filters(
    rows: Iterable[Mapping[str, str]], conditions: Sequence[str]
) -> dict[str, Sequence[str]]:
    """The filters in which rows differ, each with its values. Conditions have the order of the
    views."""
    offered = {name: sorted({row[name] for row in rows if row[name]}) for name in _FILTERS}
    filters: dict[str, Sequence[str]] = {
        name: values for name, values in offered.items() if len(values) > 1
    }
    if "condition" in filters:
        filters["condition"] = conditions
    return filters
