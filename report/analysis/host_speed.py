"""How fast the host was beside each run, and which runs that makes suspect (rule M21).

A run is judged here and not by the harness, because what is unusual shows only beside the other runs of its
campaign. Before and after of one run cannot tell: a host that was slow all through the run is equally slow in
both, and one that changed for good in the middle is as it should be in the next run.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from report.base.format import percent
from report.results.model import Campaign, Reason, Run

RULE = "M21"

#: A run is suspect if the host was faster or slower beside it than beside the campaign's median run, by more
#: than this share.
MAX_OFF = 0.03

#: A median of fewer runs than this is moved by each of them: none is called unusual.
MIN_RUNS = 5

#: If more runs than both of these lie beyond `MAX_OFF`, it is the host that drifts, and not they that are
#: unusual: said once for the campaign, and of no run.
MAX_OFF_RUNS = 2
MAX_OFF_RUNS_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class CampaignHostSpeed:
    """The host over a campaign, by the integer loop. Speeds are shares of the median run's: 0.9 is slower."""

    integer_us: float
    """Median over the runs."""
    slowest: float
    fastest: float
    runs: int
    """Whose host speed is known."""
    off: int
    """Runs beyond `MAX_OFF`."""

    @property
    def drifts(self) -> bool:
        """It changes throughout: no run is unusual."""
        return self.off > max(MAX_OFF_RUNS, MAX_OFF_RUNS_SHARE * self.runs)


def _is_off(index: float) -> bool:
    return abs(math.log(index)) > math.log1p(MAX_OFF)


def host_speed_of(runs: Sequence[Run]) -> CampaignHostSpeed | None:
    """None where it is not known of any run."""
    return _speed_of([run.host_speed.integer_us for run in runs if run.host_speed])


def machine_speeds_of(runs: Sequence[Run]) -> dict[str, CampaignHostSpeed]:
    """The same by machine, where runs took place on several."""
    times: dict[str, list[float]] = {}
    for run in runs:
        for name, speed in run.machine_speed.items():
            times.setdefault(name, []).append(speed.integer_us)
    return {name: found for name in sorted(times) if (found := _speed_of(times[name]))}


def _speed_of(times: Sequence[float]) -> CampaignHostSpeed | None:
    if not times:
        return None
    middle = median(times)
    found = [middle / time for time in times]
    return CampaignHostSpeed(
        integer_us=middle,
        slowest=min(found),
        fastest=max(found),
        runs=len(found),
        off=sum(map(_is_off, found)),
    )


def _reason(index: float, host: str = "the host") -> Reason:
    pace, change = ("slower", 1 / index - 1) if index < 1 else ("faster", index - 1)
    return Reason(
        RULE,
        "suspect",
        f"before and after this run {host} was {percent(100 * change)} {pace} than beside the campaign’s "
        "median run",
    )


def _judged(run: Run, found: CampaignHostSpeed) -> Run:
    if run.host_speed is None:
        return run
    index = found.integer_us / run.host_speed.integer_us
    run = replace(run, host_index=index)
    if found.drifts or found.runs < MIN_RUNS or run.verdict == "invalid" or not _is_off(index):
        return run
    return replace(run, verdict="suspect", reasons=(*run.reasons, _reason(index)))


def _judged_by_machines(run: Run, found: Mapping[str, CampaignHostSpeed]) -> Run:
    """Each machine is judged by itself: of several, one may be slow."""
    index = {name: found[name].integer_us / speed.integer_us for name, speed in run.machine_speed.items()}
    run = replace(run, machine_index=index)
    off = {
        name: value
        for name, value in index.items()
        if not found[name].drifts and found[name].runs >= MIN_RUNS and _is_off(value)
    }
    if run.verdict == "invalid" or not off:
        return run
    reasons = (_reason(value, f"the machine {name}") for name, value in off.items())
    return replace(run, verdict="suspect", reasons=(*run.reasons, *reasons))


@dataclass(frozen=True, slots=True)
class HostSpeeds:
    """The host of a campaign, or its machines; neither where nothing is known."""

    host: CampaignHostSpeed | None
    machines: Mapping[str, CampaignHostSpeed]


def with_host_speed(campaign: Campaign) -> tuple[Campaign, HostSpeeds]:
    """The campaign with each run's index, and with runs that are suspect because of the host; and the host.

    Runs of all layers share the median: they ran on one host, or on the same machines.
    """
    runs = (*campaign.runs, *campaign.operations)
    host, machines = host_speed_of(runs), machine_speeds_of(runs)

    def judged(run: Run) -> Run:
        if run.machine_speed:
            return _judged_by_machines(run, machines)
        return run if host is None else _judged(run, host)

    changed = replace(
        campaign,
        runs=tuple(map(judged, campaign.runs)),
        operations=tuple(map(judged, campaign.operations)),
    )
    return changed, HostSpeeds(host, machines)
