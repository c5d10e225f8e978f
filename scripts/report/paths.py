"""Where the package finds what it reads besides the campaign."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
ROOT = PACKAGE.parent.parent
CONTRACT_SCHEMAS = ROOT / "src" / "contract" / "schemas"
SUMMARY_SCHEMA = PACKAGE / "schemas" / "summary.schema.json"
TEMPLATES = PACKAGE / "templates"
STATIC = PACKAGE / "static"
PLOTLY_BUNDLE = ROOT / "node_modules" / "plotly.js-cartesian-dist-min" / "plotly-cartesian.min.js"
