"""The CSV to the byte, and the summary document against its schema."""

import json

import pytest
from jsonschema import Draft202012Validator

from builder import configuration, failed_result, result, verdict
from campaign_writer import manifest
from conftest import Build
from evidence import REDIS_SHA1
from report.base.csv_text import safe_cell
from report.base.paths import SCHEMAS

#: 40 limited answers of 0.5 ms and 60 allowed ones of 1 ms in 5 s: 20 requests/s, mean 0.8 ms, p50
#: and p99 1 ms, standard deviation √(0.4 · 0.3² + 0.6 · 0.2²) = 0.245 ms.
KNOWN_LIMITED = {500: 40}
KNOWN_ALLOWED = {1000: 60}

HEADER = (
    "Client,Mode,RequestType,Concurrency,Duration,ReqPerSec,Latency_Avg,Latency_P50,Latency_P99,RateLimitHits,"
    "CPUUsage,MemoryUsage,store,store_external,limiter,limiter_script_kind,limiter_script,options,traffic,load_model,"
    "rate_per_second,arrivals,complexity,"
    "limit_points,limit_window_s,limit_block_s,limit_cost,control,runs,"
    "valid_runs,suspect_runs,invalid_runs,failed_runs,missing_runs,median_run,requests_per_second_min,"
    "requests_per_second_max,requests_per_second_stdev,requests_per_second_cv_percent,requests_per_second_interval_low,"
    "requests_per_second_interval_high,requests_per_second_interval_coverage,requests_total,"
    "latency_p75_ms,latency_p90_ms,latency_p95_ms,latency_p97_5_ms,latency_p99_9_ms,service_p50_ms,service_p99_ms,"
    "sends_per_second,sends_late,sends_dropped,send_lateness_p99_ms,latency_min_ms,latency_max_ms,"
    "latency_stddev_ms,latency_unsupported,limited_share_predicted,limited_share_seen,server_cpu_us_per_request,"
    "store_cpu_us_per_request,generator_cpu_us_per_request,server_cpu_percent,store_cpu_percent,"
    "generator_cpu_percent,server_resident_bytes,store_resident_bytes,generator_resident_bytes,store_memory_bytes,"
    "connection_errors,timeouts,failed_answers,failed_by_status,errors_total,connection_errors_all_runs,"
    "timeouts_all_runs,failed_answers_all_runs,verdict,verdict_reasons,limited_by,client_version,"
    "limiter_version,store_version,fastify_version,node_version,autocannon_version,harness_version,runtime,"
    "configuration_hash,latency_p50_ms_min,latency_p50_ms_max,latency_p99_ms_min,latency_p99_ms_max,"
    "server_cpu_us_per_request_min,server_cpu_us_per_request_max,"
    "layer,servers,calls_per_request,descriptors_per_call,served_runs,spoiled_runs,"
    "latency_p50_low_ms,latency_p50_high_ms,latency_p75_low_ms,latency_p75_high_ms,latency_p90_low_ms,"
    "latency_p90_high_ms,latency_p95_low_ms,latency_p95_high_ms,latency_p97_5_low_ms,latency_p97_5_high_ms,"
    "latency_p99_low_ms,latency_p99_high_ms,latency_p99_9_low_ms,latency_p99_9_high_ms,latency_average_low_ms,"
    "latency_average_high_ms,latency_max_low_ms,latency_max_high_ms,service_p50_low_ms,service_p50_high_ms,"
    "service_p99_low_ms,service_p99_high_ms,send_gap_intended_ms,send_gap_p10_ms,send_gap_p50_ms,"
    "send_gap_p90_ms,send_gap_p99_ms,send_gap_max_ms,send_wakes_shared,latency_late,"
    "service_cpu_us_per_request,service_cpu_percent,service_resident_bytes,decided_by,algorithm,module,service,"
    "decides_locally,decisions,cpu_us_per_decision_server,cpu_us_per_decision_service,"
    "cpu_us_per_decision_store,cpu_us_per_decision_generator,reference,copy_of,runs_set_aside,"
    "burst_quotas,over_admitted,under_admitted,promises_broken,generators,host_cpus,cpus_shared,caps,limited_by_runs,"
    "requests_per_second,latency_average_ms,latency_p50_ms,latency_p99_ms,rate_limit_hits,server_heap_bytes,"
    "latency_merged,latency_p99_9_ms_min,latency_p99_9_ms_max,server_heap_bytes_min,server_heap_bytes_max,"
    "service_cpu_us_per_request_min,service_cpu_us_per_request_max,store_cpu_us_per_request_min,"
    "store_cpu_us_per_request_max,generator_cpu_us_per_request_min,generator_cpu_us_per_request_max,"
    "server_cpu_percent_min,server_cpu_percent_max,service_cpu_percent_min,service_cpu_percent_max,"
    "store_cpu_percent_min,store_cpu_percent_max,generator_cpu_percent_min,generator_cpu_percent_max,"
    "limited_share_seen_min,limited_share_seen_max,errors_total_min,errors_total_max,decisions_min,decisions_max,"
    "cpu_us_per_decision_server_min,cpu_us_per_decision_server_max,cpu_us_per_decision_service_min,"
    "cpu_us_per_decision_service_max,cpu_us_per_decision_store_min,cpu_us_per_decision_store_max,"
    "cpu_us_per_decision_generator_min,cpu_us_per_decision_generator_max,service_p50_ms_min,service_p50_ms_max,"
    "service_p99_ms_min,service_p99_ms_max,sends_per_second_min,sends_per_second_max,sends_late_min,sends_late_max,"
    "sends_dropped_min,sends_dropped_max,send_gap_intended_ms_min,send_gap_intended_ms_max,"
    "ratio,ratio_interval_low,ratio_interval_high,ratio_to,conclusion,statement,settled,cpu_settled,"
    "server_cores,service_cores,store_cores,generator_cores,server_cores_min,"
    "server_cores_max,service_cores_min,service_cores_max,store_cores_min,store_cores_max,"
    "generator_cores_min,generator_cores_max\n"
)


