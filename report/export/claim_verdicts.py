"""verdicts.json: how each claim ends, for programs."""

import json
import math
from collections.abc import Sequence
from typing import Any

from report.analysis.claims import ComparedRows, JudgedClaim
from report.statistics.ratio import RatioInterval

SCHEMA = "ratelimit-bench/claim-verdicts"
SCHEMA_VERSION = 1


def _interval(interval: RatioInterval | None) -> dict[str, float | None] | None:
    if interval is None:
        return None
    return {"low": interval.low, "high": interval.high if interval.high < math.inf else None}


def _comparison(found: ComparedRows) -> dict[str, Any]:
    judgement, copy = found.judgement, found.copy
    return {
        "id": found.claimed.id,
        "verdict": judgement.verdict if judgement else None,
        "reason": judgement.reason if judgement else found.note,
        "takes": judgement.takes if judgement else "",
        "ratio": found.ratio,
        "interval": _interval(found.interval),
        "runs": found.runs,
        "copy": copy
        and {"ratio": copy.ratio, "interval": _interval(copy.interval), "told_apart": copy.shown},
    }


def claim_verdicts(claims: Sequence[JudgedClaim]) -> str:
    """The document, see src/contract/schemas/claim-verdicts.schema.json; ratios are new ÷ base."""
    document = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "claims": [
            {
                "id": each.claim.id,
                "verdict": each.verdict,
                "reason": each.reason,
                "comparisons": [_comparison(compared) for compared in each.comparisons],
            }
            for each in claims
        ],
    }
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"
