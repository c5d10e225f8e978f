"""The words of conclusions, which page, CSV, JSON, Markdown and console share.

A comparison is decided in a direction, better or worse, which exit codes and sentences follow.
Readers see a word. A rate is faster or slower, while a latency or a cost is better or worse."""

from collections.abc import Mapping
from typing import Literal, get_args

Status = Literal["better", "worse", "no difference", "not decided", "not comparable"]

_WORDS_OF_RATES: Mapping[Status, str] = {"better": "faster", "worse": "slower"}

#: Every word that a conclusion can have.
CONCLUSIONS: tuple[str, ...] = (*_WORDS_OF_RATES.values(), *get_args(Status))


def conclusion_of(status: Status, *, higher_is_better: bool) -> str:
    """The word for a status. Rates are the only compared figures that are better when higher."""
    return _WORDS_OF_RATES.get(status, status) if higher_is_better else status
