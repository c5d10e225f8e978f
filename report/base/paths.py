"""The paths of the files that the package reads besides campaigns."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
ROOT = PACKAGE.parent
CONTRACT_GENERATED = ROOT / "src" / "contract" / "generated"
SCHEMAS = PACKAGE / "schemas"
TEMPLATES = PACKAGE / "html" / "templates"
STATIC = PACKAGE / "html" / "static"


def node_package_file(name: str) -> Path:
    """A file of a Node package, as Node finds it. It is below the nearest `node_modules` that has
    it, because npm may install a dependency beside the package, or else below that of this
    project."""
    folders = [folder / "node_modules" for folder in (ROOT, *ROOT.parents)]
    existing = (folder / name for folder in folders if (folder / name).is_file())
    return next(existing, folders[0] / name)


PLOTLY_BUNDLE = node_package_file("plotly.js-basic-dist-min/plotly-basic.min.js")
