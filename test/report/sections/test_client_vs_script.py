"""One client under its own script and under the one for all, side by side."""

from builder import Document, configuration, failed_result, result
from campaign_writer import manifest
from conftest import Build, summaries_of
from page_reader import cpu_heads
from report.analysis.cells import cells
from report.sections.client_vs_script import client_vs_script_tables
from report.sections.section import Table, TableRow


def tables_of(*results: Document) -> tuple[Table, ...]:
    (cell,) = cells(summaries_of(*results))
    return client_vs_script_tables(cell)


def measured(
    label: str, requests_per_second: int, store_cpu_us: float = 12, runs: int = 1
) -> list[Document]:
    """Runs whose server used 4 s of CPU time in 5 s, so 800 µs a request at 1000 requests/s."""
    documents = [
        result(configuration(label), run, requests_per_second) for run in range(1, runs + 1)
    ]
    for document in documents:
        document["resources"]["store-1"]["cpu_us_per_request"] = store_cpu_us
    return documents


class Row:
    """Client, its own side, the common one, and the ratios."""

    def __init__(self, row: TableRow) -> None:
        texts = tuple(cell.text for cell in row.cells)
        self.label = texts[0]
        self.tag = row.cells[0].tag
        self.own = texts[1:5]
        self.same = texts[5:9]
        self.ratios = texts[9:]


def rows_of(table: Table) -> list[Row]:
    return [Row(row) for row in table.rows]


def row_of(*results: Document) -> Row:
    ((row,),) = map(rows_of, tables_of(*results))
    return row


def test_ratios_are_same_by_own() -> None:
    row = row_of(
        *measured("valkey-glide", 1000, 20, runs=5),
        *measured("valkey-glide+same-script", 1250, 15, runs=5),
    )
    assert row.label == "valkey-glide"
    assert row.own == ("FCALL consume", "1,000", "800", "20.0")
    assert row.same == ("EVALSHA a1de965f", "1,250", "640", "15.0")
    assert row.ratios == (
        "1.25×, 1.25–1.25×, faster, at least 25 %",
        # At saturation CPU per request follows from the throughput: no second conclusion.
        "0.80×, 0.80–0.80×",
        "0.75×, 0.75–0.75×, better, at least 25 %",
    )
    assert row.tag == ""


def test_one_run_of_each_has_no_ratio() -> None:
    row = row_of(*measured("iovalkey", 1000), *measured("iovalkey+same-script", 1250))
    assert row.ratios == ("–", "–", "–")


def test_fewer_than_five_runs_on_a_side_say_so() -> None:
    row = row_of(
        *measured("iovalkey", 1000, runs=5), *measured("iovalkey+same-script", 1000, runs=4)
    )
    assert row.tag == "only 4 runs"
    assert row.ratios == ("1.00×, 1.00–1.00×",) * 3


def test_client_whose_own_script_is_the_common_one_shows_noise() -> None:
    row = row_of(*measured("ioredis", 1000, runs=5), *measured("ioredis+same-script", 1010, runs=5))
    assert row.tag == "own is the same script"
    assert row.ratios[0] == "1.01×, 1.01–1.01×, no difference, at most 1 % faster"


def test_clients_are_read_down_the_column_of_the_one_script() -> None:
    (table,) = tables_of(
        *measured("valkey-glide", 3000),
        *measured("valkey-glide+same-script", 1250),
        *measured("iovalkey+same-script", 2500),
        *measured("iovalkey+autopipelining", 3500, runs=2),
        *measured("iovalkey+autopipelining+same-script", 2000, runs=2),
        *measured("node-redis@valkey", 4000),
    )
    rows = rows_of(table)
    labels = [row.label for row in rows]
    assert labels == ["iovalkey", "iovalkey+autopipelining", "valkey-glide", "node-redis"]
    assert rows[0].own == ("–", "–", "–", "–")
    assert rows[0].ratios == rows[3].ratios == ("–", "–", "–")
    assert rows[1].ratios[0] == "0.57×"


def test_sides_are_never_of_two_stores() -> None:
    assert (
        tables_of(*measured("ioredis", 1000), *measured("ioredis@valkey+same-script", 1250)) == ()
    )
    tables = tables_of(
        *measured("ioredis", 1000, runs=2),
        *measured("ioredis+same-script", 1100, runs=2),
        *measured("ioredis@valkey", 2000, runs=2),
        *measured("ioredis@valkey+same-script", 1000, runs=2),
    )
    assert [(table.title, rows_of(table)[0].ratios[0]) for table in tables] == [
        ("on redis", "1.10×"),
        ("on valkey", "0.50×"),
    ]


def test_side_without_a_valid_run_has_no_ratio() -> None:
    failed = failed_result(configuration("iovalkey+same-script"), 1)
    row = row_of(*measured("iovalkey", 1000), failed)
    assert (row.same, row.ratios, row.tag) == (("–",) * 4, ("–",) * 3, "")


def test_page_has_the_table_where_a_client_has_both(build: Build) -> None:
    labels = ["valkey-glide", "valkey-glide+same-script", "iovalkey"]
    results = [result(configuration(label), 1, 1000 + 250 * n) for n, label in enumerate(labels)]
    page = build(manifest([configuration(label) for label in labels], 1), results).page
    assert page.count('<h2 id="apart-title">') == 1
    assert "only 1 run<" in page
    assert all("at full load" in head for head in cpu_heads(page))
