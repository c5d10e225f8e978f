"""What may share a table or a chart at all: rows of one layer that were measured in the same runtime."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from report.analysis.cells import Cell, cells
from report.analysis.summary import Summary
from report.analysis.texts import LayerText, layer_text_of


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeResults:
    """Cells and controls of one layer in one runtime; what there is one of alone has an empty name."""

    id: str
    runtime: str
    layer: str
    """`limiter layer`."""
    text: LayerText
    cells: tuple[Cell, ...]
    controls: tuple[Summary, ...]

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
        return (*(summary for cell in self.cells for summary in cell.summaries), *self.controls)


def runtimes_of(summaries: Sequence[Summary]) -> tuple[RuntimeResults, ...]:
    """The runtimes in the order of `summaries`, in each its layers; rows without a run stand with the first.

    Containers and local processes differ in more than the client, and a decision is no request, so that
    nothing is compared across them."""
    runtimes = list(dict.fromkeys(summary.runtime for summary in summaries if summary.runtime)) or [""]
    parts: dict[tuple[str, str], list[Summary]] = {}
    for summary in summaries:
        parts.setdefault((summary.runtime or runtimes[0], summary.identity.layer), []).append(summary)
    several_layers = len({layer for _, layer in parts}) > 1
    found = []
    for number, ((runtime, _), rows) in enumerate(
        sorted(parts.items(), key=lambda part: runtimes.index(part[0][0])), start=1
    ):
        prefix = f"part{number}-" if len(parts) > 1 else ""
        text = layer_text_of(rows)
        found.append(
            RuntimeResults(
                id=prefix,
                runtime=runtime if len(runtimes) > 1 else "",
                layer=text.name if several_layers else "",
                text=text,
                cells=tuple(replace(cell, id=prefix + cell.id) for cell in cells(rows, summaries)),
                controls=tuple(row for row in rows if row.identity.control),
            )
        )
    return tuple(found)
