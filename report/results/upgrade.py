"""Documents of the previous schema, as documents of this one. Nothing else knows the previous one."""

from collections.abc import Mapping
from typing import Any

#: Of result, plan and manifest.
SCHEMA_VERSION = 3
PREVIOUS = 2

#: Members of a result or manifest that are gone: the load waits for every reading, and by turns the host's
#: speed cancels.
_GONE = ("readings", "host_speed", "machine_speed")


def upgraded(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document of the previous schema as one of this; any other unchanged."""
    if document.get("schema_version") != PREVIOUS:
        return document
    found = {name: value for name, value in document.items() if name not in _GONE}
    found["schema_version"] = SCHEMA_VERSION
    plan = found.get("plan")
    if isinstance(plan, Mapping) and plan.get("schema_version") == PREVIOUS:
        found["plan"] = {**plan, "schema_version": SCHEMA_VERSION}
    if "machines" in found:
        found["machines"] = [
            {name: value for name, value in machine.items() if name not in _GONE}
            for machine in found["machines"]
        ]
    return found
