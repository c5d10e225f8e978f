"""The page docs/transfer.md: which conclusions of one campaign also hold where one factor differs.

The campaigns are those below results/published/transfer, in a folder for each place where the same
targets were measured. All other places are held against the one in the folder `base`, and its rows
at a rate against its rows at full load."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.figures import Figure, consumer_cpu, throughput
from report.analysis.machines import keys_by_kind
from report.analysis.ranked_pairs import compare_pairs
from report.analysis.row_pairs import systematic_between
from report.analysis.summary import Summary
from report.analysis.texts import interval_of
from report.base.errors import USAGE, ReportError, one_line
from report.base.format import ABSENT, joined, plural
from report.base.markdown import code, prose, table
from report.compare.common_references import ratios_to
from report.results.archives import found_campaigns
from report.results.load import load_campaign
from report.results.model import MANIFEST
from report.statistics.comparison import Comparison
from report.statistics.decision import compare_samples
from report.statistics.samples import Sample

#: The page in docs/.
PAGE = "transfer.md"
#: The folder with the campaigns, below a folder of results.
CAMPAIGNS = "published/transfer"
#: The folder of the campaign with which the others are compared.
BASE = "base"

#: The compared figures, with their names. Only a closed loop decides throughput (rule M4).
_CPU = "CPU of the server"
_FIGURES: Mapping[str, Figure] = {"requests/s": throughput, _CPU: consumer_cpu}

_HEAD = f"""# Does it hold elsewhere?

<!-- Written by `python3 report transfer` from results/{CAMPAIGNS}. -->

On 2 shared CPUs: targets were measured once as a base, and again with one thing changed. Ratios
are to the same reference in the same rounds. A direction _holds_ if both places show it. It is _not
decided_ where one place, or both, show none: that is no sign that it changed.

