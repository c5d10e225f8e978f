"""A picture of several machines: what ran where, with the round trips between them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from report.analysis import machines
from report.base.format import gibibytes, plural
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
class Tier:
    """Machines that requests reach at the same time, and the links that lead on from there."""

    boxes: tuple[MachineBox, ...]
    more_boxes: str
    links: tuple[machines.Link, ...]
    more_links: str


@dataclass(frozen=True, slots=True)
class MachinePicture:
    sentence: str
    tiers: tuple[Tier, ...]
    notes: tuple[str, ...]


def _box(name: str, roles: Sequence[str], stated: Mapping[str, Any] | None) -> MachineBox:
    if stated is None:
        return MachineBox(name, machines.roles_text(roles), ())
    found = stated.get("facts")
    cpus = f"{machines.cpus_text(found)}, {found['cpu_model']}" if found else plural(stated["cpus"], "CPU")
    memory = f"{gibibytes(stated['memory_bytes'])} GiB"
    return MachineBox(name, machines.roles_text(roles), (f"{cpus}, {memory}", stated["engine"]))


def _more(left: int, what: str) -> str:
    return f"and {plural(left, what)} more" if left > 0 else ""


def machine_picture(campaign: Campaign) -> MachinePicture | None:
    stated = {each["name"]: each for each in machines.machines_in(campaign)}
    roles = machines.roles_by_machine(machines.all_runs(campaign))
    if not roles:
        return None
    tier = {name: machines.tier_of(found) for name, found in roles.items()}
    links = [link for link in machines.links_of(campaign) if all(end in tier for end in link.between)]
    tiers = []
    for number in sorted(set(tier.values())):
        names = [name for name in [*stated, *sorted(set(roles) - set(stated))] if tier.get(name) == number]
        # A link belongs to the end that requests reach first.
        onward = [link for link in links if min(tier[end] for end in link.between) == number]
        tiers.append(
            Tier(
                boxes=tuple(_box(name, roles[name], stated.get(name)) for name in names[:_MOST_MACHINES]),
                more_boxes=_more(len(names) - _MOST_MACHINES, "machine"),
                links=tuple(onward[:_MOST_LINKS]),
                more_links=_more(len(onward) - _MOST_LINKS, "link"),
            )
        )
    return MachinePicture(
        sentence=f"The roles ran on {plural(len(roles), 'machine')}. Between them is the median round trip "
        "of 64 bytes over TCP, just before the campaign.",
        tiers=tuple(tiers),
        notes=tuple(filter(None, (_clocks_note(links), *_kernel_notes(stated, roles)))),
    )


def _clocks_note(links: Sequence[machines.Link]) -> str:
    if not links:
        return ""
    apart = max(abs(link.clock_offset_us) + link.clock_bound_us for link in links)
    changes = [abs(link.clock_change_us or 0) for link in links if link.clock_moved]
    moved = f", and moved by {machines.time_text(max(changes))} during the campaign" if changes else ""
    return (
        f"Their clocks were at most {machines.time_text(apart)} apart{moved}. No latency contains that: each "
        "is measured on one clock."
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
    return [(link.ends, _link_text(link)) for link in machines.links_of(campaign)]


def _link_text(link: machines.Link) -> str:
    def signed(us: float) -> str:
        return f"{'−' if us < 0 else '+'}{machines.time_text(abs(us))}"

    clocks = f"clocks {signed(link.clock_offset_us)} ± {machines.time_text(link.clock_bound_us)}"
    changed = "" if link.clock_change_us is None else f", {signed(link.clock_change_us)} afterwards"
    return f"round trip {link.round_trip} ({link.p90}), {link.bandwidth}, {clocks}{changed}"


def machines_facts(campaign: Campaign) -> list[tuple[str, str]]:
    def text(machine: Mapping[str, Any]) -> str:
        system = (
            machine["operating_system"],
            machine["kernel"],
            machines.index_text(machine.get("facts", {})),
        )
        return "; ".join(filter(None, (*_box("", (), machine).facts, *system)))

    return [(each["name"], text(each)) for each in machines.machines_in(campaign)]
