"""What a rate takes, as Markdown and as JSON."""

import json
import math
from collections.abc import Sequence
from typing import Any

from report.analysis.capacity import CapacityCheck, CapacityPlan
from report.analysis.role_needs import Demand, RoleNeed
from report.base.markdown import prose, table
from report.sections.capacity import capacity_assumptions, capacity_notes, capacity_table, capacity_title
from report.statistics.resampling import RESAMPLES, Estimate

CAPACITY_SCHEMA = "ratelimit-bench/capacity"
CAPACITY_SCHEMA_VERSION = 1


def capacity_markdown(plans: Sequence[CapacityPlan], demand: Demand, campaigns: Sequence[str]) -> str:
    headings, rows = capacity_table(plans)
    return "\n".join(
        [
            f"**{prose(capacity_title(demand, campaigns))}**",
            "",
            *table(headings, [[prose(cell) for cell in row] for row in rows], right=1),
            "",
            *(f"- {prose(note)}" for note in capacity_notes(plans)),
            "",
            *(prose(line) for line in capacity_assumptions(demand)),
        ]
    )


def _number(value: float | None) -> float | None:
    if value is None or math.isinf(value):
        return None
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() else rounded


def _estimate(estimate: Estimate) -> dict[str, Any]:
    has_interval = estimate.low is not None
    return {
        "value": _number(estimate.value),
        "interval": {"low": _number(estimate.low), "high": _number(estimate.high)} if has_interval else None,
    }


def _need(need: RoleNeed) -> dict[str, Any]:
    return {
        "cpu_us_per_request": _estimate(need.cpu_us_per_request),
        "cpus": _estimate(need.cpus),
        "needed": _estimate(need.units) if need.units else None,
        "carried_per_second": _number(need.carried_per_second),
    }


def _check(check: CapacityCheck) -> dict[str, Any]:
    return {
        "servers": check.servers,
        "requests_per_second": _estimate(check.requests_per_second),
        "cpu_from_servers": check.cpu_from_servers,
        "cpus": {
            kind: {"predicted": _estimate(predicted), "measured": _estimate(measured)}
            for kind, (predicted, measured) in check.cpus.items()
        },
        "predicted_by_law_per_second": _estimate(check.law.throughput(check.servers)) if check.law else None,
    }


def _plan(plan: CapacityPlan) -> dict[str, Any]:
    law, limit = plan.law, plan.first_limit
    return {
        "name": plan.name,
        "label": plan.label,
        "servers_measured": list(plan.servers),
        "runs": plan.runs,
        "cpu_from_servers": plan.cpu_from_servers,
        "roles": {kind: _need(need) for kind, need in plan.needs.items()},
        "unknown_roles": list(plan.unknown_kinds),
        "law": {
            "servers": list(law.numbers),
            "one_server_per_second": _estimate(law.one_server),
            "contention": _estimate(law.contention),
            "coherency": _estimate(law.coherency),
        }
        if law
        else None,
        "first_limit": {"role": limit[0], "carried_per_second": _number(limit[1])} if limit else None,
        "check": _check(plan.check) if plan.check else None,
        "notes": list(plan.notes),
    }


def capacity_json(plans: Sequence[CapacityPlan], demand: Demand, campaigns: Sequence[str]) -> str:
    """Its shape is `schemas/capacity.schema.json`."""
    document = {
        "schema": CAPACITY_SCHEMA,
        "schema_version": CAPACITY_SCHEMA_VERSION,
        "campaigns": list(campaigns),
        "rate_per_second": demand.rate_per_second,
        "utilisation_percent": _number(100 * demand.utilisation),
        "resamples": RESAMPLES,
        "targets": [_plan(plan) for plan in plans],
        "assumptions": list(capacity_assumptions(demand)),
    }
    return json.dumps(document, ensure_ascii=False, indent=1)
