"""The Python environment of an installed package: made once, elsewhere, and whole."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from package_copy import copy_start
from report.cli import environment_command
from report.environment import virtual_environment
from report.environment.installation import EnvironmentUnfit

# An environment takes seconds to make: the tests of this file share one, so they run in one
# process.
pytestmark = pytest.mark.xdist_group("environment")


def wheel(folder: Path) -> Path:
    """A Python package that pip can install without any index."""
    path = folder / "tiny-1.0-py3-none-any.whl"
    information = {
        "METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", "VALUE = 1\n")
        for name, text in information.items():
            archive.writestr(f"tiny-1.0.dist-info/{name}", text)
    return path


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installed package: no checkout, requirements of its own."""
    folder = tmp_path_factory.mktemp("installed") / "a package"
    copy_start(folder)
    file = wheel(folder.parent)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    requirements = f"tiny @ {file.as_uri()} --hash=sha256:{digest}\n"
    (folder / "requirements.txt").write_text(requirements, encoding="utf-8")
    return folder


def call(
    package: Path, cache: Path, *arguments: str, command: str = "environment", **more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-IS", str(package / "report"), command, *arguments],
        env={"PATH": os.environ["PATH"], "HOME": str(cache), "XDG_CACHE_HOME": str(cache), **more},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def cache(package: Path) -> Path:
    """A cache that has the environment, which two wanted at the same time."""
    folder = package.parent / "a cache"
    assert call(package, folder, "--find").stdout == ""
    assert not folder.exists()
    with ThreadPoolExecutor() as pool:
        outcomes = list(pool.map(lambda _: call(package, folder), range(2)))
    assert [done.returncode for done in outcomes] == [0, 0], outcomes
    assert outcomes[0].stdout == outcomes[1].stdout
    assert sorted(len(done.stderr.splitlines()) for done in outcomes) == [0, 1]
    return folder


def found(package: Path, cache: Path) -> Path:
    return Path(call(package, cache, "--find").stdout.strip())


def test_made_once_by_whoever_comes_first(package: Path, cache: Path) -> None:
    folder = found(package, cache)
    assert folder.parent == cache / "ratelimit-bench"
    assert folder.name.startswith("venv-")
    value = [str(folder / "bin" / "python"), "-c", "import tiny; print(tiny.VALUE)"]
    assert subprocess.run(value, capture_output=True, text=True, check=True).stdout == "1\n"
    again = call(package, cache)
    assert (again.stdout.strip(), again.stderr) == (str(folder), "")
    assert sorted(path.name for path in package.iterdir()) == [
        "report",
        "requirements.txt",
        "scripts",
    ]


def test_report_goes_on_in_the_cached_environment(package: Path, cache: Path) -> None:
    # The environment is there, but not what a report needs: the message names where it looked.
    done = call(package, cache, "x", command="generate")
    assert done.returncode == 3
    assert str(found(package, cache)) in done.stderr.splitlines()[-1]


@pytest.mark.long
def test_half_made_is_made_again(package: Path, cache: Path) -> None:
    folder = found(package, cache)
    (folder / ".complete").unlink()
    (folder / "left over").touch()
    assert call(package, cache, "--find").stdout == ""
    assert call(package, cache).returncode == 0
    assert not (folder / "left over").exists()


def test_another_python_that_comes_first_uses_what_is_there(
    package: Path, cache: Path, tmp_path: Path
) -> None:
    folder = found(package, cache)
    (folder / "kept").touch()
    # Any other version, and even one that is too old to make an environment.
    other = (
        "import runpy, sys, platform; "
        "platform.python_version = lambda: '3.9.1'; sys.version_info = (3, 9, 1)"
    )
    program = str(package / "report")
    done = subprocess.run(
        [
            sys.executable,
            "-IS",
            "-c",
            f"{other}; sys.argv[:] = [{program!r}, 'environment']; "
            f"runpy.run_path({program!r}, run_name='__main__')",
        ],
        env={"PATH": os.environ["PATH"], "HOME": str(cache), "XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, str(folder), "")
    assert (folder / "kept").exists()


@pytest.mark.long
@pytest.mark.parametrize("loss", ["gone", "another"])
def test_made_again_where_its_own_python_cannot_load_the_packages(
    package: Path, cache: Path, loss: str
) -> None:
    folder = found(package, cache)
    if loss == "gone":
        (folder / "bin" / "python").unlink()
    else:
        (folder / ".complete").write_text("3.99", encoding="utf-8")
    (folder / "left over").touch()
    assert call(package, cache, "--find").stdout == ""
    assert call(package, cache).returncode == 0
    assert found(package, cache) == folder
    assert not (folder / "left over").exists()


@pytest.mark.long
def test_packages_that_cannot_be_had_are_one_line(package: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(package, tmp_path / "other"))
    wrong = (
        (other / "requirements.txt")
        .read_text(encoding="utf-8")
        .replace("sha256:", "sha256:0", 1)[:-2]
    )
    (other / "requirements.txt").write_text(f"{wrong}\n", encoding="utf-8")
    done = call(other, tmp_path / "cache", "x", command="generate")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 2
    assert "could not be installed" in done.stderr.splitlines()[-1]
    assert call(other, tmp_path / "cache", "--find").stdout == ""


def test_where_it_is(package: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtual_environment, "ROOT", package)
    monkeypatch.setenv("HOME", str(tmp_path))
    # By the XDG rules a relative path counts as unset.
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    first = virtual_environment.cached_environment()
    assert first.parent == tmp_path / ".cache" / "ratelimit-bench"
    other = Path(shutil.copytree(package, tmp_path / "other"))
    (other / "requirements.txt").write_text("# changed\n", encoding="utf-8")
    monkeypatch.setattr(virtual_environment, "ROOT", other)
    assert virtual_environment.cached_environment() != first


def test_cache_that_cannot_be_written_names_the_mend(package: Path, tmp_path: Path) -> None:
    (tmp_path / "a file").touch()
    done = call(package, tmp_path / "a file")
    assert done.returncode == 3
    assert "XDG_CACHE_HOME" in done.stderr
    assert done.stderr.count("\n") == 1


def test_python_without_venv_names_the_mend(
    package: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(virtual_environment, "ROOT", package)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", "/bin/false")
    assert environment_command.main([]) == 3
    assert "python3-venv" in capsys.readouterr().err


# Each of them alone installs elsewhere, installs nothing, or stops Python or pip.
def test_made_whatever_the_variables_of_another_python_and_of_pip_say(
    package: Path, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('of another Python')", encoding="utf-8")
    settings = {
        "PYTHONHOME": str(tmp_path),
        "PYTHONPATH": str(tmp_path),
        "PIP_USER": "1",
        "PIP_TARGET": str(tmp_path / "elsewhere"),
        "PIP_PREFIX": str(tmp_path / "elsewhere"),
        "PIP_ROOT": str(tmp_path / "elsewhere"),
        "PIP_DRY_RUN": "1",
        "PIP_PYTHON": sys.executable,
        "PIP_REQUIRE_VIRTUALENV": "1",
    }
    cache = tmp_path / "cache"
    assert call(package, cache, **settings).returncode == 0
    assert list(found(package, cache).glob("lib/python*/site-packages/tiny.py"))
    assert not (tmp_path / "elsewhere").exists()


def test_an_environment_without_its_packages_is_not_whole(package: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(package, tmp_path / "other"))
    digest = hashlib.sha256((package.parent / "tiny-1.0-py3-none-any.whl").read_bytes()).hexdigest()
    (other / "requirements.txt").write_text(f"tiny==1.0 --hash=sha256:{digest}\n", encoding="utf-8")
    settings = f"[install]\ndry-run = true\nno-index = true\nfind-links = {package.parent}\n"
    (tmp_path / "pip.conf").write_text(settings, encoding="utf-8")
    done = call(other, tmp_path / "cache", PIP_CONFIG_FILE=str(tmp_path / "pip.conf"))
    assert done.returncode == 3
    assert call(other, tmp_path / "cache", "--find").stdout == ""


def test_checkout_is_not_served_from_the_cache(package: Path, tmp_path: Path) -> None:
    checkout = Path(shutil.copytree(package, tmp_path / "checkout"))
    (checkout / "pyproject.toml").touch()
    done = call(checkout, tmp_path / "cache")
    assert done.returncode == 3
    assert "run ./scripts/setup.sh" in done.stderr
    assert not (tmp_path / "cache").exists()


def test_checkout_whose_python_is_in_the_home_of_another_user_names_the_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> os.stat_result:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(virtual_environment, "ROOT", tmp_path)
    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(EnvironmentUnfit, match=r"run \./scripts/setup\.sh"):
        virtual_environment.existing_environment()
