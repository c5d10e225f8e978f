"""Matches the rows of two sides, which are then compared pair by pair."""

from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct

from report.analysis.cells import load_key
from report.analysis.row_pairs import sample_between, systematic_between
from report.analysis.summary import Summary
from report.analysis.texts import load_text
from report.base.errors import USAGE, ReportError, one_line
from report.compare import comparability
from report.compare.common_references import ratios_to, references_of
from report.compare.comparison_metrics import Metric, not_concluded
from report.compare.selection import Selection
from report.compare.stopped_rounds import Stopped, stop_of
from report.statistics.comparison import Comparison
from report.statistics.samples import Sample, upto


@dataclass(frozen=True, eq=False)
class MatchedRows:
    """Two rows under one load, which are to be compared by a metric."""

    base_side: Selection
    new_side: Selection
    base: Summary
    new: Summary
    metric: Metric

    @property
    def rows(self) -> comparability.Rows:
        return (self.base, self.new)

    @cached_property
    def names(self) -> comparability.Names:
        """The names that tell the two rows apart."""
        labels = (self.base.identity.label, self.new.identity.label)
        campaigns = (self.base_side.campaign.name, self.new_side.campaign.name)
        if not self.across:
            return labels
        if labels[0] == labels[1]:
            return campaigns
        return f"{campaigns[0]}#{labels[0]}", f"{campaigns[1]}#{labels[1]}"

    @property
    def across(self) -> bool:
        """Whether the rows belong to two campaigns."""
        return self.base_side.folder != self.new_side.folder

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """The parts that are compared together: `client`, `script`, `store` and so on. Empty for
        one configuration twice."""
        return comparability.compared_parts(*self.rows)

    @cached_property
    def stop(self) -> Stopped | None:
        """Where the compared runs end, see `stop_of`."""
        return stop_of(self.rows)

    @cached_property
    def references(self) -> comparability.Rows | None:
        """The common reference of two campaigns, to which the figures of both are related."""
        if not self.across:
            return None
        base_references = references_of(self.base, self.base_side.every)
        new_references = references_of(self.new, self.new_side.every)
        return next(
            (
                (row, new_references[key])
                for key, row in base_references.items()
                if key in new_references
            ),
            None,
        )

    @property
    def reference(self) -> str | None:
        """The label of the common reference."""
        return self.references[0].identity.label if self.references else None

    @property
    def concludes(self) -> bool:
        """Whether the comparison can count for the verdict. A figure that follows from another one
        cannot."""
        return not not_concluded(self.base, self.metric)

    @cached_property
    def nothing_cancels(self) -> str:
        """Why the influence of the host does not cancel, so that nothing is decided. Empty if it
        does."""
        if self.references:
            return ""
        if self.across:
            missing_reference = (
                "no common reference of the same version, store and settings "
                "(run --reference auto adds one to a single target)"
            )
            return f"the host does not cancel: the campaigns have {missing_reference}"
        manifest = self.base_side.campaign.manifest
        is_interleaved = manifest is not None and manifest["plan"]["order"] in (
            "turns",
            "interleaved",
        )
        return "" if is_interleaved else "the host does not cancel: runs were not interleaved"

    @property
    def reason(self) -> str:
        """Why nothing is concluded."""
        return not_concluded(self.base, self.metric) or self.nothing_cancels

    def values(self, row: Summary) -> tuple[float, ...]:
        """The values of one of the two rows that are compared."""
        if self.stop is None or self.stop.rounds is None:
            return row.sample(self.metric.read, in_time=True)
        return tuple(
            value for _, value in sorted(upto(row.side(self.metric.read), self.stop.rounds).items())
        )

    @cached_property
    def sample(self) -> Sample:
        """What the two rows are compared by."""
        figure = self.metric.read
        stop = self.stop
        rounds, share = (stop.rounds, stop.share) if stop else (None, 1.0)
        if self.references:
            # Each value is the figure of the row ÷ that of the reference in one round. The rounds
            # of two campaigns form no pairs.
            sides = zip(self.references, self.rows, strict=True)
            base_ratios, new_ratios = (
                ratios_to(*rows_of_side, figure, rounds) for rows_of_side in sides
            )
            systematic = systematic_between(self.new, self.base, figure)
            return Sample(
                new=new_ratios,
                base=base_ratios,
                share=share,
                to_reference=True,
                systematic=systematic,
            )
        if not self.nothing_cancels:
            return sample_between(self.new, self.base, figure, rounds, share)
        return Sample(new=self.values(self.new), base=self.values(self.base), share=share)


class RowComparison(Struct, frozen=True):
    """Two matched rows with their comparison."""

    matched: MatchedRows
    comparison: Comparison
    differs: tuple[str, ...]
    """Sentences about what differs besides the names of the targets: scripts, and what `--allow`
    permits."""


def match_rows(
    base: Selection, new: Selection, metric: Metric
) -> tuple[list[MatchedRows], list[str]]:
    """Pairs rows under one load, either of the targets that the sides name or of each target with
    itself. Returns the pairs, and a note for each row without a pair.

    Raises ReportError when nothing matches, or both sides are the same rows."""
    by_label = base.label is None and new.label is None

    def by_load(side: Selection) -> dict[tuple[object, ...], Summary]:
        # A copy only checks its own campaign: each campaign has a copy and a reference.
        rows = [row for row in side.summaries if not (by_label and row.identity.copy)]
        extra_keys = [(row.identity.label, row.identity.caps) if by_label else () for row in rows]
        return {
            (*load_key(row.identity), *extra_key): row
            for row, extra_key in zip(rows, extra_keys, strict=True)
        }

    bases = by_load(base)
    news = by_load(new)
    pairs = [
        MatchedRows(base, new, row, news[key], metric) for key, row in bases.items() if key in news
    ]
    if not pairs:
        base_loads, new_loads = (
            ", ".join(dict.fromkeys(load_text(row.identity) for row in side.summaries))
            for side in (base, new)
        )
        sides_text = f"{one_line(base.text)} and {one_line(new.text)}"
        raise ReportError(f"{sides_text} have no load in common: {base_loads}; {new_loads}", USAGE)
    if by_label:
        # A reference through which other rows are compared is left out, because its ratio would
        # always be 1.
        reference_ids = {
            id(pair.references[0]) for pair in pairs if not pair.base.reference and pair.references
        }
        pairs = [pair for pair in pairs if id(pair.base) not in reference_ids]
    if base.folder == new.folder and all(pair.base is pair.new for pair in pairs):
        raise ReportError("both sides are the same runs: give two targets or two campaigns", USAGE)
    unmatched = [
        f"only in {side.text}: {row.identity.label}, {load_text(row.identity)}"
        for side, rows, counterparts in ((base, bases, news), (new, news, bases))
        for key, row in rows.items()
        if key not in counterparts
    ]
    return pairs, unmatched
