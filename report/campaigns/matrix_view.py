"""The page's matrix of targets and questions. Each cell holds what the newest campaign found."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd
from msgspec import Struct

from report.base.format import ABSENT, count, plural
from report.campaigns.matrix import Matrix
from report.campaigns.matrix_answers import Answer
from report.campaigns.matrix_conditions import ANY, DEFAULT_CONDITION
from report.campaigns.matrix_sentences import first_sentences
from report.campaigns.matrix_targets import Key
from report.campaigns.questions import (
    CHECKS,
    COST,
    FIRST_QUESTIONS,
    QUESTIONS,
    RUN,
    STATED_RATE,
)
from report.sections import section
from report.sections.section import Section, TableCell, TableRow

CAPTION = (
    "Each cell is what the newest campaign under its condition found, and leads to its report. The hint of "
    "the cell has the interval, or the range over the runs, with machine, date and versions. Rows are "
    "sorted by the CPU time of Node. Figures of two campaigns are not compared: a ratio is one within its "
    "campaign. The p99 is that at "
    f"{count(STATED_RATE)} requests/s, or at the rate of the condition."
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
    condition_without_load: str
    row_conditions: frozenset[str]
    """The conditions whose answers give it a row."""

    @property
    def cell_conditions(self) -> tuple[str, ...]:
        """The conditions of the answers that its cells show, of which the first one with an answer
        counts."""
        return (self.condition, self.condition_without_load, ANY)


def _views(matrix: Matrix, answers: pd.DataFrame) -> list[_View]:
    """The views, beginning with that of the default condition, then those with the most cells.

    Answers that do not depend on the load have rows in the first view alone. Answers that hold at
    any load have them in the first view of their condition without a load."""
    cells = answers.drop_duplicates(["condition", "key", "question"])["condition"]
    sizes = {
        str(condition): int(size) for condition, size in cells[cells.ne(ANY)].value_counts().items()
    }
    ordered = sorted(
        sizes, key=lambda condition: (condition != DEFAULT_CONDITION, -sizes[condition], condition)
    ) or [ANY]
    text_without_load = {
        condition.text: condition.text_without_load for condition in matrix.conditions.values()
    }
    first_condition_of = {
        without_load: condition
        for condition in reversed(ordered)
        if (without_load := text_without_load.get(condition)) in sizes
    }
    shown_conditions = [condition for condition in ordered if condition not in first_condition_of]

    views = []
    for condition in shown_conditions:
        without_load = text_without_load.get(condition) or condition
        row_conditions = {condition}
        if condition == shown_conditions[0]:
            row_conditions.add(ANY)
        if first_condition_of.get(without_load) == condition:
            row_conditions.add(without_load)
        views.append(_View(condition, without_load, frozenset(row_conditions)))
    return views


def _keys(view: _View, answers: pd.DataFrame) -> list[Key]:
    """The targets of a view, the cheapest first and those without a cost last."""
    keys = set(answers.loc[answers["condition"].isin(list(view.row_conditions)), "key"])
    is_cost = answers["condition"].eq(view.condition) & answers["question"].eq(COST)
    newest = answers[is_cost].drop_duplicates("key")
    costs = {answer.key: answer.value for answer in newest["answer"]}
    return sorted(keys, key=lambda key: (costs.get(key, math.inf), key))


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


class _Cells:
    """Makes the cells of a matrix."""

    def __init__(
        self, matrix: Matrix, answers: pd.DataFrame, target_texts: Mapping[Key, Sequence[str]]
    ) -> None:
        self._matrix = matrix
        self._target_texts = target_texts
        self._answers: dict[tuple[str, Key, str], list[Answer]] = {}
        """The answers by condition, target and question, the newest first."""
        for answer in answers["answer"]:
            place = (answer.condition, answer.key, answer.question)
            self._answers.setdefault(place, []).append(answer)

    def of_row(self, view: _View, key: Key) -> Iterator[TableCell]:
        """The cells of a target in a view, in the order of the questions."""
        for question in QUESTIONS:
            places = ((condition, key, question) for condition in view.cell_conditions)
            answers = next(
                (self._answers[place] for place in places if place in self._answers), None
            )
            yield _cell(answers) if answers else self._empty_cell(view.condition, key, question)

    def _empty_cell(self, condition: str, key: Key, question: str) -> TableCell:
        """A cell without an answer, whose hint is the command that would fill it, or the reason for
        which none would."""
        target_texts = self._target_texts[key]
        if reason := self._matrix.reasons.reason_for(key, target_texts, question):
            return TableCell(ABSENT, kind="number", sort="", hint=f"does not apply: {reason}")

        command = QUESTIONS[question].fill.format(target_texts[0])
        flags = f" --checks {question}" if question in CHECKS else ""
        if QUESTIONS[question].fill == RUN:
            known_condition = self._matrix.conditions.get(condition)
            flags = known_condition.flags if known_condition else ""
        hint = f"to fill it: ratelimit-bench {command}{flags}"
        return TableCell(ABSENT, kind="number", sort="", hint=hint)


def view_of(matrix: Matrix) -> MatrixView:
    """The matrix with a row for each target and condition."""
    answers = matrix.frame()
    target_texts = matrix.target_texts()
    cells_of = _Cells(matrix, answers, target_texts)
    views = _views(matrix, answers)

    rows: list[TableRow] = []
    values: dict[str, dict[str, str]] = {}
    for view, key in [(shown, key) for shown in views for key in _keys(shown, answers)]:
        row_id = f"m{len(rows) + 1}"
        cells = tuple(cells_of.of_row(view, key))
        label, *store_cells = section.named(key.label, key.store, key.topology)
        first_cells = cells[:FIRST_QUESTIONS]
        other_cells = cells[FIRST_QUESTIONS:]
        row = (label, *first_cells, *store_cells, *other_cells, TableCell(view.condition))
        rows.append(TableRow(row_id, row))
        values[row_id] = {
            "condition": view.condition,
            "client": re.split(r"[@+~:]", key.label)[0],
            "store": key.store,
            "topology": key.topology,
        }
    return MatrixView(
        first_sentences(matrix.headlines, answers, target_texts),
        _section(rows, matrix.cold),
        _filters(values.values(), [view.condition for view in views]),
        values,
    )


def _cold_note(cold: Mapping[str, str]) -> str:
    """Names the targets that were measured cold at the stated rate; empty without one."""
    if not cold:
        return ""
    names = ", ".join(f"{label} ({date})" for label, date in cold.items())
    return (
        f"CPU at {count(STATED_RATE)}/s is that of a warm target. Open loops at this rate whose warm-up was "
        f"not steady are cold and not used: {names}."
    )


def _section(rows: Sequence[TableRow], cold: Mapping[str, str]) -> Section:
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
            *filter(None, [_cold_note(cold)]),
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
