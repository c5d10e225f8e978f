"""Client and script apart: a client under its own script beside the same client under the one for all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from report.analysis.rankings import Cell, Figure, by_throughput
from report.analysis.steadiness import attributable
from report.analysis.summary import Summary
from report.base.format import ABSENT, microseconds, plural, rate
from report.results.roles import cpu_us_per_request
from report.sections.script_text import script_names
from report.statistics.decision import Comparison, compare_family
from report.statistics.power import MIN_RUNS_FOR_A_CLAIM

Pair = tuple[Summary | None, Summary | None]
"""The rows of one variant of a client on one store: under its own script, under the one for all."""

#: What is compared: requests/s, and µs of CPU time per request of the server and of all store nodes; the
#: first is better when higher, the others when lower.
FIGURES: tuple[tuple[Figure, Callable[[float | None], str]], ...] = (
    (lambda figures: figures.requests_per_second, rate),
    (lambda figures: cpu_us_per_request(figures.roles).get("server"), microseconds),
    (lambda figures: cpu_us_per_request(figures.roles).get("store"), microseconds),
)


@dataclass(frozen=True, slots=True)
class ApartRow:
    """`own`, `same`: script, requests/s, server and store CPU in µs/request; `ratios`: same ÷ own of each,
    with its interval, and what the test says of `same` where there are enough runs."""

    ids: str
    """Of the rows that it is made of, with a space between."""
    label: str
    tags: tuple[str, ...]
    own: tuple[str, ...]
    same: tuple[str, ...]
    ratios: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ApartTable:
    """Of one store in one cell."""

    id: str
    store: str
    rows: tuple[ApartRow, ...]

    @property
    def ids(self) -> str:
        return " ".join(row.ids for row in self.rows)


def _value(summary: Summary | None, read: Figure) -> float | None:
    return read(summary.figures) if summary and summary.figures else None


def _side(summary: Summary | None) -> tuple[str, ...]:
    figures = [show(_value(summary, read)) for read, show in FIGURES]
    return (script_names(summary) if summary else ABSENT, *figures)


def _tags(own: Summary | None, same: Summary | None) -> tuple[str, ...]:
    """What the ratios of a row are worth; nothing where it has none."""
    if own is None or same is None or not (own.figures and same.figures):
        return ()
    fewest = min(own.valid_runs, same.valid_runs)
    few = [f"indicative, {plural(fewest, 'run')}"] if fewest < MIN_RUNS_FOR_A_CLAIM else []
    ran = {script.sha1 for summary in (own, same) for script in summary.scripts}
    equal = own.scripts and same.scripts and len(ran) == 1 and None not in ran
    return (*few, *(["own is the same script"] if equal else []))


def _ratios(pairs: Iterable[Pair], unsteady: str) -> dict[str, list[str]]:
    """Same ÷ own of each figure, by the id of the row under the one script; a family is a column."""
    both = [(own, same) for own, same in pairs if own and same]
    said: dict[str, list[str]] = {same.id: [] for _, same in both}
    for column, (read, _) in enumerate(FIGURES):
        found = compare_family(
            [(same.values(read), own.values(read)) for own, same in both], higher_is_better=column == 0
        )
        for (own, same), comparison in zip(both, found, strict=True):
            # In an open loop throughput is what was offered.
            tested = comparison.p_holm is not None and not (column == 0 and same.identity.open_loop)
            told = attributable(comparison, own, same, unsteady)
            said[same.id].append(_ratio_text(told, tested))
    return said


def _ratio_text(comparison: Comparison, tested: bool) -> str:
    """`1.25×, 1.21–1.30×, better`."""
    if comparison.ratio is None:
        return ABSENT
    interval = comparison.interval
    return ", ".join(
        [
            f"{comparison.ratio:.2f}×",
            *([f"{interval.low:.2f}–{interval.high:.2f}×"] if interval else []),
            *([comparison.status] if tested else []),
        ]
    )


def _row(
    label: str, own: Summary | None, same: Summary | None, ratios: Mapping[str, Sequence[str]]
) -> ApartRow:
    return ApartRow(
        ids=" ".join(summary.id for summary in (own, same) if summary),
        label=label,
        tags=_tags(own, same),
        own=_side(own),
        same=_side(same),
        ratios=tuple(ratios.get(same.id if same else "", (ABSENT,) * len(FIGURES))),
    )


def _ordered(pairs: dict[str, Pair]) -> list[tuple[str, Pair]]:
    """By the throughput under the one script, the highest first; then those without it, likewise."""
    rows = [by_throughput(row for row in side if row) for side in zip(*pairs.values(), strict=True)]
    place = {row.id: number for number, row in enumerate([*rows[1], *rows[0]])}

    def order(entry: tuple[str, Pair]) -> int:
        own, same = entry[1]
        return min(place[row.id] for row in (own, same) if row)

    return sorted(pairs.items(), key=order)


def apart_tables(cell: Cell) -> tuple[ApartTable, ...]:
    """A table for each store on which some client has rows with and without `same-script`.

    Clients with one of the two stand there too, without ratios: the column of the one script is read down.
    """
    stores: dict[str, dict[str, list[Summary | None]]] = {}
    for summary in cell.summaries:
        identity = summary.identity
        if identity.store is not None:
            sides = stores.setdefault(identity.store_text, {}).setdefault(identity.variant, [None, None])
            sides[identity.same_script] = summary
    tables: list[ApartTable] = []
    for store, variants in stores.items():
        pairs: dict[str, Pair] = {variant: (own, same) for variant, (own, same) in variants.items()}
        if any(own and same for own, same in pairs.values()):
            ratios = _ratios(pairs.values(), cell.unsteady)
            rows = tuple(_row(variant, *pair, ratios) for variant, pair in _ordered(pairs))
            tables.append(ApartTable(f"{cell.id}-apart{len(tables) + 1}", store, rows))
    return tuple(tables)


def apart_caption(tables: Sequence[ApartTable]) -> str:
    """How the tables are read; empty without one."""
    return (
        "Each row is one client. On the left it runs its own script, on the right all clients run the same "
        "one: read down the right side to compare clients, and across a row to see what the script costs. "
        "The last columns give same script ÷ own script with a 95 % interval; below "
        f"{MIN_RUNS_FOR_A_CLAIM} valid runs of each nothing is tested. Where a client’s own script is the "
        "same one, they show noise."
        if tables
        else ""
    )
