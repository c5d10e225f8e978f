"""What a rate takes, as a table for people."""

import math
from collections.abc import Callable, Sequence

from report.analysis.capacity import KINDS, CapacityCheck, CapacityPlan
from report.analysis.role_needs import COUNTED_KINDS, Demand
from report.base.format import ABSENT, count, decimals, joined, microseconds, plural, rate
from report.statistics.resampling import RESAMPLES, Estimate

_NAMES = {"generator": "Generator", "server": "Server", "service": "Service", "store": "Store"}
_UNITS = {"generator": "Generators", "server": "Servers", "store": "Store nodes"}
NOT_REACHED = "not reached"


def _cpus(value: float | None) -> str:
    """Two to three digits that mean something."""
    return decimals(value, 0 if value is None or value >= 100 else 1 if value >= 10 else 2)


def _text(estimate: Estimate | None, show: Callable[[float | None], str]) -> str:
    """`7 (6–8)`, `12 (9–∞)`."""
    if estimate is None:
        return ABSENT
    if math.isinf(estimate.value):
        return NOT_REACHED
    if estimate.low is None or estimate.high is None:
        return show(estimate.value)
    low, high = ("∞" if math.isinf(end) else show(end) for end in (estimate.low, estimate.high))
    return f"{show(estimate.value)} ({low}–{high})"


def _limit_text(plan: CapacityPlan) -> str:
    """`server, 206,000 requests/s`."""
    if plan.first_limit is None:
        return ABSENT
    kind, carried = plan.first_limit
    return f"{kind}, {rate(carried)} requests/s"


def capacity_table(plans: Sequence[CapacityPlan]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings, and the cells of each target."""
    kinds = [kind for kind in KINDS if any(kind in plan.needs for plan in plans)]
    counted = [kind for kind in kinds if kind in COUNTED_KINDS]
    headings = (
        "Target",
        *(_UNITS[kind] for kind in counted),
        *(f"{_NAMES[kind]} CPUs" for kind in kinds),
        "Servers by",
        "First limit",
    )
    return headings, [
        (
            plan.name,
            *(_text(need.units if (need := plan.needs.get(kind)) else None, count) for kind in counted),
            *(_text(need.cpus if (need := plan.needs.get(kind)) else None, _cpus) for kind in kinds),
            "law" if plan.law else "CPU",
            _limit_text(plan),
        )
        for plan in plans
    ]


def _law_text(value: float | None) -> str:
    """A share: σ or κ."""
    return ABSENT if value is None else f"{value:.3g}"


def _basis(plan: CapacityPlan) -> str:
    """What the figures of a target come from."""
    cpu = ", ".join(
        f"{kind} {_text(need.cpu_us_per_request, microseconds)}" for kind, need in plan.needs.items()
    )
    text = (
        f"{plural(plan.runs, 'run')} with {joined(list(map(str, plan.servers)))} "
        f"server{'s' if plan.servers[-1] > 1 else ''}; µs of CPU per request with {plan.cpu_from_servers}: "
        f"{cpu or 'not known'}"
    )
    if plan.law is None:
        return text
    law = plan.law
    return (
        f"{text}; law: one server λ {_text(law.one_server, rate)} requests/s, contention "
        f"σ {_text(law.contention, _law_text)}, coherency κ {_text(law.coherency, _law_text)}"
    )


def _check_text(check: CapacityCheck) -> str:
    """Prediction and measurement of the most servers side by side."""
    cpus = ", ".join(
        f"{kind} {_text(predicted, _cpus)}, measured {_text(measured, _cpus)}"
        for kind, (predicted, measured) in check.cpus.items()
    )
    law = (
        f"; by the law of {joined(list(map(str, check.law.numbers)))} servers they would carry "
        f"{_text(check.law.throughput(check.servers), rate)} requests/s"
        if check.law
        else ""
    )
    return (
        f"{plural(check.servers, 'server')} carried {_text(check.requests_per_second, rate)} requests/s. "
        f"Busy CPUs at this rate by the runs with {check.cpu_from_servers}: {cpus or 'not known'}{law}"
    )


def capacity_notes(plans: Sequence[CapacityPlan]) -> list[str]:
    """Of each target what its figures come from; then sentences on them, once for all targets that share
    one."""
    targets: dict[str, list[str]] = {}
    for plan in plans:
        for note in plan.notes:
            targets.setdefault(note, []).append(plan.name)
    return [
        *(f"{plan.name}: {_basis(plan)}." for plan in plans),
        *(f"{plan.name}, checked: {_check_text(plan.check)}." for plan in plans if plan.check),
        *(
            f"{'All targets' if len(names) == len(plans) > 1 else '; '.join(names)}: {note}."
            for note, names in targets.items()
        ),
    ]


def capacity_title(demand: Demand, campaigns: Sequence[str]) -> str:
    return (
        f"{rate(demand.rate_per_second)} requests/s at {100 * demand.utilisation:g} % of each CPU, from "
        f"{joined(campaigns)}"
    )


def capacity_assumptions(demand: Demand) -> tuple[str, str]:
    """What must hold, and what the intervals hold."""
    return (
        "Assumed: machines of the measured type, one CPU for each server, worker of a generator and thread "
        f"of a store node, used to {100 * demand.utilisation:g} %; CPU per request as measured; a cluster "
        "shards as evenly as measured.",
        f"Intervals: 95 % of {RESAMPLES:,} resamples of the runs, without any error of the model. Servers by "
        "law: Universal Scalability Law; by CPU: in proportion to CPU per request.",
    )


def capacity_lines(plans: Sequence[CapacityPlan], demand: Demand, campaigns: Sequence[str]) -> list[str]:
    """All of it as lines of text, the table with aligned columns."""
    headings, rows = capacity_table(plans)
    widths = [max(len(line[n]) for line in (headings, *rows)) for n in range(len(headings))]
    return [
        f"{capacity_title(demand, campaigns)}:",
        "",
        *(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in (headings, *rows)
        ),
        "",
        *capacity_notes(plans),
        *capacity_assumptions(demand),
    ]
