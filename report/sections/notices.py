"""What a reader must know of what is not on the page."""

from statistics import median

from report.base.format import percent, plural
from report.results.model import Campaign

#: So many excluded files are named; beyond it they are counted.
MAX_NAMED = 100
#: Other programs are named from this % of one CPU on (rule M25).
_FOREIGN_CPU_PERCENT = 10


def _foreign_cpu(campaign: Campaign) -> list[str]:
    measured = [(run, run.measured.foreign_cpu_percent) for run in campaign.runs if run.measured]
    found = []
    disturbed = [used or 0 for run, used in measured if any(reason.rule == "M25" for reason in run.reasons)]
    if disturbed:
        found.append(
            f"Other programs disturbed {len(disturbed):,} of {plural(len(measured), 'run')}: they used up to "
            f"{percent(max(disturbed), 0)} of one CPU meanwhile. Measure again on a machine where nothing "
            "else runs."
        )
    beside = [used for run, used in measured if run.turns and used is not None]
    if max(beside, default=0) >= _FOREIGN_CPU_PERCENT:
        found.append(
            f"Beside the rounds other programs used {percent(median(beside), 0)} of one CPU, at most "
            f"{percent(max(beside), 0)}. By turns all targets of a round meet the same."
        )
    return found


def campaign_notices(campaign: Campaign) -> tuple[str, ...]:
    more, left_out = len(campaign.excluded) - MAX_NAMED, campaign.series_left_out
    series = f"The per-second series of {left_out:,} median runs are left out: there are too many to show."
    return (
        *_foreign_cpu(campaign),
        *(f"Excluded: {entry}." for entry in campaign.excluded[:MAX_NAMED]),
        *([f"Excluded: {more:,} more files; the command names each."] if more > 0 else []),
        *([series] if left_out else []),
    )
