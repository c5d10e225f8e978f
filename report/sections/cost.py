"""What a limiter costs at the reader's own rate, as a share of a core."""

from dataclasses import dataclass

from report.analysis.campaign_analysis import Analysis
from report.analysis.figures import consumer_cpu
from report.base.format import joined

DEFAULT_RATE = 1000.0
MAX_RATE = 10_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    rate: float
    unit: str
    """`requests/s`."""
    of: str
    """Of which process."""
    rows: tuple[tuple[str, float], ...]
    """Label and CPU in µs per request."""

    def share(self, cpu_us: float) -> str:
        percent = cpu_us * self.rate / 10_000
        return f"{percent:,.{0 if percent >= 100 else 1}f} %"

    @property
    def sentence(self) -> str:
        """`At 1,000 requests/s: ioredis 4.8 % of a core, valkey-glide 8.8 % of a core of the server.`"""
        told = joined([f"{label} {self.share(cpu_us)}" for label, cpu_us in self.rows])
        return f"At {self.rate:,g} {self.unit}: {told} {self.of}."


def cost_of(analysis: Analysis, rate: float = DEFAULT_RATE) -> Cost | None:
    """Of the first cell, whose rows share their load; None where fewer than two rows have a CPU time."""
    if analysis.only_memory or not analysis.cells:
        return None
    cell = analysis.cells[0]
    rows = [*cell.summaries, *(row for row in cell.controls if row.identity.ceiling)]
    known = [
        (row.identity.short_label, round(cpu_us, 3))
        for row in rows
        if row.figures and (cpu_us := consumer_cpu(row.figures)) is not None
    ]
    if len(known) < 2:
        return None
    of = f"of a core of the {cell.text.consumer}, by its CPU time at this load"
    return Cost(rate, cell.text.rate_unit, of, tuple(known[:12]))
