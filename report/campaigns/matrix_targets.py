"""The targets of the matrix, which are its rows, and the rows of a campaign that it shows."""

from collections.abc import Iterator

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis
from report.analysis.summary import Summary
from report.campaigns.questions import STATED_RATE
from report.results.generated.records import Target
from report.results.identity import Identity, short_label
from report.statistics.comparison import Comparison


class Key(Struct, frozen=True, order=True):
    """A target as its row shows it. Store and topology are empty for a target without a store."""

    label: str
    store: str
    topology: str


def key_of(identity: Identity) -> Key:
    """The target of a row of a campaign."""
    if identity.ceiling:
        return Key(identity.short_label, "", "")
    return Key(identity.short_label, identity.store_text, identity.topology or "")


def key_of_audited(target: Target) -> Key:
    """The target of an audit, as campaigns name it."""
    label = short_label(target.label, target.topology)
    if target.topology == "none":
        return Key(label, "", "")
    return Key(label, target.store, target.topology)


class ShownRow(Struct, frozen=True):
    """A row of a campaign from which the matrix takes figures."""

    summary: Summary
    versus_base: Comparison | None
    """Its comparison with the reference by throughput. None if nothing is compared, and in an open
    loop."""


def shown_rows(analysis: Analysis) -> Iterator[ShownRow]:
    """The rows with figures, those of each layer before its controls. Copies are not shown, nor the
    points of a load curve at other rates than the stated one, which would be conditions of their
    own."""
    for row in _all_rows(analysis):
        identity = row.summary.identity
        is_other_point = row.summary.in_curve and identity.rate_per_second not in (
            None,
            STATED_RATE,
        )
        if not identity.copy and row.summary.has_figures and not is_other_point:
            yield row


def _all_rows(analysis: Analysis) -> Iterator[ShownRow]:
    for part in analysis.runtimes:
        for ranking in (ranking for cell in part.cells for ranking in cell.rankings):
            for summary in ranking.summaries:
                versus_base = None if ranking.open_loop else ranking.versus_base(summary)
                yield ShownRow(summary, versus_base)
        for control in part.controls:
            yield ShownRow(control, None)
