"""Documents of the previous schema, as documents of this one. Nothing else knows the previous one."""

from collections.abc import Mapping
from typing import Any

#: Of result, plan and manifest.
SCHEMA_VERSION = 3
PREVIOUS = 2

#: Members of a result that are gone: the load waits for every reading.
_GONE = ("readings",)


def upgraded(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document of the previous schema as one of this; any other unchanged."""
    if document.get("schema_version") != PREVIOUS:
        return document
    found = {name: value for name, value in document.items() if name not in _GONE}
    found["schema_version"] = SCHEMA_VERSION
    if found.get("run") == 0:
        found["run"] = 1
    plan = found.get("plan")
    if isinstance(plan, Mapping) and plan.get("schema_version") == PREVIOUS:
        found["plan"] = {**plan, "schema_version": SCHEMA_VERSION, "runs": _runs(plan.get("runs"))}
    return found


def before_first_round(document: object) -> bool:
    """Whether it is a result of the previous schema that was kept and never counted."""
    if not isinstance(document, Mapping) or document.get("schema_version") != PREVIOUS:
        return False
    return document.get("run") == 0


def _runs(runs: object) -> object:
    """The runs that count, with groups in the place of blocks; as they are where they are no list."""
    if not isinstance(runs, list):
        return runs
    renamed = {"block": "group"}
    return [
        {renamed.get(name, name): value for name, value in run.items()} if isinstance(run, Mapping) else run
        for run in runs
        if not (isinstance(run, Mapping) and run.get("run") == 0)
    ]
