"""How evenly something is shared."""

from collections.abc import Sequence


def jain_index(amounts: Sequence[float]) -> float | None:
    """1 where all have the same, 1/n where one of n has everything; None where there is nothing to share.

    Source: R. Jain, D.-M. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for
    resource allocation in shared computer systems", DEC-TR-301, 1984: (Σx)² ÷ (n · Σx²)."""
    squares = sum(amount**2 for amount in amounts)
    return sum(amounts) ** 2 / (len(amounts) * squares) if squares else None
