"""What is known of a figure that requests without an answer could move (rule M23)."""

from dataclasses import dataclass

#: The accuracy of a latency (rule M2): bounds that are no further apart are one figure.
_ACCURACY_MS = 0.05
_ACCURACY_SHARE = 0.001


@dataclass(frozen=True, slots=True)
class Bounds:
    """In ms: at least `low`, and at most `high`; None: without an upper bound."""

    low: float
    high: float | None

    @property
    def figure(self) -> float | None:
        """The figure, where the bounds are one by the accuracy of a latency; else None."""
        if self.high is None or self.high - self.low > max(_ACCURACY_MS, _ACCURACY_SHARE * self.high):
            return None
        return self.high
