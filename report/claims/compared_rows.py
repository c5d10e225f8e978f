"""The rows that a claim compares: their members in the file of the claim, and the row of a campaign
that has these members.

Target, layer, workload, traffic, load and limits identify a row. The name of the campaign does
not."""

from collections.abc import Callable, Mapping
from typing import Any

from report.analysis.campaign_analysis import Analysis
from report.analysis.printed_rows import printed_rows
from report.analysis.summary import Row
from report.results.catalog import STORE_LAYER

Document = Mapping[str, Any]
"""A mapping from YAML or JSON: a claim, one of its comparisons (`expects`), a row that it compares,
or a configuration."""

#: The members of a row: how to read each from a configuration, and the setting of a campaign file
#: that sets it for all rows.
_MEMBERS: Mapping[str, tuple[Callable[[Document], Any], str]] = {
    "target": (lambda configuration: _target(configuration["target"]["text"]), ""),
    "layer": (lambda configuration: configuration["layer"], "layer"),
    "workload": (lambda configuration: configuration["workload"]["id"], "workload"),
    "payload_bytes": (
        lambda configuration: configuration["workload"].get("payload_bytes"),
        "payload-bytes",
    ),
    "traffic": (lambda configuration: configuration["traffic"], "traffic"),
    "connections": (lambda configuration: configuration["load"].get("connections"), "concurrency"),
    "rate": (lambda configuration: configuration["load"].get("rate_per_second"), "rate"),
    "points": (lambda configuration: configuration["limits"]["points"], "points"),
    "window": (lambda configuration: configuration["limits"]["window_s"], "window"),
    "cost": (lambda configuration: configuration["limits"].get("cost", 1), "cost"),
    "requests": (lambda configuration: configuration["extent"].get("requests"), ""),
}
_DEFAULT_COST = 1
#: The quota that no run uses up, which is the default. The harness gives it a window that outlasts
#: the run, so the length of that identifies nothing.
_GENEROUS_POINTS = 1_000_000_000
_DEFAULT_WINDOW_S = 60


def _target(text: str) -> str:
    """The full form of a target: `ioredis@redis:standalone+a+b` for `ioredis@redis+b+a`."""
    head, *options = text.split("+")
    topology = ":standalone" if "@" in head and ":" not in head else ""
    return "+".join([head + topology, *sorted(options)])


def described_row(row: str | Document, settings: Document) -> Document:
    """All members of a row that a claim names, with the settings of its campaign file and the
    defaults.

    Raises ValueError where the settings leave a member open."""
    row_members = {"target": row} if isinstance(row, str) else row
    layer = settings.get("layer", "server")
    # A row without a rate is a closed loop.
    members: dict[str, Any] = {"layer": layer, "rate": None}
    if layer != STORE_LAYER:
        members |= {"points": _GENEROUS_POINTS, "cost": _DEFAULT_COST}
    if layer == "server":
        members["workload"] = "light"

    for name, (_, setting) in _MEMBERS.items():
        value = row_members.get(name, settings.get(setting))
        if isinstance(value, list):
            raise ValueError(f"say which {name} of {value} is meant")
        if value is not None:
            members[name] = value
    if layer != STORE_LAYER and members["points"] < _GENEROUS_POINTS:
        members.setdefault("window", _DEFAULT_WINDOW_S)
    return {**members, "target": _target(row_members["target"])}


def find_row(analysis: Analysis, described: Document) -> Row | None:
    """The row of the campaign that has all these members; None where it has none."""
    manifest: Document = analysis.campaign.manifest or {"plan": {"configurations": []}}
    hashes = {
        entry["hash"]
        for entry in manifest["plan"]["configurations"]
        if _matches(entry["configuration"], described)
    }
    for summary in analysis.summaries:
        if summary.identity.configuration_hash in hashes:
            return summary

    printed = printed_rows(
        analysis.campaign, lambda identity: identity.configuration_hash in hashes
    )
    return printed[0] if printed else None


def _matches(configuration: Document, described: Document) -> bool:
    is_simple = (
        not configuration.get("faults")
        and configuration.get("servers", 1) <= 1
        and configuration.get("generators", 1) <= 1
    )
    return is_simple and all(
        _MEMBERS[name][0](configuration) == value for name, value in described.items()
    )
