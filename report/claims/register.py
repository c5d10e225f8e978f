"""The register of claims: all that a folder of claims holds."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from report.claims.claim_files import read_claims, read_notice
from report.claims.compared_rows import Document
from report.claims.registered import History, read_history
from report.claims.replies import read_replies


class Register(Struct, frozen=True, kw_only=True):
    """Claims and questions with what belongs to them. An empty one stands for no folder."""

    claims: tuple[Document, ...] = ()
    notice: str = ""
    """What stands above all published claims. Empty without a notice."""
    replies: Mapping[str, str] = {}
    """The replies of makers by the id of their claim."""
    history: History = {}
    """The criteria at the revisions of earlier campaigns."""


def read_register(folder: Path) -> Register:
    """The register of a folder.

    Raises ReportError if a file is damaged, or the folder holds no claims."""
    return Register(
        claims=tuple(read_claims(folder)),
        notice=read_notice(folder),
        replies=read_replies(folder),
        history=read_history(folder),
    )