def test_bytes_of_a_known_campaign(build: Build) -> None:
    configured = configuration("ioredis@valkey:cluster")
    outcome = build(
        manifest([configured], runs=3),
        [
            result(configured, 2, limited_us=KNOWN_LIMITED, allowed_us=KNOWN_ALLOWED),
            result(configured, 1, limited_us=KNOWN_LIMITED, allowed_us={1000: 160}),
        ],
    )
    line = (
        # Of the selected run, the slower of the two.
        "ioredis@valkey,cluster,light,50,5,20.00,0.800,1.000,1.000,40,61.25,20000000,valkey,false,"
        # From here on medians: of two runs the mean.
        f"rate-limiter-flexible,evalsha,{REDIS_SHA1},,realistic,closed,,,,"
        "1000000,60,0,1,false,2,2,0,0,0,1,2,20.00,40.00,14.14,47.14,,,,150,1.000,1.000,1.000,1.000,1.000,"
        ",,,,,,0.500,1.000,0.223,p99 p99_9,0.1000,0.3000,30000.000,12.000,40.000,80.00,0.04,"
        "0.12,90000000,90000000,90000000,3145728,0,0,0,,0,0,0,0,valid,,server loop,"
        f"1.2.3,11.4.0,9.1.2,5.12.8,24.11.0,9.0.0,0.1.0,local,{result(configured)['configuration_hash']},"
        "1.000,1.000,1.000,1.000,20000.000,40000.000,server,1,1.000,1.000,2,0"
        + ","
        * 34
        + "library,fixed window,,,false,150,30000.000,,12.000,,false,,0,,,,,1,,true,none,2,"
        "30.000,0.850,1.000,1.000,40,20000000,,1.000,1.000,20000000,20000000,,,12.000,12.000,40.000,40.000,"
        "80.000,80.000,,,0.024,0.048,0.080,0.160,0.2000,0.4000,0,0,100,200,20000.000,40000.000,,,12.000,12.000"
        + "," * 23
        + "0.800000,,0.000360,0.001200,0.800000,0.800000,,,0.000240,0.000480,0.000800,0.001600\n"
    )
    assert outcome.text("summary.csv") == HEADER + line


def test_absent_figures_are_empty_cells(build: Build) -> None:
    outcome = build(manifest([configuration()], runs=1), [failed_result(configuration(), 1)])
    (row,) = outcome.rows()
    figures = [
        name
        for name in row
        if name.startswith(("Req", "Latency", "latency", "requests", "CPU", "Memory"))
    ]
    assert {row[name] for name in figures if name != "RequestType"} == {""}
    assert (row["verdict"], row["runs"], row["valid_runs"], row["failed_runs"]) == (
        "invalid",
        "1",
        "0",
        "1",
    )
    assert row["verdict_reasons"] == "run 1: server-1: exited with code 137"


