"""Makes a Python environment with the packages of reports.

This module works with any Python 3 and needs no package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

#: Exit codes. An old Python cannot import those of the contract, with which a test compares them.
USAGE = 2
EXIT_UNFIT = 3

MIN_PYTHON = (3, 11)

#: The file that is written last, with the version of Python of the packages. An environment without
#: it is incomplete.
STAMP = ".complete"

#: The variables of pip that are kept, which are about network and cache, as in scripts/setup.sh.
#: Others make pip install elsewhere, or less.
_KEPT_PIP_VARIABLES = re.compile("INDEX|LINKS|HOST|CERT|PROXY|CACHE|CONFIG|TIMEOUT|RETRIES|KEYRING")


class EnvironmentUnfit(Exception):
    """Something is missing on the machine. The message says how to fix it."""


def install_environment(folder: Path, requirements: Path) -> None:
    """Makes the environment in this folder and removes what the folder held.

    Raises EnvironmentUnfit if venv or pip fails."""
    print(
        f"setting up the Python environment for reports, once (about 400 MB): {folder}",
        file=sys.stderr,
    )
    shutil.rmtree(folder, ignore_errors=True)
    _run_step(
        [sys.executable, "-I", "-m", "venv", str(folder)],
        "no virtual environment could be made: on Debian and Ubuntu install python3-venv",
    )

    python = folder / "bin" / "python"
    pip_install = [
        str(python),
        "-I",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--require-hashes",
        "-r",
        str(requirements),
    ]
    _run_step(
        [*pip_install, "--no-user", "--target=", f"--prefix={folder}"],
        "the Python packages could not be installed: is a package index reachable?",
    )
    # Without an index pip fails unless the first step installed all packages in this environment.
    _run_step(
        [*pip_install, "--no-index"],
        f"pip installed elsewhere, or nothing: see {folder}/bin/pip config list",
        PIP_CONFIG_FILE=os.devnull,
    )

    (folder / STAMP).write_text(_version_of(python) or "", encoding="utf-8")


def is_whole(folder: Path) -> bool:
    """Whether the environment has all packages and a Python that can load them. The Python that it
    was made with may have been removed or replaced."""
    try:
        version = (folder / STAMP).read_text(encoding="utf-8")
    except OSError:
        return False
    return _version_of(folder / "bin" / "python") == version


def _version_of(python: Path) -> "str | None":
    """The version of a Python, such as `3.11`. None if it does not start or is too old."""
    code = "import sys; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < {})"
    try:
        process = _run([str(python), "-I", "-c", code.format(MIN_PYTHON)])
    except OSError:
        return None
    return process.stdout.strip() if process.returncode == 0 else None


def _run_step(command: "list[str]", remedy: str, **variables: str) -> None:
    process = _run(command, env={**_clean_variables(), **variables})
    if process.returncode == 0:
        return

    lines = (process.stderr.strip() or process.stdout.strip()).splitlines()
    last_line = lines[-1] if lines else ""
    detail = next((line for line in lines if "ERROR" in line or "Error" in line), last_line)
    raise EnvironmentUnfit(f"{remedy} ({detail.strip()})" if detail else remedy)


def _run(
    command: "list[str]", env: "dict[str, str] | None" = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(  # noqa: S603
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _clean_variables() -> "dict[str, str]":
    """The environment variables without settings of another Python, and without those of pip that
    change what is installed."""
    return {name: value for name, value in os.environ.items() if _is_kept(name)}


def _is_kept(name: str) -> bool:
    if name.startswith("PYTHON"):
        return False
    return not name.startswith("PIP_") or bool(_KEPT_PIP_VARIABLES.search(name))
