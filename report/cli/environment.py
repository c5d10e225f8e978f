"""Chooses the command, and finds or makes the Python environment of reports and of the embedded
store.

In a checkout it is `.venv`, which scripts/setup.sh makes. An installed package may not be writable,
so there it is `$XDG_CACHE_HOME/ratelimit-bench/venv-<hash>` (by default below ~/.cache), made when
it is first needed; the hash is of the requirements and the machine's kind. It keeps the Python that
it was made with, whichever is called. Works with any Python 3 and without any package."""

import fcntl
import hashlib
import importlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
EXIT_UNFIT = 3
USAGE = 2
MIN_PYTHON = (3, 11)
#: Written last, with the version of Python that the packages are for: an environment without it is
#: half made.
STAMP = ".complete"

#: Each is a module beside this one, whose `main` takes the command's arguments and returns the exit
#: code.
COMMANDS = (
    *(
        "generate",
        "compare",
        "memory",
        "audit",
        "claims",
        "pages",
        "decide-rounds",
        "statistics",
        "readme",
    ),
    *("documents", "original-matrix"),
)
PACKAGES = ("hdrh", "jinja2", "msgspec", "pandas", "plotly", "yaml")
#: Set in the process that continues in the environment, which must not look for it once more.
GUARD = "RATELIMIT_BENCH_REPORT_PYTHON"


class EnvironmentUnfit(Exception):
    """The machine lacks something; the message says how to fix it."""


def cached_environment() -> Path:
    """Where it is for an installed package; it may not exist."""
    try:
        requirements = (ROOT / "requirements.txt").read_bytes()
    except OSError as error:
        raise EnvironmentUnfit(f"{error.filename} cannot be read ({error.strerror})") from error
    digest = hashlib.sha256(
        requirements + f"{sys.platform} {platform.machine()}".encode()
    ).hexdigest()[:12]
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG rules treat a relative path as unset.
    try:
        base = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    except RuntimeError as error:
        remedy = "set HOME or XDG_CACHE_HOME to a folder that can be written"
        raise EnvironmentUnfit(f"this user has no home folder: {remedy}") from error
    return base / "ratelimit-bench" / f"venv-{digest}"


def is_checkout() -> bool:
    """Whether this is the project's own tree: no package holds this file."""
    return (ROOT / "pyproject.toml").exists()


def existing_environment() -> "Path | None":
    # Where scripts/setup.sh puts it.
    checkout = ROOT / ".venv"
    if (checkout / "bin" / "python").exists():
        return checkout
    if is_checkout():
        return None
    cached = cached_environment()
    return cached if _is_whole(cached) else None


def _is_whole(folder: Path) -> bool:
    """Whether all packages are there, and a Python that can load them: its base may have gone or
    changed."""
    try:
        wanted = (folder / STAMP).read_text(encoding="utf-8")
    except OSError:
        return False
    return _version_of(folder / "bin" / "python") == wanted


def _version_of(python: Path) -> "str | None":
    """`3.11`; None for one that does not start or is too old."""
    code = "import sys; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < {})"
    try:
        done = _run([str(python), "-I", "-c", code.format(MIN_PYTHON)])
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _run(
    command: "list[str]", env: "dict[str, str] | None" = None
) -> "subprocess.CompletedProcess[str]":
    quiet = subprocess.DEVNULL
    return subprocess.run(  # noqa: S603
        command, env=env, stdin=quiet, capture_output=True, text=True, errors="replace", check=False
    )


def find_environment() -> "Path | None":
    """The environment; None where there is none yet, and `ensure_environment` would try to make
    it."""
    found = existing_environment()
    if found:
        return found
    if is_checkout():
        raise EnvironmentUnfit("Python packages are missing: run ./scripts/setup.sh")
    if sys.version_info < MIN_PYTHON:
        version = platform.python_version()
        raise EnvironmentUnfit(f"Python {version} is too old: install version 3.11 or newer")
    return None