def test_foreign_address_has_a_row_without_what_it_cannot_tell(build: Build) -> None:
    foreign = result(
        configuration(),
        configuration=None,
        configuration_hash=None,
        campaign=None,
        runtime=None,
        cpu_usage=None,
        memory_usage=None,
        memory_resident=None,
        consumers=[],
        calls_per_request=None,
        descriptors_per_call=None,
        store=None,
        prediction=None,
        resources={},
        versions={"node": "24.11.0"},
    )
    foreign["request"]["label"] = "my-gateway"
    outcome = build(None, [foreign])
    assert outcome.code == 0, outcome.err
    (row,) = outcome.rows()
    assert (row["Client"], row["Mode"], row["store"], row["CPUUsage"]) == ("my-gateway", "", "", "")
    assert row["ReqPerSec"] == "2000.00"
    assert "Not compared: the store is not known." in outcome.page


def test_client_named_like_a_control_at_a_foreign_address_is_no_control(build: Build) -> None:
    foreign = result(configuration(), configuration=None, configuration_hash=None)
    foreign["request"]["label"] = "none"
    (row,) = build(None, [foreign]).rows()
    assert row["control"] == "false"


# [R-formula-1]
@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_cell_that_could_be_a_formula_is_quoted(start: str) -> None:
    assert safe_cell(f"{start}cmd()") == f"'{start}cmd()"


def test_numbers_are_not_quoted() -> None:
    cells = [safe_cell(cell) for cell in ("-1", "+2.50", -3, None, "plain", "-1x")]
    assert cells == ["-1", "+2.50", "-3", "", "plain", "'-1x"]


def test_summary_document_fits_its_schema(build: Build) -> None:
    configured = configuration()
    failing = configuration("valkey-glide")
    control = configuration("none")
    saturated = verdict("suspect", ("M6", "generator saturated"))
    outcome = build(
        manifest([configured, failing, control], runs=3),
        [
            result(configured, 1, 2000),
            result(configured, 2, 2100, verdict=saturated),
            result(configured, 3, 9000, verdict=verdict("invalid", ("M9", "0.4 % failed"))),
            failed_result(failing, 1),
            result(control, 1, 9000),
        ],
        "--summary-json",
    )
    assert outcome.out.count("\n") == 1
    document = json.loads(outcome.out)
    schema = json.loads((SCHEMAS / "summary.schema.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(document)
    assert document["report"] == str(outcome.folder / "report" / "index.html")
    first, second, third = document["configurations"]
    statuses = ("valid", "suspect", "invalid", "failed", "missing")
    counted = ("runs", *(f"{status}_runs" for status in statuses), "median_run")
    assert [first[name] for name in counted] == [3, 1, 1, 1, 0, 0, 1]
    assert first["requests_per_second"] == {
        "median": 2050,
        "min": 2000,
        "max": 2100,
        "cv_percent": 3.449,
    }
    assert first["verdict"] == "invalid"
    assert [second[name] for name in counted] == [1, 0, 0, 0, 1, 2, None]
    assert (second["requests_per_second"], second["latency_p99_ms"]) == (None, None)
    assert second["hole"] == "no run counts: server-1: exited with code 137"
    assert (third["label"], third["control"]) == ("none", True)


def test_planned_row_without_any_file_is_there(build: Build) -> None:
    planned = manifest([configuration(), configuration("ioredis")], runs=2)
    outcome = build(planned, [result(configuration(), 1)], "--summary-json")
    missing = json.loads(outcome.out)["configurations"][0]
    assert [missing[name] for name in ("label", "runs", "missing_runs", "verdict")] == [
        "ioredis",
        0,
        2,
        None,
    ]
    assert missing["hole"] == "no run recorded"
    assert "planned, but no result file was found" in outcome.page


def test_the_long_form_has_a_line_for_each_figure(build: Build) -> None:
    run = result(configuration())
    run["resources"]["server-1"]["cpu_us_per_request"] = 48
    outcome = build(None, [run], "--csv", "long")
    assert outcome.code == 0, outcome.err
    assert any(
        ",cpu_per_request,us,48.000," in line for line in outcome.text("figures.csv").splitlines()
    )
