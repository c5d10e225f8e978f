"""Which folder may import which is written down once."""

import json
import tomllib

from report.base.paths import ROOT


def test_the_linter_enforces_the_layers_of_imports_json() -> None:
    wanted = json.loads((ROOT / "imports.json").read_text(encoding="utf-8"))["report"]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = settings["tool"]["importlinter"]["contracts"]
    assert [layer.split(" | ") for layer in contract["layers"]] == wanted
