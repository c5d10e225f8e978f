"""What an open loop adds to a run: how well its schedule was kept, and the time from the send."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How well an open loop kept its schedule (rule M5): offered = sent + dropped + unsent."""

    offered: int
    sent: int
    late: int
    """Sent more than 1 ms after they were due."""
    dropped: int
    unsent: int
    achieved_per_second: float
    lateness_p99_ms: float | None
    """None when nothing was sent."""


def schedule_of(stated: Mapping[str, Any] | None) -> Schedule | None:
    """From a validated result's `schedule`; None in a closed loop."""
    if stated is None:
        return None
    counts = {name: stated[name] for name in ("offered", "sent", "late", "dropped", "unsent")}
    return Schedule(
        **counts,
        achieved_per_second=stated["achieved_per_second"],
        lateness_p99_ms=stated.get("lateness_ms", {}).get("p99"),
    )
