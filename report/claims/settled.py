"""Whether the ratio of a comparison is settled (rule M33), by the evidence of its campaign."""

from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Row

SETTLED = "settled"
NOT_CHECKED = "not checked"

#: Metrics whose ratio time within a turn cannot change, because they are read between loads.
_MEMORY = ("store_memory", "bytes_per_key")


def settled_state(analysis: Analysis, rows: tuple[Row, ...], metric: str) -> str:
    """`settled`, `not settled` or `not checked`.

    The manifest holds the state in `settled`, by metric and then by the hashes of the rows' two
    configurations with a slash between. A campaign without this member is not checked."""
    if metric in _MEMORY:
        return SETTLED
    manifest = analysis.campaign.manifest or {}
    states = manifest.get("settled", {}).get(metric, {})
    hashes = "/".join(str(row.identity.configuration_hash) for row in rows)
    return str(states.get(hashes, NOT_CHECKED))
