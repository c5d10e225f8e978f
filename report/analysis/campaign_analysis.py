"""The analysis of the results of one campaign, which is computed once and read by sections, charts
and exports."""

from collections.abc import Sequence

from msgspec import Struct

from report.analysis import printed_rows
from report.analysis.cells import Cell, RuntimeResults, runtimes_of
from report.analysis.fault_figures import FaultGroup, fault_groups
from report.analysis.load_curve import LoadCurve, load_curves
from report.analysis.max_rate_rows import MaxRate, max_rates
from report.analysis.memory_per_key_rows import KeyMemory, memory_per_key
from report.analysis.server_counts import ServerScaling, several_servers
from report.analysis.summary import Summary, summarize
from report.results.model import Campaign


class Analysis(Struct, frozen=True):
    campaign: Campaign
    summaries: tuple[Summary, ...]
    """All rows, in the order of `summarize`."""
    runtimes: tuple[RuntimeResults, ...]
    memory: tuple[KeyMemory, ...]
    """The bytes per key. Empty unless some rows differ only in the number of fresh keys."""
    store_operations: printed_rows.StoreOperations | None = None
    """The operations of the store layer, or None without that layer."""
    load_programs: tuple[printed_rows.LoadProgramControl, ...] = ()
    """The controls whose calls a load program makes."""
    faults: tuple[FaultGroup, ...] = ()
    """The rows with faults, which are in no ranking of speed."""
    max_rates: tuple[MaxRate, ...] = ()
    """The rates of a search for the highest rate. Empty without a search."""
    server_scalings: tuple[ServerScaling, ...] = ()
    """Empty unless some target was measured with several numbers of servers."""
    load_curves: tuple[LoadCurve, ...] = ()
    """Empty unless the campaign has a load curve."""

    @property
    def row_count(self) -> int:
        """The number of configurations, also of those that are in no ranking."""
        operations = len(self.store_operations.rows) if self.store_operations else 0
        faulted = {case.identity.key for group in self.faults for case in group.cases}
        return len(self.summaries) + operations + len(self.load_programs) + len(faulted)

    @property
    def only_memory(self) -> bool:
        """Whether all rows were measured for the memory per key."""
        measured_ids = {row_id for memory in self.memory for row_id in memory.summary_ids}
        return bool(measured_ids) and all(summary.id in measured_ids for summary in self.summaries)

    @property
    def cells(self) -> tuple[Cell, ...]:
        return tuple(cell for runtime in self.runtimes for cell in runtime.cells)

    @property
    def ordered(self) -> tuple[Summary, ...]:
        return tuple(summary for runtime in self.runtimes for summary in runtime.ordered)


def analyse(campaign: Campaign) -> Analysis:
    return analysis_of(campaign, summarize(campaign))


def analysis_of(campaign: Campaign, summaries: Sequence[Summary]) -> Analysis:
    runtimes = tuple(runtimes_of(summaries))
    return Analysis(
        campaign=campaign,
        summaries=tuple(summaries),
        runtimes=runtimes,
        memory=memory_per_key(summaries),
        store_operations=printed_rows.store_operations(campaign),
        load_programs=printed_rows.load_program_controls(campaign, summaries),
        faults=fault_groups(campaign),
        max_rates=tuple(max_rates(campaign, summaries)),
        server_scalings=several_servers(summaries),
        load_curves=load_curves(campaign, summaries, runtimes),
    )
