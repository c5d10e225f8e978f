"""Divides what a run by turns measured into an earlier and a later part, so that both can be
compared (rule M33)."""

from collections.abc import Sequence

from msgspec import Struct

from report.results.generated.records import (
    MeasuredResult,
    Resource,
    SinceBeganLeadIn,
    Slices,
    Turns,
)

Parts = tuple[float, float]
"""A figure in the earlier part and in the later one."""

#: The start of the slices lasts at least this share of them. Less is mostly chance.
_LEAST_SHARE = 0.1

#: The servers are read after each second of turns of every target.
_READ_EVERY_MS = 1000


class TurnParts(Struct, frozen=True):
    """The figures of the parts of a run. Each is None if the result does not tell it, as that of a
    continuous window."""

    rate_at_start: Parts | None = None
    """Answers per second at the start of the slices, and in the rest of them."""
    rate_in_halves: Parts | None = None
    """Answers per turn in the first half of the cycles, and in the second."""
    cpu_at_start: Parts | None = None
    """Server CPU in µs per request in the short turns of the window, and in the long turns before
    it."""
    cpu_in_halves: Parts | None = None
    """Server CPU in µs per answer in the first half of the readings, and in the second."""


def turn_parts(result: MeasuredResult) -> TurnParts:
    turns = result.turns
    if turns is None:
        return TurnParts()

    answers_by_turn = _answers_by_turn(result.slices, turns)
    servers = [role for role in result.resources.values() if role.kind == "server"]
    return TurnParts(
        rate_at_start=_start_and_rest(turns.since_began.slice, turns.turns)
        if turns.since_began
        else None,
        rate_in_halves=_means_of_halves(answers_by_turn),
        cpu_at_start=_cpu_at_start(result, turns),
        cpu_in_halves=_cpu_in_halves(servers, turns, answers_by_turn),
    )


def _cpu_at_start(result: MeasuredResult, turns: Turns) -> Parts | None:
    """The CPU of what calls the limiter, which is the servers or, without any, the generator."""
    kind = "generator" if result.request.layer == "limiter" else "server"
    roles = [role for role in result.resources.values() if role.kind == kind]
    short_us = [role.cpu_us_per_request for role in roles]
    long_us = [role.long_turns_cpu_us for role in roles]
    if not roles or not turns.long or not turns.long.requests:
        return None
    if None in short_us or None in long_us:
        return None

    parts = (sum(filter(None, short_us)), sum(filter(None, long_us)) / turns.long.requests)
    return parts if min(parts) > 0 else None


def _answers_by_turn(slices: Slices, turns: Turns) -> list[int]:
    """The answers in the slice of each turn."""
    bins = max(1, round(turns.slice_ms / slices.width_ms))
    answers = [
        allowed + limited for allowed, limited in zip(slices.allowed, slices.limited, strict=False)
    ]
    return [sum(answers[first : first + bins]) for first in range(0, len(answers), bins)]


def _halves(values: Sequence[float]) -> tuple[float, float]:
    """The sums of both halves. The middle one of an odd number is in neither."""
    size = len(values) // 2
    return sum(values[:size]), sum(values[len(values) - size :])


def _means_of_halves(values: Sequence[float]) -> Parts | None:
    first, second = _halves(values)
    size = len(values) // 2
    return (first / size, second / size) if size and first and second else None


def _cpu_in_halves(
    servers: Sequence[Resource], turns: Turns, answers_by_turn: Sequence[int]
) -> Parts | None:
    """None if some server was not read after each second of turns, or if the correction for its
    idle use is too large (rule M15)."""
    turns_of_a_reading = max(1, round(_READ_EVERY_MS / turns.slice_ms))
    answers = [
        sum(answers_by_turn[first : first + turns_of_a_reading])
        for first in range(0, len(answers_by_turn), turns_of_a_reading)
    ]
    if not servers or any(role.cpu_us_per_request is None for role in servers):
        return None
    if any(len(role.samples) != len(answers) for role in servers):
        return None

    cpu_us = [sum(used) for used in zip(*map(_cpu_us_by_reading, servers), strict=True)]
    parts = [
        used / answered if used > 0 and answered else None
        for used, answered in zip(_halves(cpu_us), _halves(answers), strict=True)
    ]
    first, second = parts
    return (first, second) if first is not None and second is not None else None


def _cpu_us_by_reading(role: Resource) -> list[float]:
    cpu_us = []
    before_s = 0.0
    for sample in role.samples:
        cpu_us.append(sample.cpu_percent * (sample.t_s - before_s) * 10_000)
        before_s = float(sample.t_s)
    return cpu_us


def _start_and_rest(bins: SinceBeganLeadIn, turns: int) -> Parts | None:
    """The rates in the first bins and in the others.

    The first bins last at least a tenth of the slices, and a mean latency in each turn, because
    shorter parts of a closed loop hold whole or no generations of answers."""
    answers = sum(bins.answers)
    total_s = sum(bins.seconds)
    if not answers or not turns or not total_s:
        return None

    mean_latency_s = sum(bins.latency_sum_us) / answers / 1e6
    least_s = max(_LEAST_SHARE * total_s, mean_latency_s * turns)
    start_s = 0.0
    start_answers = 0
    for seconds, answers_of_bin in zip(bins.seconds, bins.answers, strict=True):
        start_s += seconds
        start_answers += answers_of_bin
        if start_s >= least_s:
            break

    rest_s = total_s - start_s
    rest_answers = answers - start_answers
    if rest_s < least_s or not start_answers or not rest_answers:
        return None
    return start_answers / start_s, rest_answers / rest_s
