"""What a reader must know of what is not on the page."""

from statistics import median

from report.base.format import percent, plural
from report.results.model import Campaign

#: So many excluded files are named; beyond it they are counted.
MAX_NAMED = 100


#: By which a run is suspect that other programs disturbed.
_FOREIGN_CPU_RULE = "M25"


def _disturbed(campaign: Campaign) -> list[str]:
    runs = [run for run in campaign.runs if any(reason.rule == _FOREIGN_CPU_RULE for reason in run.reasons)]
    used = [run.measured.foreign_cpu_percent or 0 for run in runs if run.measured]
    if not used:
        return []
    measured = sum(run.measured is not None for run in campaign.runs)
    return [
        f"Other programs disturbed {len(used):,} of {plural(measured, 'run')}: they used up to "
        f"{percent(max(used), 0)} of one CPU meanwhile. Measure again on a machine where nothing else runs."
    ]


#: Other programs are named from this % of one CPU on (rule M25).
_FOREIGN_CPU_PERCENT = 10


def _met_by_all(campaign: Campaign) -> list[str]:
    loads = [
        run.measured.foreign_cpu_percent
        for run in campaign.runs
        if run.measured and run.measured.record.turns
    ]
    used = [load for load in loads if load is not None]
    if not used or max(used) < _FOREIGN_CPU_PERCENT:
        return []
    return [
        f"Beside the rounds other programs used {percent(median(used), 0)} of one CPU, at most "
        f"{percent(max(used), 0)}. By turns all targets of a round meet the same."
    ]


def campaign_notices(campaign: Campaign) -> tuple[str, ...]:
    more, left_out = len(campaign.excluded) - MAX_NAMED, campaign.series_left_out
    return (
        *_disturbed(campaign),
        *_met_by_all(campaign),
        *(f"Excluded: {entry}." for entry in campaign.excluded[:MAX_NAMED]),
        *([f"Excluded: {more:,} more files; the command names each."] if more > 0 else []),
        *(
            [f"The per-second series of {left_out:,} median runs are left out: there are too many to show."]
            if left_out
            else []
        ),
    )
