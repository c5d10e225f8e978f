"""How the figures of a layer are named: requests of servers, or decisions without any server."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from report.base.format import decimals, milliseconds
from report.results.model import LAYER_WORDS, LAYERS

if TYPE_CHECKING:  # Its warnings are worded here.
    from report.analysis.summary import Summary


@dataclass(frozen=True, slots=True)
class LayerText:
    layer: str
    request: str
    """What is counted: `request`, `decision`."""
    consumer: str
    """The processes whose CPU is compared: `server`, `client`."""
    in_microseconds: bool = False
    """Latencies are printed in µs: without servers some of them are below a millisecond."""

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
        """In `latency_unit`, without it. Histograms count whole microseconds."""
        return decimals(self.latency_value(value_ms), 0) if self.in_microseconds else milliseconds(value_ms)


_TEXTS = {
    words["layer"]: LayerText(words["layer"], words["request"], words["consumer"]) for words in LAYER_WORDS
}


def layer_text(layer: str) -> LayerText:
    return _TEXTS[layer]


def layer_text_of(rows: "Sequence[Summary]") -> LayerText:
    """The same for rows of one layer that share a table or chart; latencies in µs where a median one at the
    limiter layer is below 1 ms."""
    found = layer_text(rows[0].identity.layer)
    medians = [row.figures.percentiles_ms.get("p50") for row in rows if row.figures]
    below = any(median is not None and median < 1 for median in medians)
    return replace(found, in_microseconds=not found.has_servers and below)


def rate_units(rows: "Iterable[Summary]") -> str:
    """`requests/s`, `decisions/s`, or both, for a table of rows of all layers."""
    layers = {row.identity.layer for row in rows}
    return " or ".join(layer_text(layer).rate_unit for layer in LAYERS if layer in layers)
