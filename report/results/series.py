"""Reads the usage of a run over time, as a page shows it."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

from report.results.catalog import MEASURED_KINDS
from report.results.generated.records import MeasuredResult, Resource
from report.results.model import Usage

#: The most points of a line in a chart. Each point of a longer run stands for several seconds.
MAX_POINTS = 120


class Timed(Protocol):
    @property
    def interval_s(self) -> float: ...


SomeTimed = TypeVar("SomeTimed", bound=Timed)


def stretches(series: Sequence[SomeTimed]) -> list[Sequence[SomeTimed]]:
    """Cuts a series into at most `MAX_POINTS` stretches.

    A last stretch that is shorter than half of the first one joins the stretch before it, because a
    figure over a moment is mostly chance."""
    step = max(1, -(-len(series) // MAX_POINTS))
    parts = [series[start : start + step] for start in range(0, len(series), step)]

    if len(parts) > 1 and 2 * _length_s(parts[-1]) < _length_s(parts[0]):
        parts[-2:] = [series[(len(parts) - 2) * step :]]
    return parts


def _length_s(stretch: Sequence[Timed]) -> float:
    return sum(second.interval_s for second in stretch)


def _usage_of_kind(roles: Sequence[Resource]) -> list[Usage]:
    """The sums of the readings of all roles of a kind. Empty if the roles were not read equally
    often."""
    if len({len(role.samples) for role in roles}) != 1:
        return []

    # A result has no CPU per request if the correction for idle use is too large (rule M15).
    is_known = not any(role.idle_us and role.cpu_us_per_request is None for role in roles)
    usage = []
    before_s = 0.0
    for samples in zip(*(role.samples for role in roles), strict=True):
        t_s = float(samples[0].t_s)
        if t_s <= before_s:
            continue
        cpu_percent = sum(sample.cpu_percent for sample in samples) if is_known else None
        resident_bytes = sum(sample.resident_bytes for sample in samples)
        usage.append(Usage(t_s, t_s - before_s, cpu_percent, resident_bytes))
        before_s = t_s
    return usage


def _mean_usage(stretch: Sequence[Usage]) -> Usage:
    length_s = _length_s(stretch)
    percents = [
        second.cpu_percent * second.interval_s
        for second in stretch
        if second.cpu_percent is not None
    ]
    resident = sum(second.resident_bytes * second.interval_s for second in stretch)
    is_known = len(percents) == len(stretch)
    return Usage(
        t_s=stretch[-1].t_s,
        interval_s=length_s,
        cpu_percent=sum(percents) / length_s if is_known else None,
        resident_bytes=round(resident / length_s),
    )


def usage_over_time(result: MeasuredResult) -> dict[str, tuple[Usage, ...]]:
    """See `Measured.usage`.

    A generator has usage only if it is the client. By turns its readings hold the turns of all
    targets of the group, so that it has none."""
    is_client = result.request.layer == "limiter" and result.turns is None
    kinds = [kind for kind in MEASURED_KINDS if kind != "generator" or is_client]
    usage_by_kind = {}
    for kind in kinds:
        usage = _usage_of_kind([role for role in result.resources.values() if role.kind == kind])
        if usage:
            usage_by_kind[kind] = tuple(map(_mean_usage, stretches(usage)))
    return usage_by_kind
