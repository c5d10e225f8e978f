"""Finds or makes the Python environment of reports and of the embedded store.

In a checkout it is `.venv`, which scripts/setup.sh makes. An installed package may not be writable,
so its environment is `$XDG_CACHE_HOME/ratelimit-bench/venv-<hash>` (by default below ~/.cache), and
is made when it is first needed. The hash is that of the requirements and the kind of machine. The
environment keeps the Python that it was made with, whichever Python is called later.

This module works with any Python 3 and needs no package."""

import fcntl
import hashlib
import importlib.util
import os
import platform
import sys
from pathlib import Path

from report.environment.installation import (
    MIN_PYTHON,
    EnvironmentUnfit,
    install_environment,
    is_whole,
)

ROOT = Path(__file__).resolve().parent.parent.parent

#: The packages that a report imports.
PACKAGES = ("jinja2", "msgspec", "pandas", "plotly", "yaml")

#: The variable that is set in the process that continues in the environment, so that it does not
#: look for the environment again.
GUARD = "RATELIMIT_BENCH_REPORT_PYTHON"


def is_checkout() -> bool:
    """Whether this is a checkout of the project. Packages do not contain pyproject.toml."""
    return (ROOT / "pyproject.toml").exists()


def cached_environment() -> Path:
    """The environment of an installed package, which may not exist."""
    try:
        requirements = (ROOT / "requirements.txt").read_bytes()
    except OSError as error:
        raise EnvironmentUnfit(f"{error.filename} cannot be read ({error.strerror})") from error

    machine_kind = f"{sys.platform} {platform.machine()}".encode()
    digest = hashlib.sha256(requirements + machine_kind).hexdigest()[:12]
    return _cache_folder() / "ratelimit-bench" / f"venv-{digest}"


def _cache_folder() -> Path:
    xdg_cache_home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG rules treat a relative path as unset.
    if xdg_cache_home.is_absolute():
        return xdg_cache_home
    try:
        return Path.home() / ".cache"
    except RuntimeError as error:
        remedy = "set HOME or XDG_CACHE_HOME to a folder that can be written"
        raise EnvironmentUnfit(f"this user has no home folder: {remedy}") from error


def existing_environment() -> "Path | None":
    """The environment that exists already and works."""
    # scripts/setup.sh makes this one.
    checkout = ROOT / ".venv"
    if _is_there(checkout / "bin" / "python"):
        return checkout
    if is_checkout():
        return None

    cached = cached_environment()
    return cached if is_whole(cached) else None


def _is_there(python: Path) -> bool:
    """Whether this Python exists. Raises EnvironmentUnfit if it lies where this user may not look,
    such as in the home of the user who made the environment."""
    try:
        python.stat()
    except PermissionError as error:
        remedy = "use a checkout of your own, and run ./scripts/setup.sh in it"
        raise EnvironmentUnfit(f"this user may not start {python}: {remedy}") from error
    except OSError:
        return False
    return True


def find_environment() -> "Path | None":
    """The environment. None if it does not exist yet and `ensure_environment` would try to make it.

    Raises EnvironmentUnfit if it does not exist and cannot be made."""
    existing = existing_environment()
    if existing:
        return existing
    if is_checkout():
        raise EnvironmentUnfit("Python packages are missing: run ./scripts/setup.sh")
    if sys.version_info < MIN_PYTHON:
        version = platform.python_version()
        raise EnvironmentUnfit(f"Python {version} is too old: install version 3.11 or newer")
    return None


def ensure_environment() -> Path:
    """The environment, which is made if it does not exist.

    Raises EnvironmentUnfit if it cannot be made."""
    existing = find_environment()
    if existing:
        return existing

    folder = cached_environment()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / f"{folder.name}.lock").open("w") as lock:
            # This waits for another process that makes it. The lock of a process that died is free.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not is_whole(folder):
                install_environment(folder, ROOT / "requirements.txt")
    except OSError as error:
        remedy = "set XDG_CACHE_HOME to a folder that can"
        raise EnvironmentUnfit(
            f"{folder} cannot be written ({error.strerror}): {remedy}"
        ) from error
    return folder


def missing_packages() -> "list[str]":
    """The packages that this Python does not have."""
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]


def continue_in_environment(arguments: "list[str]") -> None:
    """Replaces this process by the same program in the environment, unless this Python has all
    packages."""
    if os.environ.get(GUARD):
        return

    folder = existing_environment()
    if folder is None:
        if not missing_packages():
            return
        folder = ensure_environment()
    if Path(sys.prefix).resolve() == folder.resolve():
        return

    python = folder / "bin" / "python"
    os.environ[GUARD] = str(python)
    try:
        os.execv(python, [str(python), "-I", str(ROOT / "report"), *arguments])  # noqa: S606
    except OSError as error:
        remedy = "run ./scripts/setup.sh" if is_checkout() else "remove it, and it is made again"
        raise EnvironmentUnfit(f"{folder} does not work ({error.strerror}): {remedy}") from error
