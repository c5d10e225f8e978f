"""The budget of what intervals do not contain (rule M34): the upper bounds that commands have
measured, by figure, layer and kind of pair.

`npm run accuracy` writes it from outputs of benches and from archives. What it does not list was
not measured."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from report.base.paths import PACKAGE
from report.statistics.systematic_error import (
    COMPONENTS,
    COPIES,
    NONE_APPLIES,
    SystematicError,
    root_of_squares,
)

#: The file with the budget.
BUDGET = PACKAGE / "statistics" / "error_budget.json"

_SCHEMA: Final = "ratelimit-bench/error-budget"

Pairs = Literal["targets", "one program"]
"""What is compared: two targets, or two builds or copies of one program."""

BudgetedFigure = Literal["throughput", "cpu", "store_cpu"]


class Component(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A component that was measured."""

    component: str
    """One of `COMPONENTS`, or `COPIES` of pairs of one program."""
    layer: Literal["server", "limiter"]
    figure: BudgetedFigure
    pairs: Pairs = "targets"
    at_most: float
    """The upper 90 % bound of what it shifts a ratio by, as a share."""
    command: str
    """The command that measured it."""
    source: str
    """The archives or the file that the command read."""


class Budget(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schema: Literal["ratelimit-bench/error-budget"] = _SCHEMA
    schema_version: Literal[1] = 1
    components: tuple[Component, ...] = ()

    def error(self, layer: str, figure: str, pairs: Pairs) -> SystematicError:
        """The systematic error of a comparison by turns. A figure that the budget does not know
        has no component that was measured."""
        names = (COPIES,) if pairs == "one program" else COMPONENTS
        bounds = {
            entry.component: entry.at_most
            for entry in self.components
            if (entry.layer, entry.figure, entry.pairs) == (layer, figure, pairs)
        }
        return SystematicError(
            share=root_of_squares(bounds[name] for name in names if name in bounds),
            unmeasured=tuple(name for name in names if name not in bounds),
        )

    def with_components(self, measured: Sequence[Component]) -> "Budget":
        """The budget in which these components replace those of the same kind."""

        def key(entry: Component) -> tuple[str, ...]:
            return entry.component, entry.layer, entry.figure, entry.pairs

        merged = {key(entry): entry for entry in (*self.components, *measured)}
        return Budget(components=tuple(merged[name] for name in sorted(merged)))


def read_budget(path: Path = BUDGET) -> Budget:
    return msgspec.json.decode(path.read_bytes(), type=Budget)


def budget_text(budget: Budget) -> str:
    """The document as the file has it."""
    return f"{json.dumps(msgspec.to_builtins(budget), indent=2, ensure_ascii=False)}\n"


@cache
def _committed() -> Budget:
    return read_budget()


def systematic_error(layer: str, figure: str, *, by_turns: bool, pairs: Pairs) -> SystematicError:
    """The systematic error of a comparison, by the committed budget.

    The components are about turns. In other orders a target has the machine for itself in one
    continuous window, whose drift makes runs suspect (rule M26)."""
    return _committed().error(layer, figure, pairs) if by_turns else NONE_APPLIES
