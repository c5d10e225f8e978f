"""Reads targets as the harness resolves them, and a document of each kind, from `fixtures.json`.

`npm run generate` writes that file, and `scripts/report-fixtures.ts` defines its content. Each call
returns a copy."""

import json
from pathlib import Path
from typing import Any

Document = dict[str, Any]

_DOCUMENTS: Document = json.loads((Path(__file__).parent / "fixtures.json").read_text("utf-8"))
_TEXTS = {name: json.dumps(document) for name, document in _DOCUMENTS.items()}
_TARGETS = {label: json.dumps(resolved) for label, resolved in _DOCUMENTS["targets"].items()}


def fixture(name: str) -> Document:
    document: Document = json.loads(_TEXTS[name])
    return document


def target(label: str) -> Document:
    """The target of a label. Add missing labels in `scripts/report-fixtures.ts`."""
    resolved: Document = json.loads(_TARGETS[label])
    return resolved
