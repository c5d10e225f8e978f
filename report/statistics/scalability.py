"""How throughput grows with the number of servers: the Universal Scalability Law.

N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6; "A General Theory of Computational
Scalability Based on Rational Functions", arXiv:0808.1431, 2008.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

#: The law has as many parameters.
MIN_SERVER_NUMBERS = 3

#: What takes more servers counts as out of reach.
_MOST_SERVERS = 1 << 20


@dataclass(frozen=True, slots=True)
class ScalingLaw:
    """X(N) = λN / (1 + σ(N − 1) + κN(N − 1)): throughput of N servers, in requests per second."""

    one_server: float
    """λ: requests per second of one server."""
    contention: float
    """σ: the share of the work that the servers do one after the other, e.g. because they share a store."""
    coherency: float
    """κ: what each pair of servers costs. Above 0, throughput falls again after its peak."""

    def throughput(self, servers: int) -> float:
        """Requests per second."""
        others = servers - 1
        slowed = 1 + self.contention * others + self.coherency * servers * others
        return self.one_server * servers / slowed

    @property
    def peak_servers(self) -> int | None:
        """The number with the highest throughput, √((1 − σ)/κ) as a whole number; None where each further
        server adds something."""
        if self.contention >= 1:
            return 1
        if self.coherency == 0:
            return None
        # Beyond it the difference is no matter, and the root may be infinite.
        below = max(1, math.floor(min(_MOST_SERVERS, math.sqrt((1 - self.contention) / self.coherency))))
        return max(below, below + 1, key=self.throughput)

    @property
    def ceiling(self) -> float:
        """Requests per second that no number of servers exceeds."""
        if self.peak_servers is not None:
            return self.throughput(self.peak_servers)
        return self.throughput(_MOST_SERVERS) if self.contention == 0 else self.one_server / self.contention

    def servers_for(self, requests_per_second: float) -> int | None:
        """The smallest number that reaches a throughput; None where none does."""
        high = self.peak_servers or _MOST_SERVERS
        if self.throughput(high) < requests_per_second:
            return None
        low = 0
        # Up to the peak throughput rises.
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.throughput(middle) < requests_per_second else (low, middle)
        return high


def fit_scaling_law(throughputs: Mapping[int, float]) -> ScalingLaw | None:
    """The law that comes closest to throughputs by relative error, with neither σ nor κ below 0.

    N/X(N) = 1/λ + (σ/λ)(N − 1) + (κ/λ)N(N − 1) is linear in what is looked for (Gunther 2007, chapter 5,
    fits it likewise), so that non-negative least squares (C. Lawson and R. Hanson, Solving Least Squares
    Problems, 1974, chapter 23) finds the one best law without start values. Growth beyond linear is no part
    of the law: it counts as linear.

    Args:
        throughputs: requests per second by number of servers.
    Returns:
        None where no finite λ fits, which can happen without a figure for one server.
    Raises:
        ValueError: fewer than three numbers of servers, or a figure that is not above 0.
    """
    if len(throughputs) < MIN_SERVER_NUMBERS or min(*throughputs, *throughputs.values()) <= 0:
        raise ValueError(f"needs {MIN_SERVER_NUMBERS} numbers of servers, all figures above 0")
    # Loading SciPy takes half a second, and most reports do not need it.
    from scipy.optimize import nnls

    servers = np.array(list(throughputs), dtype=float)
    per_server = np.array(list(throughputs.values()), dtype=float) / servers
    scale = float(per_server.max())
    terms = np.stack([np.ones_like(servers), servers - 1, servers * (servers - 1)], axis=1)
    # Each row is (N/X of the law) ÷ (N/X as measured), which should be 1.
    (alone, waiting, pairs), _ = nnls(terms * (per_server / scale)[:, None], np.ones_like(servers))
    if alone <= 0:
        return None
    return ScalingLaw(scale / float(alone), float(waiting / alone), float(pairs / alone))
