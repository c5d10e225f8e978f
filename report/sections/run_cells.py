"""The cells and texts of every table of runs: verdict, reasons and file."""

from collections.abc import Iterable
from urllib.parse import quote

from report.results.generated.records import Reason
from report.results.model import FOREIGN_CPU_RULE, Run, turns_of
from report.sections import section

NO_FILE = "planned, but no result file was found"

#: The text for a run in which the target did not serve its load, by its outcome.
SPOILED = {"failed": "failed its load", "overloaded": "overloaded"}


def link_cell(file: str) -> section.TableCell:
    """A link to a raw result; empty without a file."""
    if not file:
        return section.TableCell("")
    return section.TableCell("JSON", link=quote(f"../{file}"), hint=f"Raw result {file}")


def run_reasons(run: Run) -> tuple[str, ...]:
    """The failure, outcome and reasons of a run. Reasons of its whole round are only named by their
    rule, see `round_reasons`."""
    texts = [text for text in (run.failure, run.outcome_text) if text]
    shared = reasons_of_round(run)
    if run.place:
        texts += [f"{reason.rule}: see round {run.place[0]}" for reason in shared]
    texts += [f"{reason.rule}: {reason.text}" for reason in run.reasons if reason not in shared]
    return tuple(texts)


def reasons_of_round(run: Run) -> list[Reason]:
    """The reasons that all runs of its round share when targets take turns: the CPU time of other
    programs."""
    if not turns_of(run) or not run.place:
        return []
    return [reason for reason in run.reasons if reason.rule == FOREIGN_CPU_RULE]


def round_reasons(runs: Iterable[Run]) -> tuple[str, ...]:
    """The shared reasons of each round and group, once: `Round 3: M25: other programs used …`."""
    runs = list(runs)
    has_several_groups = any(run.place[1] != 1 for run in runs if run.place)
    texts: dict[tuple[int, int, str], str] = {}
    for run in runs:
        number, group = run.place or (run.run, 1)
        round_name = f"Round {number}, group {group}" if has_several_groups else f"Round {number}"
        for reason in reasons_of_round(run):
            texts.setdefault(
                (number, group, reason.rule), f"{round_name}: {reason.rule}: {reason.text}"
            )
    return tuple(text for _, text in sorted(texts.items()))


def run_verdict(run: Run) -> section.TableCell:
    """The verdict of a run, or its status where it was not measured."""
    if run.measured:
        return section.TableCell(run.verdict, kind=f"verdict {run.verdict}")
    return section.TableCell(run.record.status, kind="verdict invalid")


def run_cells(run: Run, notes: Iterable[str] = ()) -> tuple[section.TableCell, ...]:
    """The cells of a run: its verdict, its reasons with `notes`, and its file."""
    return (
        run_verdict(run),
        section.reasons_cell((*run_reasons(run), *notes)),
        link_cell(run.file),
    )
