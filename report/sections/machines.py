"""A picture of several machines: what ran where, with the round trips between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from report.analysis.hardware_text import cpus_text, index_text
from report.analysis.machines import (
    Link,
    all_runs,
    links_of,
    machines_in,
    roles_by_machine,
    roles_text,
    tier_of,
)
from report.base.format import decimals, gibibytes, plural
from report.results.model import Campaign

#: More machines of a tier, or links of a gap, are counted and not drawn.
_MOST_MACHINES = 6
_MOST_LINKS = 4


@dataclass(frozen=True, slots=True)
class MachineBox:
    name: str
    roles: tuple[str, ...]
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkText:
    ends: str
    round_trip: str
    details: str


@dataclass(frozen=True, slots=True)
class Tier:
    """Machines that requests reach at the same time, and the links that lead on from there."""

    boxes: tuple[MachineBox, ...]
    more_boxes: str
    links: tuple[LinkText, ...]
    more_links: str


@dataclass(frozen=True, slots=True)
class MachinePicture:
    sentence: str
    tiers: tuple[Tier, ...]
    notes: tuple[str, ...]


def time_text(us: float) -> str:
    """`0.8 µs`, `36 µs`, `1.30 ms`."""
    if us >= 1000:
        return f"{decimals(us / 1000, 2 if us < 10_000 else 0)} ms"
    return f"{decimals(us, 1 if us < 10 else 0)} µs"


def rate_text(bits_per_second: float | None) -> str:
    """`9.4 Gbit/s`, `94 Mbit/s`."""
    if bits_per_second is None:
        return "bandwidth not known"
    if bits_per_second >= 1e9:
        return f"{decimals(bits_per_second / 1e9, 1)} Gbit/s"
    return f"{decimals(bits_per_second / 1e6, 0)} Mbit/s"


def _link_text(link: Link) -> LinkText:
    return LinkText(
        ends=" ⇄ ".join(link.between),
        round_trip=time_text(link.round_trip_us),
        details=f"p90 {time_text(link.round_trip_p90_us)}, {rate_text(link.bits_per_second)}",
    )


def _box(name: str, roles: Sequence[str], stated: Mapping[str, Any] | None) -> MachineBox:
    if stated is None:
        return MachineBox(name, roles_text(roles), ())
    found = stated.get("facts")
    cpus = f"{cpus_text(found)}, {found['cpu_model']}" if found else plural(stated["cpus"], "CPU")
    memory = f"{gibibytes(stated['memory_bytes'])} GiB"
    return MachineBox(name, roles_text(roles), (f"{cpus}, {memory}", stated["engine"]))


def _more(left: int, what: str) -> str:
    return f"and {plural(left, what)} more" if left > 0 else ""


def machine_picture(campaign: Campaign) -> MachinePicture | None:
    stated = {each["name"]: each for each in machines_in(campaign)}
    roles = roles_by_machine(all_runs(campaign))
    if not roles:
        return None
    tier = {name: tier_of(found) for name, found in roles.items()}
    links = [link for link in links_of(campaign) if all(end in tier for end in link.between)]
    tiers = []
    for number in sorted(set(tier.values())):
        names = [name for name in [*stated, *sorted(set(roles) - set(stated))] if tier.get(name) == number]
        # A link belongs to the end that requests reach first.
        onward = [link for link in links if min(tier[end] for end in link.between) == number]
        tiers.append(
            Tier(
                boxes=tuple(_box(name, roles[name], stated.get(name)) for name in names[:_MOST_MACHINES]),
                more_boxes=_more(len(names) - _MOST_MACHINES, "machine"),
                links=tuple(map(_link_text, onward[:_MOST_LINKS])),
                more_links=_more(len(onward) - _MOST_LINKS, "link"),
            )
        )
    return MachinePicture(
        sentence=f"The roles ran on {plural(len(roles), 'machine')}. Between them is the median round trip "
        "of 64 bytes over TCP, just before the campaign.",
        tiers=tuple(tiers),
        notes=tuple(filter(None, (_clocks_note(links), *_kernel_notes(stated, roles)))),
    )


def _clocks_note(links: Sequence[Link]) -> str:
    if not links:
        return ""
    apart = max(abs(link.clock_offset_us) + link.clock_bound_us for link in links)
    changes = [abs(link.clock_change_us or 0) for link in links if link.clock_moved]
    moved = f", and moved by {time_text(max(changes))} during the campaign" if changes else ""
    return (
        f"Their clocks were at most {time_text(apart)} apart{moved}. No latency contains that: each is "
        "measured on one clock."
    )


def _kernel_notes(stated: Mapping[str, Mapping[str, Any]], roles: Mapping[str, Sequence[str]]) -> list[str]:
    """Machines that are one computer, once each group."""
    groups = {
        tuple(sorted({name, *stated[name]["shares_kernel_with"]} & set(roles)))
        for name in roles
        if name in stated and "shares_kernel_with" in stated[name]
    }
    return [
        f"{', '.join(group[:-1])} and {group[-1]} are one computer: they share its CPUs, and the links "
        "between them are no real network."
        for group in sorted(groups)
        if len(group) > 1
    ]


def link_facts(campaign: Campaign) -> list[tuple[str, str]]:
    return [
        (
            " ⇄ ".join(link.between),
            f"round trip {time_text(link.round_trip_us)} (p90 {time_text(link.round_trip_p90_us)}), "
            f"{rate_text(link.bits_per_second)}, clocks {_signed(link.clock_offset_us)} "
            f"± {time_text(link.clock_bound_us)}"
            + ("" if link.clock_change_us is None else f", {_signed(link.clock_change_us)} afterwards"),
        )
        for link in links_of(campaign)
    ]


def _signed(us: float) -> str:
    return f"{'−' if us < 0 else '+'}{time_text(abs(us))}"


def machines_facts(campaign: Campaign) -> list[tuple[str, str]]:
    return [
        (
            each["name"],
            "; ".join(
                (
                    *_box(each["name"], (), each).facts,
                    each["operating_system"],
                    each["kernel"],
                    *filter(None, [index_text(each.get("facts", {}))]),
                )
            ),
        )
        for each in machines_in(campaign)
    ]