def ensure_environment() -> Path:
    """The environment, made if there is none."""
    found = find_environment()
    if found:
        return found
    folder = cached_environment()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with (folder.parent / f"{folder.name}.lock").open("w") as lock:
            # Whoever else makes it is waited for; the lock of one that died is free.
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not _is_whole(folder):
                _make(folder)
    except OSError as error:
        remedy = "set XDG_CACHE_HOME to a folder that can"
        raise EnvironmentUnfit(
            f"{folder} cannot be written ({error.strerror}): {remedy}"
        ) from error
    return folder


def _make(folder: Path) -> None:
    print(
        f"setting up the Python environment for reports, once (about 400 MB): {folder}",
        file=sys.stderr,
    )
    shutil.rmtree(folder, ignore_errors=True)
    _step(
        [sys.executable, "-I", "-m", "venv", str(folder)],
        "no virtual environment could be made: on Debian and Ubuntu install python3-venv",
    )
    python = str(folder / "bin" / "python")
    install = "-I -m pip install --quiet --disable-pip-version-check --no-input --require-hashes -r"
    command = [python, *install.split(), str(ROOT / "requirements.txt")]
    here = ["--no-user", "--target=", f"--prefix={folder}"]
    _step(
        [*command, *here],
        "the Python packages could not be installed: is a package index reachable?",
    )
    _step(
        [*command, "--no-index"],
        f"pip installed elsewhere, or nothing: see {folder}/bin/pip config list",
        PIP_CONFIG_FILE=os.devnull,
    )
    (folder / STAMP).write_text(_version_of(Path(python)) or "", encoding="utf-8")


def _step(command: "list[str]", mend: str, **variables: str) -> None:
    done = _run(command, env={**_own_environment(), **variables})
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        last = lines[-1] if lines else ""
        detail = next((line for line in lines if "ERROR" in line or "Error" in line), last)
        raise EnvironmentUnfit(f"{mend} ({detail.strip()})" if detail else mend)


#: Pip's variables that stay, as in scripts/setup.sh: network and cache. Others install elsewhere,
#: or less.
KEPT = re.compile("INDEX|LINKS|HOST|CERT|PROXY|CACHE|CONFIG|TIMEOUT|RETRIES|KEYRING")


def _own_environment() -> "dict[str, str]":
    """The environment without settings of another Python, and without those of pip that count
    here."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PYTHON") and (not name.startswith("PIP_") or KEPT.search(name))
    }


def main(arguments: "list[str]") -> int:
    """Prints the folder. `--find` makes nothing: where one would be made, it prints nothing."""
    if arguments not in ([], ["--find"]):
        print("usage: report environment [--find]", file=sys.stderr)
        return USAGE
    try:
        folder = find_environment() if arguments else ensure_environment()
    except EnvironmentUnfit as error:
        print(error, file=sys.stderr)
        return EXIT_UNFIT
    if folder:
        print(folder)
    return 0


def start(arguments: "list[str]") -> int:
    command, *rest = arguments or [""]
    if command == "environment":
        return main(rest)
    if command not in COMMANDS:
        print(f"usage: report {{{','.join([*COMMANDS, 'environment'])}}} …", file=sys.stderr)
        return USAGE
    try:
        continue_in_environment(arguments)
        if sys.version_info < MIN_PYTHON:
            raise EnvironmentUnfit("Python 3.11 or newer is needed")
        lacking = ", ".join(missing_packages())
        if lacking:
            raise EnvironmentUnfit(f"{sys.prefix} lacks {lacking}: run ./scripts/setup.sh")
    except EnvironmentUnfit as error:
        name = "generate_report" if command == "generate" else command
        print(f"{name}: {error}", file=sys.stderr)
        return EXIT_UNFIT
    module = {"statistics": "statistics_service"}.get(command, command.replace("-", "_"))
    code: int = importlib.import_module(f"report.cli.{module}").main(rest)
    return code


def continue_in_environment(arguments: "list[str]") -> None:
    """Replaces this process by the same one in the environment, unless it needs none."""
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
        fix = "run ./scripts/setup.sh" if is_checkout() else "remove it, and it is made again"
        raise EnvironmentUnfit(f"{folder} does not work ({error.strerror}): {fix}") from error


def missing_packages() -> "list[str]":
    return [name for name in PACKAGES if importlib.util.find_spec(name) is None]
