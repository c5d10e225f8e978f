"""Campaigns that tests of `compare` write, and what the command answers."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builder import Document

JITTER = (0.996, 0.998, 0.999, 1.001, 1.002, 1.004)


CLOSED = {"model": "closed", "connections": 50}


IOVALKEY = "iovalkey+same-script"


GLIDE = "valkey-glide+same-script"


#: Stands in both of two campaigns.
REFERENCE = "node-redis@valkey+same-script"


#: Its own luck in the same rounds.
REFERENCE_JITTER = (1.003, 0.997, 1.001, 1.002, 0.998, 0.999)


@dataclass(frozen=True)
class CompletedCommand:
    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.out)
        return document


#: Of a result by turns.
TURNS: Document = {"group": 2, "turns": 10, "lead_in_ms": 5, "slice_ms": 100, "drained_s": 0.1}


Call = Callable[..., CompletedCommand]


Put = Callable[..., Path]


def changing(folder: Path) -> Iterator[Document]:
    """Each result of a campaign, which is written as it is changed."""
    for path in sorted(folder.glob("*_run*.json")):
        document = json.loads(path.read_text())
        yield document
        path.write_text(json.dumps(document))


def at_rate(per_second: int) -> Document:
    return {
        "model": "open",
        "rate_per_second": per_second,
        "arrivals": "constant",
        "connections": 50,
    }
