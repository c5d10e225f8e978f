"""Reads what the harness and the report share, which `npm run generate` writes from the
TypeScript."""

import json
from typing import Any

from report.base.paths import CONTRACT_GENERATED


def generated(name: str) -> Any:
    """The document of this name in `src/contract/generated/`."""
    return json.loads((CONTRACT_GENERATED / f"{name}.json").read_text("utf-8"))


#: Numbers and names that only the TypeScript defines. `scripts/shared-constants.ts` lists them.
CONSTANTS: dict[str, Any] = generated("constants")
