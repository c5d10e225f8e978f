"""The Universal Scalability Law of a target, fitted to its throughput over numbers of servers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from report.analysis.server_numbers import ServerNumber
from report.statistics.resampling import Estimate, Resamples, estimate_of
from report.statistics.scalability import MIN_SERVER_NUMBERS, ScalingLaw, fit_scaling_law


@dataclass(frozen=True, slots=True)
class FittedLaw:
    law: ScalingLaw
    resampled: tuple[ScalingLaw | None, ...]
    """Of the resampled runs, None where none fits; empty where a number of servers has one run alone."""
    numbers: tuple[int, ...]
    """Numbers of servers that it is fitted to."""

    @property
    def one_server(self) -> Estimate:
        """Requests per second."""
        return estimate_of(self.law.one_server, [each.one_server for each in self._known])

    @property
    def contention(self) -> Estimate:
        return estimate_of(self.law.contention, [each.contention for each in self._known])

    @property
    def coherency(self) -> Estimate:
        return estimate_of(self.law.coherency, [each.coherency for each in self._known])

    @property
    def _known(self) -> list[ScalingLaw]:
        return [each for each in self.resampled if each]

    def throughput(self, servers: int) -> Estimate:
        """Requests per second of so many servers."""
        return estimate_of(self.law.throughput(servers), [each.throughput(servers) for each in self._known])

    def servers_for(self, requests_per_second: float) -> Estimate:
        """How many servers reach a throughput; infinite where none do."""

        def servers(law: ScalingLaw | None) -> float:
            return (law.servers_for(requests_per_second) if law else None) or math.inf

        return estimate_of(servers(self.law), [servers(each) for each in self.resampled])


def fit_law(numbers: Sequence[ServerNumber], draws: Mapping[int, Resamples | None]) -> FittedLaw | None:
    """The law through the median throughput of each number of servers.

    Args:
        numbers: those whose throughput tells how servers scale.
        draws: by number of servers; None where one run alone counts.
    Returns:
        None where the law cannot be fitted: it takes three numbers of servers.
    """
    throughputs = {
        number.servers: [figures.requests_per_second for figures in number.measured] for number in numbers
    }
    medians = {servers: float(np.median(values)) for servers, values in throughputs.items()}
    if len(medians) < MIN_SERVER_NUMBERS or min(medians.values()) <= 0:
        return None
    law = fit_scaling_law(medians)
    if law is None:
        return None
    drawn = [
        own.medians(values).tolist()
        for servers, values in throughputs.items()
        if (own := draws[servers]) is not None
    ]
    resampled = zip(*drawn, strict=True) if len(drawn) == len(medians) else ()
    return FittedLaw(
        law,
        tuple(
            fit_scaling_law(dict(zip(medians, each, strict=True))) if min(each) > 0 else None
            for each in resampled
        ),
        tuple(medians),
    )