The last column is the ratio there divided by the ratio on the base. Its interval of 95 % contains
the chance of both campaigns and the measured systematic error (M22, M34). The size _moved_ where
this differs from 1 by the rule of comparisons (M17), and was _not told apart_ elsewhere. The
comparisons of one figure in a table are one family of Holm's correction. Latency is left out: at
full load it follows from throughput, and on shared CPUs late sends take the p99 at a rate (M5)."""

_SUMMARY = ("Changed", "Directions shown on the base", "Hold", "Opposite", "Not decided there")
_SIZES = "Sizes that moved"
_COLUMNS = ("Target", "Load", "Figure", "Base", "There", "Direction", "There ÷ base")

_HOLDS = "holds"
_OPPOSITE = "opposite"
_NOT_DECIDED = "not decided"


class RowKey(Struct, frozen=True):
    """What rows of two places have in common."""

    target: str
    """The label without the version of Node.js, which may be what was changed."""
    load: str


class Place(Struct, frozen=True):
    """A campaign, with its rows that are compared with a reference."""

    name: str
    source: str
    """The address of the campaign below the folder of results."""
    facts: Mapping[str, str]
    """The machine and the version of Node.js by the names of their properties."""
    rows: Mapping[RowKey, tuple[Summary, Summary]]
    """The reference and the row, closed loops first."""

    def comparisons(self, figure_name: str) -> dict[RowKey, Comparison]:
        """The ratios to the reference, as one family."""
        pairs = {key: pair for key, pair in self.rows.items() if _has(pair[1], figure_name)}
        compared = compare_pairs(list(pairs.values()), _FIGURES[figure_name], with_outlook=False)
        by_row = {(pair.base.id, pair.new.id): pair.comparison for pair in compared}
        return {
            key: by_row[reference.id, row.id]
            for key, (reference, row) in pairs.items()
            if (reference.id, row.id) in by_row
        }


class Transferred(Struct, frozen=True, kw_only=True):
    """A ratio on the base and in another place."""

    key: RowKey
    figure_name: str
    base: Comparison
    there: Comparison
    change: Comparison
    """The ratio there ÷ the ratio on the base."""

    @property
    def direction(self) -> str:
        """Whether the direction on the base holds there."""
        if self.base.direction is None or self.there.direction is None:
            return _NOT_DECIDED
        return _HOLDS if self.base.direction == self.there.direction else _OPPOSITE

    @property
    def moved(self) -> bool:
        return self.change.direction is not None


class Factor(Struct, frozen=True):
    """What was changed, with the ratios before and after."""

    title: str
    ratios: tuple[Transferred, ...]

    @property
    def shown_on_base(self) -> tuple[Transferred, ...]:
        return tuple(ratio for ratio in self.ratios if ratio.base.direction is not None)


def _has(row: Summary, figure_name: str) -> bool:
    return figure_name == _CPU or not row.identity.open_loop


def _target(row: Summary) -> str:
    label = row.identity.short_label
    return label.replace(f"+node-{row.identity.node}", "") if row.identity.node else label


def _rows(analysis: Analysis) -> dict[RowKey, tuple[Summary, Summary]]:
    """The compared rows of a campaign, each with the reference under its load.

    Raises ReportError if several rows under a load are a reference."""
    rows = sorted(analysis.summaries, key=lambda row: row.identity.rate_per_second or 0)
    references: dict[str, Summary] = {}
    for row in rows:
        if row.reference and references.setdefault(row.identity.load_text, row) is not row:
            load = row.identity.load_text
            raise ReportError(f"{analysis.campaign.name} has several references at {load}", USAGE)
    return {
        RowKey(_target(row), row.identity.load_text): (references[row.identity.load_text], row)
        for row in rows
        if row.identity.load_text in references and not row.reference and not row.identity.copy
    }


def _facts(analysis: Analysis) -> dict[str, str]:
    versions = {
        run.versions["node"]
        for row in analysis.summaries
        for run in row.runs
        if run.measured and "node" in run.versions
    }
    machine = next(iter(keys_by_kind(analysis.campaign).values()))
    return {**machine, "Node.js": ", ".join(sorted(versions))}


def _place(name: str, source: str, analysis: Analysis) -> Place:
    return Place(name, source, _facts(analysis), _rows(analysis))


def read_places(results: Path) -> list[Place]:
    """The places of all campaigns about transfer in a folder of results, with the base first.

    Raises ReportError without a base, and where a campaign cannot be read."""
    places = []
    with found_campaigns(results / CAMPAIGNS, MANIFEST) as campaigns:
        for path, folder, problem in campaigns:
            if problem:
                raise ReportError(f"{path}: {problem}", USAGE)
            analysis = analyse(load_campaign(folder, series=False))
            places.append(_place(path.parts[0], f"{CAMPAIGNS}/{path}", analysis))
    bases = [place for place in places if place.name == BASE]
    if len(bases) != 1:
        folder_text = one_line(results / CAMPAIGNS / BASE)
        raise ReportError(f"{folder_text} must hold one campaign, and has {len(bases)}", USAGE)
    return [*bases, *(place for place in places if place.name != BASE)]


def _change(
    before: tuple[Summary, Summary], after: tuple[Summary, Summary], figure: Figure
) -> Sample:
    """Each value is the ratio of a row to its reference in one round. Rounds of two places, or of
    two loads, form no pairs."""
    base_ratios, new_ratios = (
        ratios_to(reference, row, figure) for reference, row in (before, after)
    )
    return Sample(
        new=new_ratios,
        base=base_ratios,
        to_reference=True,
        systematic=systematic_between(after[1], before[1], figure),
    )


def _transferred(
    base: Place, there: Place, figure_name: str, counterparts: Mapping[RowKey, RowKey]
) -> list[Transferred]:
    """The ratios by a figure of rows of the base and of their counterparts, where both have it."""
    on_base = base.comparisons(figure_name)
    elsewhere = there.comparisons(figure_name)
    known = {
        key: counterpart
        for key, counterpart in counterparts.items()
        if key in on_base and counterpart in elsewhere
    }
    figure = _FIGURES[figure_name]
    changes = compare_samples(
        [
            _change(base.rows[key], there.rows[counterpart], figure)
            for key, counterpart in known.items()
        ],
        higher_is_better=figure.higher_is_better,
        with_outlook=False,
    )
    return [
        Transferred(
            key=key,
            figure_name=figure_name,
            base=on_base[key],
            there=elsewhere[counterpart],
            change=change,
        )
        for (key, counterpart), change in zip(known.items(), changes, strict=True)
    ]


def _differences(base: Place, there: Place) -> str:
    """What differs between two places: `Node.js 24.21.0 instead of 20.20.2`."""
    differing = [
        f"{name} {text} instead of {base.facts[name]}"
        for name, text in there.facts.items()
        if name in base.facts and base.facts[name] != text
    ]
    return joined(differing) or "Nothing: measured again"


def factors(places: Sequence[Place]) -> list[Factor]:
    """What was changed: the load on the base, and everything else in the other places."""
    base, *others = places
    return [*_loads(base), *(_other_place(base, place) for place in others)]


def _loads(base: Place) -> Iterator[Factor]:
    """Each rate of the base instead of full load."""
    by_loop: dict[bool, list[RowKey]] = {False: [], True: []}
    for key, (_, row) in base.rows.items():
        by_loop[row.identity.open_loop].append(key)
    for load in dict.fromkeys(key.load for key in by_loop[True]):
        counterparts = {key: RowKey(key.target, load) for key in by_loop[False]}
        ratios = _transferred(base, base, _CPU, counterparts)
        yield Factor(f"Load {load} instead of full load", tuple(ratios))


def _other_place(base: Place, place: Place) -> Factor:
    same = {key: key for key in base.rows}
    of_figures = (_transferred(base, place, figure_name, same) for figure_name in _FIGURES)
    return Factor(
        _differences(base, place), tuple(ratio for ratios in of_figures for ratio in ratios)
    )


def _counts(factor: Factor) -> list[str]:
    directions = [ratio.direction for ratio in factor.shown_on_base]
    counted = (directions.count(word) for word in (_HOLDS, _OPPOSITE, _NOT_DECIDED))
    moved = sum(ratio.moved for ratio in factor.ratios)
    sizes = f"{moved} of {len(factor.ratios)}"
    return [prose(factor.title), str(len(directions)), *map(str, counted), sizes]


def _ratio_text(comparison: Comparison) -> str:
    return "; ".join(filter(None, (interval_of(comparison), comparison.statement))) or ABSENT


def _ratio_cells(ratio: Transferred) -> list[str]:
    change = interval_of(ratio.change)
    moved = "moved" if ratio.moved else "not told apart"
    return [
        code(ratio.key.target),
        prose(ratio.key.load),
        ratio.figure_name,
        _ratio_text(ratio.base),
        _ratio_text(ratio.there),
        ratio.direction,
        f"{change}; {moved}" if change else ABSENT,
    ]


def _section(factor: Factor) -> list[str]:
    rows = [_ratio_cells(ratio) for ratio in factor.ratios]
    return ["", f"## {prose(factor.title)}", "", *table(_COLUMNS, rows, len(_COLUMNS))]


def _source_line(place: Place) -> str:
    facts = ", ".join(f"{name} {text}" for name, text in place.facts.items() if text)
    targets = len({key.target for key in place.rows})
    return (
        f"- {code(place.source)}: {plural(targets, 'target')} beside the reference, {prose(facts)}"
    )


def transfer_markdown(places: Sequence[Place]) -> str:
    """The page about transfer, of places with the base first."""
    changed = factors(places)
    lines = [
        _HEAD,
        "",
        *table((*_SUMMARY, _SIZES), map(_counts, changed), 1),
        *(line for factor in changed for line in _section(factor)),
        "",
        "## Campaigns",
        "",
        *map(_source_line, places),
        "",
    ]
    return "\n".join(lines)
