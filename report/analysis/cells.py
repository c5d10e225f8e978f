"""Makes cells. A cell holds the comparable rows of one layer in one runtime, with their rankings
and controls."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter

from msgspec import Struct, structs

from report.analysis import texts
from report.analysis.figures import throughput
from report.analysis.load_families import over_loads
from report.analysis.ranked_pairs import Pair, compare_pairs
from report.analysis.ranking_properties import rows_by_ranking
from report.analysis.rankings import Ranking, by_throughput, rank, resolutions
from report.analysis.settled import settlings
from report.analysis.summary import Summary, layer_text_of
from report.results.identity import Identity


class Cell(Struct, frozen=True):
    """The rankings under one load, with the controls under the same load that need no store, which
    are a ceiling."""

    id: str
    identity: Identity
    """The identity of one of its rows, which all share layer, topology, workload, traffic,
    dimensions, load and limits."""
    text: texts.LayerText
    caps: str
    """The caps in which this cell differs from other cells, as text."""
    limits: str
    """The limits in which this cell differs from other cells, as text."""
    named: texts.NamedProperties
    """Which properties its texts name, because clients of the campaign differ in them."""
    rankings: tuple[Ranking, ...]
    controls: tuple[Summary, ...]
    copies: tuple[Summary, ...]
    """The copies of the references of its rankings."""
    ceilings: tuple[Pair, ...]
    """Comparisons of the fastest client with each control as the base. By turns the client is one
    that shares groups with the control. Empty in an open loop."""

    @property
    def stores_differ(self) -> bool:
        return (
            len(
                {
                    (ranking.properties.store, ranking.properties.external)
                    for ranking in self.rankings
                }
            )
            > 1
        )

    @property
    def scripts_differ(self) -> bool:
        """Whether its rankings ran different scripts. Rankings without a script do not count."""
        with_script = [
            ranking
            for ranking in self.rankings
            if ranking.scripts or ranking.properties.same_script
        ]
        shas = {ranking.one_script for ranking in with_script}
        return len(with_script) > 1 and (len(shas) > 1 or None in shas)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        return tuple(summary for ranking in self.rankings for summary in ranking.summaries)

    @property
    def rows(self) -> tuple[Summary, ...]:
        """The rows of its rankings, and each copy directly below its reference."""
        return self.with_copies(self.summaries)

    def with_copies(self, rows: Iterable[Summary]) -> tuple[Summary, ...]:
        """The rows in their order, each followed by its copy, so that nobody sees a reference
        without its copy."""
        shown_rows: list[Summary] = []
        for row in rows:
            shown_rows.append(row)
            shown_rows.extend(copy for copy in self.copies if is_copy_of(copy, row))
        return tuple(shown_rows)


def is_copy_of(copy: Summary, row: Summary) -> bool:
    """Whether `copy` is the copy of `row` in the same ranking."""
    in_same_ranking = copy.ranking.id == row.ranking.id
    has_its_label = copy.identity.copy_of == row.identity.label
    return in_same_ranking and has_its_label and not row.identity.copy


_load_of = attrgetter(
    "layer",
    "workload",
    "complexity",
    "traffic",
    "connections",
    "rate_per_second",
    "arrivals",
    "duration_s",
    "requests",
    "limits",
)


def load_key(identity: Identity) -> tuple[object, ...]:
    """The load that the rankings of a cell share with each other and with their controls."""
    return (*identity.counts.values(), *_load_of(identity))


def _ceilings(summaries: Sequence[Summary], controls: Sequence[Summary]) -> tuple[Pair, ...]:
    clients = [row for row in by_throughput(summaries) if row.has_figures]
    if not clients or clients[0].identity.open_loop:
        return ()

    def partner(control: Summary) -> Summary:
        """The client that shares the most groups with the control, or without turns the fastest."""
        if not control.by_turns:
            return clients[0]
        return max(clients, key=lambda row: len(row.places & control.places))

    ceilings: list[Pair] = []
    for control in controls:
        ceilings.extend(compare_pairs([(control, partner(control))], throughput))
    return tuple(ceilings)


def _cells(summaries: Sequence[Summary], campaign: Sequence[Summary]) -> Iterator[Cell]:
    """The cells of rows of one layer in the order of these rows. Controls alone make no cell."""
    named = texts.named_properties(campaign)
    caps_of = texts.differing_caps(row for row in summaries if not row.identity.control)
    resolution_by_reference = resolutions(campaign)
    settlings_of_campaign = settlings(campaign)
    copies = by_throughput(row for row in summaries if row.identity.copy)

    clients: dict[tuple[object, ...], list[Summary]] = {}
    cell_of_ranking: dict[str, tuple[object, ...]] = {}
    controls: dict[tuple[object, ...], list[Summary]] = {}
    for summary in summaries:
        identity = summary.identity
        if identity.ceiling:
            controls.setdefault(load_key(identity), []).append(summary)
        elif not identity.copy:
            caps = json.dumps(caps_of(identity), sort_keys=True)
            key = (identity.topology, caps, *load_key(identity))
            cell_key = cell_of_ranking.setdefault(summary.ranking.id, key)
            clients.setdefault(cell_key, []).append(summary)

    caps_differ = any(caps_of(rows[0].identity) for rows in clients.values())
    varying = texts.varying_fields([row for rows in clients.values() for row in rows])
    limits = [part for part in varying if part.only_if_differing]

    ranked_members = [rows_by_ranking(rows) for rows in clients.values()]
    rankings_of_cells = iter(
        over_loads(
            [
                rank(members, properties, named, resolution_by_reference, settlings_of_campaign)
                for ranked in ranked_members
                for properties, members in ranked
            ]
        )
    )
    for number, (rows, members_of_cell) in enumerate(
        zip(clients.values(), ranked_members, strict=True), start=1
    ):
        identity = rows[0].identity
        rankings = tuple(islice(rankings_of_cells, len(members_of_cell)))
        cell_controls = by_throughput(controls.get(load_key(identity), []))
        ranked = [summary for ranking in rankings for summary in ranking.summaries]
        yield Cell(
            id=f"cell{number}",
            identity=identity,
            text=layer_text_of(summaries),
            caps=f"caps {texts.caps_text(caps_of(identity))}" if caps_differ else "",
            limits=texts.load_text(identity, limits),
            named=named,
            rankings=rankings,
            controls=tuple(cell_controls),
            copies=tuple(copy for copy in copies if any(is_copy_of(copy, row) for row in ranked)),
            ceilings=_ceilings(ranked, cell_controls),
        )


def cells(summaries: Sequence[Summary], campaign: Sequence[Summary] = ()) -> tuple[Cell, ...]:
    return tuple(_cells(summaries, campaign or summaries))


class RuntimeResults(Struct, frozen=True, kw_only=True):
    """The cells and controls of one layer in one runtime. The name of the runtime or the layer is
    empty if the campaign has no other one."""

    id: str
    runtime: str
    layer: str
    """The name of the layer, such as `limiter layer`."""
    text: texts.LayerText
    cells: tuple[Cell, ...]
    controls: tuple[Summary, ...]
    """The controls that are in no ranking and below no reference."""

    @property
    def name(self) -> str:
        if not self.runtime:
            return self.layer.capitalize()
        return ", ".join(filter(None, (self.runtime, self.layer)))

    @property
    def title(self) -> str:
        return f"Runtime {self.name}" if self.runtime else self.name

    @property
    def ordered(self) -> tuple[Summary, ...]:
        return (*(row for cell in self.cells for row in cell.rows), *self.controls)


def runtimes_of(summaries: Sequence[Summary]) -> Iterator[RuntimeResults]:
    """The layers of each runtime, with the runtimes in the order of `summaries`. Rows without a run
    belong to the first runtime.

    Nothing is compared across runtimes or layers, because containers and local processes differ in
    more than the client, and a decision is not a request."""
    known_runtimes = dict.fromkeys(summary.runtime for summary in summaries if summary.runtime)
    runtimes = list(known_runtimes) or [""]

    rows_of: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        key = (summary.runtime or runtimes[0], summary.identity.layer)
        rows_of.setdefault(key, []).append(summary)

    several_layers = len({layer for _, layer in rows_of}) > 1
    ordered = sorted(rows_of.items(), key=lambda entry: runtimes.index(entry[0][0]))
    for number, ((runtime, _), rows) in enumerate(ordered, start=1):
        prefix = f"part{number}-" if len(rows_of) > 1 else ""
        text = layer_text_of(rows)
        part_cells = tuple(
            structs.replace(cell, id=prefix + cell.id) for cell in cells(rows, summaries)
        )
        below_references = {copy.id for cell in part_cells for copy in cell.copies}
        controls = (row for row in rows if row.identity.control and row.id not in below_references)
        yield RuntimeResults(
            id=prefix,
            runtime=runtime if len(runtimes) > 1 else "",
            layer=text.name if several_layers else "",
            text=text,
            cells=part_cells,
            controls=tuple(controls),
        )
