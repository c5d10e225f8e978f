"""What disturbed a campaign as a whole: the CPU time of other programs, and rounds that do not
count."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.base.format import percent, plural
from report.results.model import FOREIGN_CPU_RULE, Campaign, Run, turns_of
from report.statistics.samples import Place

#: Other programs are mentioned when they use at least this % of one CPU (rule M25).
_FOREIGN_CPU_PERCENT: float = CONSTANTS["foreign_cpu_percent"]

#: From this share of disturbed rounds on, other programs are what keeps comparisons open.
_COMMON_SHARE = 1 / 3

#: The headline names at most so many reasons of spoiled rounds.
_MAX_REASONS = 2


class ForeignLoad(Struct, frozen=True):
    """The CPU time that other programs used, over rounds by turns or else over runs."""

    percents: tuple[float, ...]
    """In % of one CPU, of each round or run for which it is known."""
    disturbed_percents: tuple[float, ...]
    """Those of the rounds or runs that it makes suspect."""
    total: int
    """The number of all rounds or runs."""
    unit: str
    """`round`, `group` or `run`."""

    @property
    def is_common(self) -> bool:
        return len(self.disturbed_percents) >= max(1, _COMMON_SHARE * self.total)

    @property
    def share_text(self) -> str:
        """A text such as `4 of 7 rounds`."""
        return f"{len(self.disturbed_percents):,} of {plural(self.total, self.unit)}"

    @property
    def sentence(self) -> str:
        """The sentence of a headline; empty where few rounds or runs are suspect for it."""
        if not self.is_common:
            return ""
        used = percent(median(self.disturbed_percents), 0)
        return f"Other programs used {used} of one CPU in {self.share_text}."


def foreign_loads(campaign: Campaign) -> tuple[ForeignLoad, ...]:
    """The load beside the runs that were alone, and beside the rounds by turns."""
    measured = [run for run in campaign.runs if run.measured]
    alone = [run for run in measured if not turns_of(run)]
    # When targets take turns, all runs of a group share one figure.
    groups = list({run.place or run.file: run for run in measured if turns_of(run)}.values())
    loads = (_load(alone, "run"), _load(groups, _unit(groups)))
    return tuple(load for load in loads if load.total)


def _unit(runs: Iterable[Run]) -> str:
    return "group" if any(run.place and run.place[1] > 1 for run in runs) else "round"


def _load(runs: Sequence[Run], unit: str) -> ForeignLoad:
    percents = [(run, run.measured.foreign_cpu_percent) for run in runs if run.measured]
    known = [(run, value) for run, value in percents if value is not None]
    return ForeignLoad(
        percents=tuple(value for _, value in known),
        disturbed_percents=tuple(value for run, value in known if _is_disturbed(run)),
        total=len(runs),
        unit=unit,
    )


def _is_disturbed(run: Run) -> bool:
    return any(reason.rule == FOREIGN_CPU_RULE for reason in run.reasons)


def foreign_cpu_notices(campaign: Campaign) -> Iterator[str]:
    for load in foreign_loads(campaign):
        highest = percent(max(load.percents, default=0), 0)
        if load.unit == "run" and load.disturbed_percents:
            yield (
                f"Other programs disturbed {load.share_text}: they used up to {highest} of one CPU "
                "meanwhile. Measure again on a machine where nothing else runs."
            )
        elif load.unit != "run" and max(load.percents, default=0) >= _FOREIGN_CPU_PERCENT:
            suspect = f" In {load.share_text} their share makes the runs suspect."
            yield (
                f"Beside the rounds other programs used {percent(median(load.percents), 0)} of one CPU, "
                f"at most {highest}. By turns all targets of a round meet the same."
                f"{suspect if load.disturbed_percents else ''}"
            )


def spoiled_rounds_sentence(campaign: Campaign) -> str:
    """Says how many rounds by turns do not count, and why; empty if all of them count."""
    rounds: dict[Place, list[Run]] = {}
    for run in campaign.runs:
        if turns_of(run) and run.place:
            rounds.setdefault(run.place, []).append(run)

    spoiled = [runs for runs in rounds.values() if all(map(_is_invalid, runs))]
    if not spoiled:
        return ""
    reasons = dict.fromkeys(
        reason.text
        for runs in spoiled
        for run in runs[:1]
        for reason in run.reasons
        if reason.severity == "invalid"
    )
    verb = "does" if len(spoiled) == 1 else "do"
    causes = "; ".join(list(reasons)[:_MAX_REASONS])
    total = plural(len(rounds), _unit(campaign.runs))
    return f"{len(spoiled)} of {total} {verb} not count: {causes}."


def _is_invalid(run: Run) -> bool:
    return run.measured is not None and run.verdict == "invalid"


def headline_sentences(campaign: Campaign) -> tuple[str, ...]:
    """What a reader of the headline must know about the circumstances."""
    sentences = [load.sentence for load in foreign_loads(campaign)]
    return tuple(filter(None, (*sentences, spoiled_rounds_sentence(campaign))))
