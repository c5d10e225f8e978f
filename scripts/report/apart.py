"""Client and script apart: a client under its own script beside the same client under the one for all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from .compare import Cell, by_throughput
from .format import ABSENT, microseconds, plural, rate, ratio
from .model import Measured
from .roles import cpu_us_per_request
from .script_text import script_names
from .stats import MIN_RUNS_FOR_A_CLAIM, compare_family, ratio_between
from .summarize import Summary

Figure = Callable[[Measured], float | None]
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
    with what the test says of `same` where there are enough runs: `1.25×, better`."""

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


def _values(summary: Summary, read: Figure) -> list[float]:
    """Of the runs that count and have the figure."""
    found = [read(run.measured) for run in summary.runs if run.eligible and run.measured]
    return [value for value in found if value is not None]


def _statuses(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """What the tests say, by the id of the row under the one script; a family is a column of the table."""
    both = [(own, same) for own, same in pairs if own and same]
    said: dict[str, list[str]] = {same.id: [] for _, same in both}
    for column, (read, _) in enumerate(FIGURES):
        found = compare_family(
            [(_values(same, read), _values(own, read)) for own, same in both], higher_is_better=column == 0
        )
        for (_, same), comparison in zip(both, found, strict=True):
            # In an open loop throughput is what was offered.
            tested = comparison.p_holm is not None and not (column == 0 and same.identity.open_loop)
            said[same.id].append(comparison.status if tested else "")
    return said


def _row(
    label: str, own: Summary | None, same: Summary | None, statuses: Mapping[str, Sequence[str]]
) -> ApartRow:
    ratios = [ratio(ratio_between(_value(same, read), _value(own, read))) for read, _ in FIGURES]
    told = statuses.get(same.id, ()) if same else ()
    return ApartRow(
        ids=" ".join(summary.id for summary in (own, same) if summary),
        label=label,
        tags=_tags(own, same),
        own=_side(own),
        same=_side(same),
        ratios=tuple(", ".join(filter(None, parts)) for parts in zip_longest(ratios, told, fillvalue="")),
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
            statuses = _statuses(pairs.values())
            rows = tuple(_row(variant, *pair, statuses) for variant, pair in _ordered(pairs))
            tables.append(ApartTable(f"{cell.id}-apart{len(tables) + 1}", store, rows))
    return tuple(tables)


def apart_caption(tables: Sequence[ApartTable]) -> str:
    """How the tables are read; empty without one."""
    return (
        "Down the columns under “same script” the clients differ and the script does not, though the command "
        "may; across a line the script differs and the client does not. Figures of the median runs; ratios "
        f"are same ÷ own, indicative below {MIN_RUNS_FOR_A_CLAIM} valid runs a side, tested as rankings are "
        "above it, each column for itself. Where a client’s own script is the same one, they show what is "
        "noise."
        if tables
        else ""
    )
