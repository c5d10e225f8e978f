"""What the harness and the report share, as `npm run generate` writes it from the TypeScript."""

import json
from typing import Any

from report.base.paths import CONTRACT_GENERATED


def generated(name: str) -> Any:
    """A document of `src/contract/generated/`."""
    return json.loads((CONTRACT_GENERATED / f"{name}.json").read_text("utf-8"))


#: Numbers and names that stand once, in the TypeScript: `scripts/shared-constants.ts` lists them.
CONSTANTS: dict[str, Any] = generated("constants")
