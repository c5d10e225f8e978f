"""Texts that charts, sections and exports share. They are about the figures of a layer, the load of
a row, its decider, and comparisons."""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

from msgspec import Struct

from report.base.format import decimals, gibibytes, milliseconds, plural, ratio
from report.results.catalog import DIMENSIONS, LAYER_WORDS, LAYERS, MEASURED_KINDS, Dimension
from report.results.identity import Identity
from report.statistics.comparison import Comparison
from report.statistics.ratio import RatioInterval


class Row(Protocol):
    @property
    def identity(self) -> Identity: ...


SomeRow = TypeVar("SomeRow", bound=Row)


class LayerText(Struct, frozen=True):
    """How a layer names its figures."""

    layer: str
    request: str
    """The name of what is counted, which is `request` or `decision`."""
    consumer: str
    """The name of the processes whose CPU is compared, which is `server` or `client`."""
    in_microseconds: bool = False
    """Whether latencies are printed in µs, because without servers they can be below a
    millisecond."""

    @property
    def has_servers(self) -> bool:
        return self.consumer == "server"

    @property
    def name(self) -> str:
        return f"{self.layer} layer"

    @property
    def requests(self) -> str:
        return f"{self.request}s"

    @property
    def rate_unit(self) -> str:
        return f"{self.requests}/s"

    @property
    def cpu(self) -> str:
        return f"{self.consumer} CPU"

    @property
    def cpu_title(self) -> str:
        return f"{self.cpu[:1].upper()}{self.cpu[1:]}"

    @property
    def cpu_unit(self) -> str:
        return f"µs/{self.request}"

    @property
    def latency_unit(self) -> str:
        return "µs" if self.in_microseconds else "ms"

    def latency_value(self, value_ms: float | None) -> float | None:
        return value_ms * 1000 if value_ms is not None and self.in_microseconds else value_ms

    def latency(self, value_ms: float | None) -> str:
        """The number in `latency_unit`. Microseconds have no decimals, because histograms count
        whole ones."""
        if self.in_microseconds:
            return decimals(self.latency_value(value_ms), 0)
        return milliseconds(value_ms)


_TEXTS = {
    words["layer"]: LayerText(words["layer"], words["request"], words["consumer"])
    for words in LAYER_WORDS
}


def layer_text(layer: str) -> LayerText:
    return _TEXTS[layer]


#: Stands beside CPU figures and latencies of closed loops, which depend on the load (rule M35).
AT_FULL_LOAD = "at full load"


def at_its_load(text: str, open_loop: bool) -> str:
    """The unit or name followed by `at full load` in a closed loop. In an open loop the rate stands
    beside the figure."""
    return text if open_loop else f"{text} {AT_FULL_LOAD}"


def by_loop(rows: Iterable[SomeRow]) -> list[tuple[bool, list[SomeRow]]]:
    """The rows of closed loops (False), then those of open loops (True), which share no table of
    costs or latencies."""
    by_kind: dict[bool, list[SomeRow]] = {False: [], True: []}
    for row in rows:
        by_kind[row.identity.open_loop].append(row)
    return [(open_loop, members) for open_loop, members in by_kind.items() if members]


def rate_units(rows: Iterable[Row]) -> str:
    """The units of the rates in a table, which are `requests/s`, `decisions/s` or both."""
    layers = {row.identity.layer for row in rows}
    return " or ".join(layer_text(layer).rate_unit for layer in LAYERS if layer in layers)


def count_text(identity: Identity, dimension: Dimension) -> str:
    count = identity.counts[dimension.key]
    return f"{count} {dimension.one if count == 1 else dimension.other}" if count else ""


def workload_text(identity: Identity) -> str:
    return "" if identity.layer == "limiter" else identity.workload_text


def _limit_text(identity: Identity, index: int, form: str) -> str:
    return form.format(identity.limits[index]) if identity.limits else ""


class LoadField(Struct, frozen=True):
    """A part of the text of a load."""

    name: str
    read: Callable[[Identity], str]
    default: str = ""
    """The default, which texts name only if rows differ in the field."""
    only_if_differing: bool = False
    """Whether only texts that say how rows differ have it."""
    dimension: Dimension | None = None
    """The dimension that it counts, if it is a number of something."""


LOAD = LoadField("Load", lambda identity: identity.load_text)

