"""The floor of a comparison: a difference counts only beyond it."""

from collections.abc import Sequence
from dataclasses import dataclass

from report.analysis.summary import Summary
from report.compare.repeated_campaigns import noise_between
from report.results.model import Campaign
from report.statistics.noise import floor_from_spread, runs_for_floor

#: If chance alone moves a figure by this share, a target that became half as fast would not be noticed: such
#: runs are not compared.
MAX_NOISE = 0.5

#: What a noise floor should be for a comparison across campaigns to be of use.
_USEFUL = 0.1

#: More runs per side than this are no useful advice.
_MAX_RUNS = 200

#: The spread within one campaign knows nothing of how campaigns differ (M32).
_NOT_MEASURED = (
    "which know nothing of the noise between campaigns: `noise TARGET --campaigns 5` with this load measures "
    "it"
)


@dataclass(frozen=True, slots=True)
class Floor:
    """`share` of the base, 0.02 is ± 2 %; `text` names its source."""

    share: float
    text: str
    unsteady: str = ""
    """Why nothing can be compared, and what would help; empty where it can."""


def percent_text(share: float) -> str:
    """`2 %`, `0.51 %`, `more than 100 %`: never with an exponent."""
    if share > 1:
        return "more than 100 %"
    percent = 100 * share
    return f"{percent:.3g} %" if percent >= 0.001 else "0 %"


@dataclass(frozen=True, slots=True)
class HostNoise:
    """What repeated campaigns showed of how far two of them differ, as a share, and how many there were."""

    share: float
    campaigns: int


def host_noise(campaign: Campaign, pairs: Sequence[tuple[Summary, Summary]], metric: str) -> HostNoise | None:
    """The largest noise between campaigns of all that is compared; None unless every row has been measured in
    repeated campaigns on this host, with its load, window, layer and servers."""
    rows = {row.identity.configuration_hash: row for pair in pairs for row in pair}
    found = [noise_between(campaign, row, metric) for row in rows.values()]
    known = [each for each in found if each is not None]
    if not known or len(known) < len(found):
        return None
    return HostNoise(max(each.apart for each in known), min(each.campaigns for each in known))


def floor_of(
    requested: float,
    drift_excluded: bool,
    noise: HostNoise | None,
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]],
) -> Floor:
    """The requested floor; across campaigns, the larger of it and the host's noise.

    Args:
        requested: a share.
        drift_excluded: both sides are of one interleaved campaign.
        noise: between repeated campaigns on this host; else the spread of the runs is used.
        pairs: all that is compared; the noisiest counts.
    """
    if drift_excluded:
        return Floor(requested, f"±{percent_text(requested)}")
    by_spread, runs = _by_spread(pairs)
    if noise:
        share, source = noise.share, f"between {noise.campaigns} repeated campaigns"
    elif by_spread is not None:
        share, source = by_spread, f"by the spread of these runs, {_NOT_MEASURED}"
    else:
        return Floor(requested, f"±{percent_text(requested)} (noise of this host: not known)")
    if share > requested and share >= MAX_NOISE:
        return Floor(share, "", _unsteady(noise, runs))
    larger = max(requested, share)
    if larger == requested:
        return Floor(
            requested, f"±{percent_text(requested)} (noise of this host: ±{percent_text(share)}, {source})"
        )
    return Floor(share, f"the noise of this host (±{percent_text(share)}, {source})")


def _by_spread(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> tuple[float | None, int]:
    """The noise of the noisiest pair, and how many runs per side make it useful; None: unknown spread."""
    measured = [(new, base) for new, base in pairs if new and base]
    shares = [found for new, base in measured if (found := floor_from_spread(new, base)) is not None]
    runs = [found for new, base in measured if (found := runs_for_floor(new, base, _USEFUL)) is not None]
    return max(shares, default=None), max(runs, default=0)


def _unsteady(noise: HostNoise | None, runs: int) -> str:
    """Why these runs are not compared, and what would help."""
    if noise:
        why = f"two campaigns of the same differ by half and more (`noise`, {noise.campaigns} campaigns)"
        more = "measure `noise` again then"
    elif runs <= _MAX_RUNS:
        why = "chance alone moves a figure by half and more"
        more = f"about {runs} such runs per side would bring that down to {percent_text(_USEFUL)}"
    else:
        why = "chance alone moves a figure by half and more"
        more = "more runs like these would not do"
    return (
        f"these runs are too unsteady to compare: {why}. What helps: stop other work on this machine, or "
        f"measure both sides in one campaign; {more}"
    )
