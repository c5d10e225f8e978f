"""Several machines on the page: the picture, the speed of each, and the columns of runs.csv."""

from builder import Document, configuration
from conftest import Build
from machine_documents import APART, TOGETHER, link, machine, machines_manifest, placed_result
from page_reader import read
from report.analysis.machines import placement_shapes
from report.results.convert import run_of
from report.results.model import Campaign
from report.results.validate import validate_result
from report.sections.environment import machine_picture


def picture_of(document: Document | None, *results: Document) -> object:
    runs = tuple(run_of(validate_result(document), "1.json") for document in results)
    return machine_picture(Campaign(name="x", manifest=document, counted=runs))


def test_the_picture_goes_the_way_of_requests_with_the_round_trips(build: Build) -> None:
    page = read(build(machines_manifest([configuration()], 1), [placed_result(1)]).page).text
    text = " ".join(page[page.index("What ran where") :].split())
    places = [
        text.index(each) for each in ("load-host", "61 µs", "app-host 8", "58 µs", "data-host 8")
    ]
    assert places == sorted(places)
    assert "The roles ran on 3 machines" in text
    assert "p90 92 µs, 9.2 Gbit/s" in text
    assert "Machines of the runs, and links" in text


def test_machines_that_share_roles_are_one_box_and_many_are_counted() -> None:
    names = [f"load-{number}" for number in range(1, 10)]
    placement = {
        **{f"generator-{number}": name for number, name in enumerate(names, start=1)},
        "server-1": "app",
        **{f"store-{number}": "app" for number in range(1, 7)},
    }
    document = machines_manifest([configuration()], 1, placement)
    document["sessions"][0]["links"] = [
        link(name, "app", 40 + number) for number, name in enumerate(names)
    ]
    picture = picture_of(document, placed_result(1, placement=placement))
    first, second = picture.tiers  # type: ignore[attr-defined]
    assert (len(first.boxes), first.more_boxes) == (6, "and 3 machines more")
    assert (len(first.links), first.more_links) == (4, "and 5 links more")
    assert [(box.name, box.roles) for box in second.boxes] == [("app", ("server", "6 store nodes"))]


def test_machines_that_are_one_computer_are_named() -> None:
    machines = {name: {**machine(name), "shares_kernel_with": [neighbour]} for name, neighbour in (
        ("load-host", "app-host"),
        ("app-host", "load-host"),
    )}  # fmt: skip
    picture = picture_of(
        machines_manifest([configuration()], 1, machines=machines), placed_result(1)
    )
    (note,) = picture.notes  # type: ignore[attr-defined]
    assert note.startswith("app-host and load-host are one computer: they share its CPUs")


def test_links_and_bandwidths_that_were_not_measured_are_not_shown() -> None:
    document = machines_manifest([configuration()], 1)
    links = document["sessions"][0]["links"]
    del links[1]
    del links[0]["bits_per_second"]
    picture = picture_of(document, placed_result(1))
    assert [len(tier.links) for tier in picture.tiers] == [1, 0, 0]  # type: ignore[attr-defined]
    assert picture.tiers[0].links[0].bandwidth == "bandwidth not known"  # type: ignore[attr-defined]


def test_runs_csv_names_the_machine_of_each_role(build: Build) -> None:
    outcome = build(machines_manifest([configuration()], 2), [placed_result(1), placed_result(2)])
    first, _ = outcome.rows("runs.csv")
    assert first["machines"] == "3"
    assert first["placement"] == "generator-1=load-host server-1=app-host store-1=data-host"


def test_the_shape_of_a_placement_does_not_depend_on_names() -> None:
    def shapes(*placements: dict[str, str]) -> list[str]:
        runs = [
            run_of(validate_result(placed_result(1, placement=each)), "1.json")
            for each in placements
        ]
        return placement_shapes(runs)

    renamed = {role: f"other-{name}" for role, name in APART.items()}
    assert shapes(APART, renamed) == ["3 machines (load generator | server | store)"]
    assert shapes(TOGETHER) == ["2 machines (load generator | server + store)"]
    assert shapes({}) == []
