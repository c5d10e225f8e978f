"""A comparison as cases of JUnit: one for each pair of rows, or for each figure of a gate."""

from report.analysis.gate import GateRow
from report.analysis.texts import interval_text, load_text
from report.base.format import decimals
from report.compare.compare_sides import Outcome
from report.compare.matched_rows import RowComparison
from report.compare.promise_changes import PromiseChange
from report.export.junit import Case, Mark
from report.statistics.comparison import Comparison


def comparison_cases(outcome: Outcome) -> list[Case]:
    """The cases of the comparison: a regression is a failure, what is not decided is skipped."""
    suite = f"{outcome.new.text} against {outcome.base.text}"
    if outcome.gate is None:
        return [_row_case(suite, outcome, row) for row in outcome.row_comparisons]
    figures = [
        _figure_case(suite, row, is_failure=outcome.verdict == "fails") for row in outcome.gate.rows
    ]
    return [*figures, *(_promise_case(suite, change) for change in outcome.promises)]


def _text_of(comparison: Comparison) -> str:
    """The ratio with its interval and the conclusion, or why there is none."""
    if comparison.ratio is None:
        return comparison.reason or comparison.statement
    interval = ""
    if comparison.interval:
        interval = interval_text(comparison.interval, lambda ratio: decimals(ratio, 3))
    figure = " ".join(filter(None, (f"{decimals(comparison.ratio, 3)}×", interval)))
    return f"{figure}: {comparison.statement}"


def _row_case(suite: str, outcome: Outcome, row: RowComparison) -> Case:
    pair = row.matched
    mark: Mark | None = None
    if not pair.concludes or not row.comparison.concluded:
        mark = "skipped"
    elif row.comparison.status == "worse":
        mark = "failure"
    names = (outcome.metric.text, pair.new.identity.label, load_text(pair.new.identity))
    return Case(suite=suite, name=", ".join(names), mark=mark, message=_text_of(row.comparison))


def _figure_case(suite: str, row: GateRow, *, is_failure: bool) -> Case:
    mark: Mark | None = None if row.gated.bounded else "skipped"
    if is_failure and row.comparison.status == "worse":
        mark = "failure"
    name = f"{row.name}, {load_text(row.new.identity)}"
    return Case(suite=suite, name=name, mark=mark, message=_text_of(row.comparison))


def _promise_case(suite: str, change: PromiseChange) -> Case:
    marks: dict[str, Mark] = {"broke": "failure", "not checked": "error"}
    message = f"{change.promise} ({change.text})"
    return Case(suite=suite, name=change.check, mark=marks.get(change.kind), message=message)
