"""Saved baselines: whole campaigns, copied to a name that stays."""

import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from report.base.errors import ENVIRONMENT, USAGE, WRITE_FAILED, ReportError, one_line
from report.results.load import CHECKSUMS
from report.results.model import MANIFEST, Campaign

BASELINES = "baselines"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


def baseline_folder(root: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise ReportError(
            f"baseline {one_line(name, 60)!r}: give a name of letters, digits, dot, dash, underscore", USAGE
        )
    return root / BASELINES / name


def find_baseline(root: Path, name: str) -> Path:
    """Raises ReportError when there is none of that name, naming those that there are."""
    folder = baseline_folder(root, name)
    if folder.is_dir():
        return folder
    there = [path.name for path in sorted((root / BASELINES).glob("*")) if not path.name.startswith(".")]
    raise ReportError(
        f"there is no baseline {name} in {one_line(root / BASELINES)} "
        f"({'it has ' + ', '.join(map(one_line, there)) if there else 'none was saved'}): "
        f"save one with --save-baseline {name}",
        USAGE,
    )


def save_baseline(root: Path, name: str, folder: Path, campaign: Campaign) -> Path:
    """Copies a campaign's manifest and results, whole or not at all; an older one of that name gives way."""
    target = baseline_folder(root, name)
    parent = target.parent
    if target.resolve() == folder.resolve():
        raise ReportError(f"{one_line(folder)} is that baseline already", USAGE)
    try:
        parent.mkdir(parents=True, exist_ok=True)
        if parent.resolve().parent != root.resolve():
            raise ReportError(f"{one_line(parent)} leads out of {one_line(root)}: remove it", ENVIRONMENT)
        fresh = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=parent))
    except OSError as error:
        raise ReportError(f"{one_line(parent)} cannot be written: {error.strerror}", ENVIRONMENT) from error
    old = fresh.with_name(f"{fresh.name}.old")
    try:
        for file in [MANIFEST, CHECKSUMS, *(run.file for run in (*campaign.runs, *campaign.set_aside))]:
            if (folder / file).exists():
                (fresh / file).parent.mkdir(exist_ok=True)
                shutil.copyfile(folder / file, fresh / file)
        fresh.chmod(0o755)
        with suppress(FileNotFoundError):
            target.rename(old)
        fresh.rename(target)
    except OSError as error:
        raise ReportError(f"{one_line(target)} cannot be written: {error.strerror}", WRITE_FAILED) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return target
