"""The systematic error of a comparison, which is what shifts all rounds alike, so that no interval
contains it (rule M34)."""

import math
from collections.abc import Iterable

from msgspec import Struct

from report.base.contract import CONSTANTS
from report.base.format import joined

#: What can shift the ratio of two targets by turns in all rounds alike.
COMPONENTS: tuple[str, ...] = tuple(CONSTANTS["systematic_components"])

#: Pairs of one program meet all components alike, and copies show what is left of them together.
COPIES: str = CONSTANTS["copies_component"]


class SystematicError(Struct, frozen=True):
    """The systematic error that a comparison uses. Without any component that applies it is 0, and
    forbids nothing."""

    share: float = 0.0
    """The root of the summed squares of the upper 90 % bounds of the components that apply and were
    measured, as a share."""
    unmeasured: tuple[str, ...] = ()
    """The components that apply and were not measured. With any, no difference is concluded."""

    @property
    def text(self) -> str:
        """A text such as `±3.2 %`, `not measured`, or both with the components that are missing."""
        known = f"±{100 * self.share:.2g} %" if self.share else ""
        if not self.unmeasured:
            return known or "±0 %"
        if not known:
            return f"not measured ({joined(list(self.unmeasured))})"
        return f"{known} without what was not measured ({joined(list(self.unmeasured))})"

    @property
    def log(self) -> float:
        return math.log1p(self.share)


#: The error of a comparison to which no component applies, because no side went by turns.
NONE_APPLIES = SystematicError()


def root_of_squares(bounds: Iterable[float]) -> float:
    return math.sqrt(math.fsum(bound**2 for bound in bounds))
