"""`ratelimit-bench claims report`: the page, the Markdown and the verdicts of published claims."""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from report.analysis.campaign_analysis import Analysis, analyse
from report.analysis.claims import JudgedClaim, judged_claim
from report.base.errors import one_line
from report.base.files import write_all
from report.base.terminal import run_program
from report.export.claim_verdicts import claim_verdicts
from report.export.claims_markdown import claims_markdown
from report.html.claims_page import claims_page
from report.results.claims import REPORT, ClaimsRegister, load_register
from report.results.load import load_campaign
from report.sections.claims import sentence

PAGE = "index.html"
MARKDOWN = "claims.md"
VERDICTS = "verdicts.json"

_EPILOG = """exit codes: 0 done · 2 wrong usage, or a file that is not what it should be ·
3 the environment is not fit · 4 writing failed"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="report claims",
        description="Judges published claims by what was measured, from report/register.json of a folder.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("--markdown", metavar="FILE", help=f"the Markdown ({MARKDOWN} in DIR/{REPORT})")
    return parser


def _analyses(register: ClaimsRegister, folder: Path) -> dict[str, list[Analysis]]:
    """Of the campaigns that were measured, by id, the newest first."""
    return {
        campaign.id: [analyse(load_campaign(folder / each)) for each in campaign.folders]
        for campaign in register.campaigns.values()
        if campaign.folders
    }


def _relative(target: Path, start: Path) -> str:
    """From one folder to another one, with a slash at its end; empty where they are the same."""
    path = Path(os.path.relpath(target, start)).as_posix()
    return "" if path == "." else f"{path}/"


def claims_files(claims: Sequence[JudgedClaim], register: ClaimsRegister) -> dict[str, str]:
    """The page and the verdicts by name."""
    return {PAGE: claims_page(claims, register), VERDICTS: claim_verdicts(claims)}


def _run(options: argparse.Namespace) -> int:
    folder = Path(options.folder).resolve()
    report = folder / REPORT
    markdown = Path(options.markdown).resolve() if options.markdown else report / MARKDOWN
    register = load_register(folder)
    analyses = _analyses(register, folder)
    claims = [judged_claim(claim, analyses) for claim in register.claims]
    root = _relative(folder, markdown.parent)
    text = claims_markdown(claims, register, root, in_docs=markdown.parent.name == "docs")
    files = claims_files(claims, register)
    if markdown.parent == report:
        files[markdown.name] = text
    else:
        write_all(markdown.parent, {markdown.name: text})
    write_all(report, files)
    print(sentence(claims))
    print(f"saved in {one_line(report / PAGE, 4096)} and {one_line(markdown, 4096)}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program. Returns its exit code, see `--help`."""
    return run_program("claims", lambda: _run(_parser().parse_args(arguments)))
