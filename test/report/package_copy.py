"""Copies the part of the report that works with any Python and without packages."""

import shutil
from pathlib import Path

from report.base.paths import PACKAGE, ROOT

_FILES = (
    "__init__.py",
    "__main__.py",
    "cli/__init__.py",
    "cli/dispatch.py",
    "cli/environment_command.py",
    "environment/__init__.py",
    "environment/installation.py",
    "environment/virtual_environment.py",
)


def copy_start(folder: Path) -> Path:
    """Copies that part below `folder`, and returns the path of its `scripts/generate_report.py`."""
    for name in _FILES:
        copy = folder / "report" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, copy)
    (folder / "scripts").mkdir()
    return Path(shutil.copy(ROOT / "scripts" / "generate_report.py", folder / "scripts"))
