"""Where the package finds what it reads besides the campaign."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
ROOT = PACKAGE.parent
CONTRACT_GENERATED = ROOT / "src" / "contract" / "generated"
SCHEMAS = PACKAGE / "schemas"
TEMPLATES = PACKAGE / "html" / "templates"
STATIC = PACKAGE / "html" / "static"


def node_package_file(name: str) -> Path:
    """A file of a Node package, where Node finds it: below the nearest `node_modules` that has it,
    else below our own. npm may put what a package needs beside that package."""
    folders = [folder / "node_modules" for folder in (ROOT, *ROOT.parents)]
    return next(
        (folder / name for folder in folders if (folder / name).is_file()), folders[0] / name
    )


PLOTLY_BUNDLE = node_package_file("plotly.js-basic-dist-min/plotly-basic.min.js")