LOAD_FIELDS: tuple[LoadField, ...] = (
    LoadField("Layer", lambda identity: layer_text(identity.layer).name, default="server layer"),
    LoadField("Workload", workload_text),
    LoadField("Traffic", lambda identity: identity.traffic),
    *(
        LoadField(
            dimension.other.capitalize(),
            partial(count_text, dimension=dimension),
            default=f"1 {dimension.one}",
            dimension=dimension,
        )
        for dimension in DIMENSIONS
    ),
    LoadField("Quota", partial(_limit_text, index=0, form="{:,} points"), only_if_differing=True),
    LoadField(
        "Window", partial(_limit_text, index=1, form="{:,} s window"), only_if_differing=True
    ),
    LoadField("Block", partial(_limit_text, index=2, form="{:,} s block"), only_if_differing=True),
    LoadField("Cost", partial(_limit_text, index=3, form="cost {:,}"), default="cost 1"),
    LOAD,
    LoadField("Length", lambda identity: identity.extent_text),
)


def _is_named(part: LoadField, identity: Identity) -> bool:
    """Whether a text that is not about differences of rows has this part."""
    return not part.only_if_differing and part.read(identity) != part.default


def varying_fields(rows: Sequence[Row]) -> tuple[LoadField, ...]:
    """The parts of the load in which rows differ."""
    return tuple(part for part in LOAD_FIELDS if len({part.read(row.identity) for row in rows}) > 1)


def load_text(
    identity: Identity, parts: Iterable[LoadField] | None = None, layer_named: bool = False
) -> str:
    """A text such as `light · realistic · 50 connections · 30 s`. It has the given parts, or
    without them all parts that differ from their default."""
    if parts is None:
        parts = [part for part in LOAD_FIELDS if _is_named(part, identity)]
    shown_parts = (part for part in parts if not (layer_named and part.name == "Layer"))
    return " · ".join(filter(None, (part.read(identity) for part in shown_parts)))


def shared_load_text(rows: Sequence[Row], layer_named: bool = False) -> str:
    """The load that all rows share, without its defaults. Empty if they share nothing."""
    identity = rows[0].identity
    varying = varying_fields(rows)
    shared = [part for part in LOAD_FIELDS if part not in varying and _is_named(part, identity)]
    return load_text(identity, shared, layer_named)


def cap_text(cap: Mapping[str, Any]) -> str:
    """A text such as `2 CPUs, 0.5 GiB, CPUs 0-1`, or `none` if nothing is capped."""
    parts: list[str] = []
    if "cpus" in cap:
        parts.append(f"{cap['cpus']:g} {'CPU' if cap['cpus'] == 1 else 'CPUs'}")
    if "memory_bytes" in cap:
        parts.append(f"{gibibytes(cap['memory_bytes'])} GiB")
    if "cpuset" in cap:
        parts.append(f"CPUs {cap['cpuset']}")
    return ", ".join(parts) or "none"


def caps_text(caps: Mapping[str, Any]) -> str:
    texts = [f"{kind} {cap_text(caps[kind])}" for kind in MEASURED_KINDS if kind in caps]
    return "; ".join(texts) or "none"


def differing_caps(rows: Iterable[Row]) -> Callable[[Identity], dict[str, Any]]:
    """Returns a function that gives the caps of a row by kind of role. It gives only kinds in whose
    caps rows differ.

    The cap of a service counts only for rows that have a service."""
    identities = [row.identity for row in rows]

    def cap_of(identity: Identity, kind: str) -> str:
        return json.dumps(json.loads(identity.caps).get(kind))

    differing = [
        kind
        for kind in MEASURED_KINDS
        if len({cap_of(row, kind) for row in identities if kind != "service" or row.service}) > 1
    ]
    return lambda row: {
        kind: cap for kind, cap in json.loads(row.caps).items() if kind in differing
    }


_DECIDERS = {
    "library": "a library",
    "module": "a module",
    "service": "a service",
    "in-process": "the process itself",
    "app": "the app itself",
    "nothing": "nothing",
}

NOT_KNOWN = "not known"


def decider_of(identity: Identity) -> str:
    return identity.decided_by or NOT_KNOWN


def algorithm_of(identity: Identity) -> str:
    return identity.algorithm or NOT_KNOWN


