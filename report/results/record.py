"""The base of the generated records, and checks that a type cannot express."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

__all__ = ["Maybe", "Record", "one_of", "only_true", "plain"]

if TYPE_CHECKING:
    from typing import Optional as Maybe
else:

    class Maybe:
        """A member that is None if the document does not have it. A null in its place is
        refused."""

        def __class_getitem__(cls, kind: Any) -> Any:
            return kind


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False, omit_defaults=True):
    """The base of all objects of documents."""


def only_true(*names: str) -> Callable[[Record], None]:
    """Returns a check of flags that are absent if they would be false."""

    def check(record: Record) -> None:
        for name in names:
            if getattr(record, name) is False:
                raise ValueError(f"`{name}` is false, must be true")

    return check


def one_of(*shapes: tuple[str, ...]) -> Callable[[Record], None]:
    """Returns a check that the members are those of one of the shapes."""

    def check(record: Record) -> None:
        names = tuple(
            name for name in record.__struct_fields__ if getattr(record, name) is not None
        )
        if names not in shapes:
            problem = (
                f"`{names[-1]}` is not a field beside" if names else f"`{shapes[0][0]}` is missing"
            )
            raise ValueError(problem)

    return check


def plain(value: Any) -> Any:
    """Converts records to dictionaries and lists, without members that are absent."""
    return msgspec.to_builtins(value)
