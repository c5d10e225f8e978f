"""How many load generators, servers and store nodes a rate takes, by what campaigns measured of each role.

The CPU time that a request takes of a role, times the rate, is the CPU time that the role needs each second.
Where throughput was measured at three numbers of servers, and nothing but the servers held it up, the
Universal Scalability Law replaces this for servers: it also counts what they wait for each other.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from report.analysis.decision_cpu import part_kinds
from report.analysis.fitted_law import FittedLaw, fit_law
from report.analysis.role_needs import Demand, RoleNeed, role_need
from report.analysis.server_numbers import MeasuredTarget, ServerNumber, measured_targets
from report.analysis.several_servers import target_names
from report.analysis.summary import Summary
from report.base.format import joined, plural, rate
from report.statistics.resampling import MIN_RUNS_FOR_95_PERCENT, Estimate, Resamples, estimate_of
from report.statistics.scalability import MIN_SERVER_NUMBERS

#: Kinds of roles in the order of a table.
KINDS = ("generator", "server", "service", "store")

_SEED = 1

#: A server that answered fewer requests before the window was not warm, see "Checked" in docs/scale.md.
_WARM_REQUESTS = 20_000


@dataclass(frozen=True, slots=True)
class CapacityCheck:
    """What runs with fewer servers predict of those with the most, beside what these showed."""

    servers: int
    """The most."""
    requests_per_second: Estimate
    """As measured with these."""
    cpu_from_servers: int
    """The number of servers whose runs tell the CPU per request that is predicted."""
    cpus: Mapping[str, tuple[Estimate, Estimate]]
    """CPUs that are busy at this rate, as predicted and as measured, by kind."""
    law: FittedLaw | None
    """Fitted without the most servers; None where too few are left for it."""


@dataclass(frozen=True, slots=True)
class CapacityPlan:
    """What a rate takes of one target under one load."""

    name: str
    label: str
    servers: tuple[int, ...]
    """Numbers of servers with runs that count."""
    runs: int
    """Over all of these."""
    cpu_from_servers: int
    """The number of servers whose runs tell the CPU per request."""
    needs: Mapping[str, RoleNeed]
    """By kind, in the order of `KINDS`; without those whose CPU time is not known."""
    unknown_kinds: tuple[str, ...]
    """Kinds that take part, without a known CPU time."""
    law: FittedLaw | None
    """None: servers are in proportion to their CPU per request."""
    first_limit: tuple[str, float] | None
    """Which of the needed roles carry the least, and how many requests per second. None where the CPU time of
    some is not known, or no number of servers is enough."""
    check: CapacityCheck | None
    """None with one number of servers."""
    notes: tuple[str, ...]
    """What the figures do not say: sentences without the name of the target."""


def plan_capacity(summaries: Sequence[Summary], demand: Demand) -> tuple[CapacityPlan, ...]:
    """What a rate takes, for each target and load of a closed loop with servers that has a run that counts.

    Args:
        summaries: rows of one campaign, or of several on machines of one kind.
    """
    targets = [target for target in measured_targets(summaries) if target.numbers]
    rows = [target.summary for target in targets]
    return tuple(
        _plan(target, name, demand) for target, name in zip(targets, target_names(rows, rows), strict=True)
    )


def _plan(target: MeasuredTarget, name: str, demand: Demand) -> CapacityPlan:
    numbers = target.numbers
    rng = np.random.default_rng(_SEED)
    draws = {
        number.servers: Resamples(len(number.measured), rng) if len(number.measured) > 1 else None
        for number in numbers
    }
    law = fit_law([number for number in numbers if not number.unusable_reason], draws)
    number = _closest(numbers)
    kinds = [kind for kind in KINDS if kind in ("generator", *part_kinds(number.identity))]
    needs = {
        kind: need
        for kind in kinds
        if (need := role_need(number, kind, draws[number.servers], demand)) is not None
    }
    if law and "server" in needs:
        needs["server"] = _by_law(needs["server"], law, demand)
    unknown = tuple(kind for kind in kinds if kind not in needs)
    used = {number.servers, *(law.numbers if law else ())}
    return CapacityPlan(
        name=name,
        label=target.summary.identity.label,
        servers=tuple(each.servers for each in numbers),
        runs=sum(len(each.runs) for each in numbers),
        cpu_from_servers=number.servers,
        needs=needs,
        unknown_kinds=unknown,
        law=law,
        first_limit=None if unknown else _first_limit(needs),
        check=_check(numbers, draws, kinds),
        notes=(
            *_growth_notes(numbers, law),
            *(_reach_notes(law, needs["server"], demand) if law and "server" in needs else ()),
            *_store_notes(number, needs.get("store")),
            *(f"the CPU time of the {kind} is not known" for kind in unknown),
            *_warm_up_notes(numbers),
            *_run_notes([len(each.runs) for each in numbers if each.servers in used]),
        ),
    )


def _closest(numbers: Sequence[ServerNumber]) -> ServerNumber:
    """Whose CPU per request is planned with: the most servers are the closest to what is planned."""
    return ([each for each in numbers if each.shared_cpus is None] or list(numbers))[-1]


def _check(
    numbers: Sequence[ServerNumber], draws: Mapping[int, Resamples | None], kinds: Sequence[str]
) -> CapacityCheck | None:
    """The runs with the most servers, predicted by those with fewer."""
    *fewer, most = numbers
    if not fewer:
        return None
    known, own = _closest(fewer), draws[most.servers]
    rates = [figures.requests_per_second for figures in most.measured]
    measured = estimate_of(float(np.median(rates)), own.medians(rates) if own else None)
    demand = Demand(measured.value, 1)
    needs = {
        kind: (role_need(known, kind, draws[known.servers], demand), role_need(most, kind, own, demand))
        for kind in kinds
    }
    return CapacityCheck(
        servers=most.servers,
        requests_per_second=measured,
        cpu_from_servers=known.servers,
        cpus={kind: (then.cpus, now.cpus) for kind, (then, now) in needs.items() if then and now},
        law=fit_law([number for number in fewer if not number.unusable_reason], draws)
        if not most.unusable_reason
        else None,
    )


def _by_law(need: RoleNeed, law: FittedLaw, demand: Demand) -> RoleNeed:
    units = law.servers_for(demand.rate_per_second / demand.utilisation)
    share = demand.utilisation
    carried = share * law.law.throughput(int(units.value)) if math.isfinite(units.value) else None
    return RoleNeed(need.cpu_us_per_request, need.cpus, units, carried, share * law.law.one_server)


def _first_limit(needs: Mapping[str, RoleNeed]) -> tuple[str, float] | None:
    carried = [(need.carried_per_second, kind) for kind, need in needs.items() if need.units]
    known = [(rate_per_second, kind) for rate_per_second, kind in carried if rate_per_second is not None]
    if len(known) < len(carried):
        return None
    least, kind = min(known)
    return kind, least


def _servers_text(numbers: Sequence[int]) -> str:
    """`1 server`, `1 and 2 servers`."""
    return plural(numbers[0], "server") if len(numbers) == 1 else f"{joined(list(map(str, numbers)))} servers"


def _growth_notes(numbers: Sequence[ServerNumber], law: FittedLaw | None) -> list[str]:
    """Which throughputs do not tell how servers scale, and what follows where too few of them do."""
    by_reason: dict[str, list[int]] = {}
    for number in numbers:
        if number.unusable_reason:
            by_reason.setdefault(number.unusable_reason, []).append(number.servers)
    found = [
        f"with {_servers_text(servers)} {reason}: that throughput does not tell how servers scale"
        for reason, servers in by_reason.items()
    ]
    usable = [number for number in numbers if not number.unusable_reason]
    if law:
        waited = [number.servers for number in usable if number.limit == "none"]
        text = f"with {_servers_text(waited)} nothing was used up: more connections may give more"
        return [*found, *([text] if waited else [])]
    measured = _servers_text([number.servers for number in usable]) if usable else "none"
    lacks = (
        f"the law takes the throughput of {MIN_SERVER_NUMBERS} numbers of servers and has that of {measured}"
        if len(usable) < MIN_SERVER_NUMBERS
        else f"no law fits the throughput of {measured}"
    )
    return [*found, f"{lacks}: servers are in proportion to CPU, as if none waited for another"]


def _reach_notes(fitted: FittedLaw, need: RoleNeed, demand: Demand) -> list[str]:
    """Where the law leaves what was measured, and where it ends."""
    most, law, share = max(fitted.numbers), fitted.law, demand.utilisation
    if need.units and math.isfinite(need.units.value):
        beyond = need.units.value > most
        return [f"beyond {plural(most, 'server')} the law extrapolates"] if beyond else []
    peak = law.peak_servers
    reached = "however many servers there are" if peak is None else f"with {plural(peak, 'server')}"
    return [f"by the law the most is {rate(share * law.ceiling)} requests/s, {reached}"]


def _store_notes(number: ServerNumber, need: RoleNeed | None) -> list[str]:
    """That a single node was measured and several are needed."""
    if need is None or need.units is None or number.roles_of("store") != 1 or need.units.value <= 1:
        return []
    return [
        f"one store node carries {rate(need.carried_by_one)} requests/s: several are a cluster, which these "
        "runs did not measure"
    ]


def _warm_up_notes(numbers: Sequence[ServerNumber]) -> list[str]:
    """That several servers share the requests of a warm-up, and were not warm after it."""
    return [
        f"with {plural(number.servers, 'server')} each answered {number.warm_up_requests_per_server:,} "
        "requests in its warm-up: code that is not compiled yet costs more CPU, use a longer --warmup"
        for number in numbers
        if number.warm_up_requests_per_server < _WARM_REQUESTS
    ]


def _run_notes(runs: Sequence[int]) -> list[str]:
    fewest = min(runs)
    if fewest >= MIN_RUNS_FOR_95_PERCENT:
        return []
    if fewest == 1:
        return ["one run of a number of servers has no interval"]
    return [f"{fewest} runs of a number of servers are few: the intervals hold less than 95 %"]