class NamedProperties(Struct, frozen=True):
    """Which properties texts must name, because the clients of a campaign differ in them."""

    decider: bool
    """Whether clients differ in the decider."""
    algorithm: bool
    """Whether clients differ in the algorithm."""

    @property
    def any(self) -> bool:
        return self.decider or self.algorithm

    def short_text(self, identity: Identity) -> str:
        """A text such as `module (GCRA)` for headings of charts. Empty if nothing has to be
        named."""
        decider = decider_of(identity) if self.decider else ""
        algorithm = algorithm_of(identity) if self.algorithm else ""
        return f"{decider} ({algorithm})" if decider and algorithm else decider or algorithm

    def text(self, identity: Identity) -> str:
        """A text such as `decided by a module (GCRA)` or `GCRA`. Empty if nothing has to be
        named."""
        algorithm = algorithm_of(identity) if self.algorithm else ""
        if not self.decider:
            return "algorithm not known" if algorithm == NOT_KNOWN else algorithm

        decider = f"decided by {_DECIDERS.get(identity.decided_by or '', 'what is not known')}"
        return f"{decider} ({algorithm})" if algorithm not in ("", NOT_KNOWN) else decider


def named_properties(summaries: Sequence[Row]) -> NamedProperties:
    clients = [summary.identity for summary in summaries if not summary.identity.control]
    return NamedProperties(
        decider=len({identity.decided_by for identity in clients}) > 1,
        algorithm=len({identity.algorithm for identity in clients}) > 1,
    )


def name(summary: Row) -> str:
    return summary.identity.short_label


#: An end that lies on a margin to so many decimals cannot be told from it.
_MOST_DECIMALS = 4

#: The text for a comparison in which the typical run of one side failed its load.
NO_RATIO = "no ratio"


def interval_of(comparison: Comparison) -> str:
    """The ratio with its interval, such as `0.91×, 0.89–0.93×`.

    It is `no ratio, at most 0.93×` if the typical run of one side failed its load, and empty
    without a comparison."""
    interval = comparison.interval
    if comparison.ratio is None and (interval is None or not comparison.worst_ranks):
        return ""

    ratio = NO_RATIO if comparison.ratio is None else f"{comparison.ratio:.2f}×"
    decimals = decimals_of_ends(comparison)
    interval_part = interval_text(interval, f"{{:.{decimals}f}}".format) if interval else ""
    return ", ".join(filter(None, [ratio, interval_part]))


def decimals_of_ends(comparison: Comparison, fewest: int = 2) -> int:
    """The number of decimals with which the printed ends of the interval lie on the same sides of 1
    and of the margins as the ends themselves."""
    interval = comparison.interval
    if interval is None:
        return fewest
    margin = comparison.margin
    ends = [end for end in (interval.low, interval.high) if 0 < end < math.inf]
    if comparison.status == "no difference":
        steps = []
    elif comparison.size_is_open or comparison.status.startswith("slightly"):
        steps = [0.0, margin, 2 * margin]
    else:
        steps = [0.0, margin]
    limits = [1 + sign * step for step in steps for sign in (1, -1)]

    def sides(values: Sequence[float]) -> list[tuple[bool, bool]]:
        return [(value < limit, value > limit) for value in values for limit in limits]

    for digits in range(fewest, _MOST_DECIMALS):
        if sides([round(end, digits) for end in ends]) == sides(ends):
            return digits
    return _MOST_DECIMALS


def interval_text(interval: RatioInterval, show: Callable[[float], str] = "{:.2f}".format) -> str:
    """A text such as `0.89–0.93×`. It is `at most 0.93×` if one end is a run that failed its load,
    and empty if both are."""
    has_low, has_high = (0 < end < math.inf for end in (interval.low, interval.high))
    if has_low and has_high:
        return f"{show(interval.low)}–{show(interval.high)}×"
    if has_low:
        return f"at least {show(interval.low)}×"
    return f"at most {show(interval.high)}×" if has_high else ""


def ratio_text(estimate: float | None, interval: RatioInterval | None) -> str:
    texts = [ratio(estimate) if estimate else "", interval_text(interval) if interval else ""]
    return ", ".join(filter(None, texts))


def runs_text(comparison: Comparison) -> str:
    """The outlook of a comparison that is not decided, such as `about 14 runs per side would
    decide`."""
    if comparison.worst_ranks:
        return (
            "how many runs would decide is not known, as some failed their load, or have a figure without an "
            "upper bound"
        )
    if comparison.cannot_be_equal:
        return "no number of runs would show that there is no difference"
    if comparison.runs_needed is None:
        return "no affordable number of runs would decide"
    return f"about {plural(comparison.runs_needed, 'run')} per side would decide"


def outlook(comparison: Comparison) -> str:
    """The text of `runs_text`. Empty if runs would not help, or the ratio is not known."""
    is_unknown = comparison.ratio is None and not comparison.worst_ranks
    return "" if comparison.blocked or is_unknown else runs_text(comparison)
