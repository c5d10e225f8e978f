import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sum } from "../../src/contract/numbers.js";
import type { ConsumerEvidence, MeasuredResult } from "../../src/contract/result.js";
import type { Campaign } from "./campaign.js";

/** Invariants of every result, computed independently of the program. */
export function expectConsistent(result: MeasuredResult): void {
  const { counts, requests, duration, request } = result;
  expect(requests.total).toBe(counts.allowed + counts.limited);
  expect(Math.abs(requests.average * duration - requests.total)).toBeLessThan(1);
  expect(result.rate_limit_hits).toBe(counts.limited);
  expect(result.totalErrors).toBe(result.errors + result.timeouts + counts.failed_answers);
  const failed = counts.failed_answers + counts.connection_errors + counts.timed_out;
  expect(counts.sent).toBe(counts.allowed + counts.limited + failed + counts.cut);
  expect(counts.cut).toBeLessThanOrEqual(request.load.connections);
  const seconds = result.samples.reduce((total, { allowed, limited }) => total + allowed + limited, 0);
  expect(seconds).toBe(requests.total);
  expect(sum(Object.values(counts.by_code))).toBe(requests.total + counts.failed_answers);
}

/** Every send of the schedule is in one count, and every answer in one histogram of each kind. */
export function expectScheduleReconciled({
  counts,
  schedule,
  generators,
  requests,
  samples,
}: MeasuredResult): void {
  if (!schedule) throw new Error("a schedule");
  expect(schedule.offered).toBe(schedule.sent + schedule.dropped + schedule.unsent);
  expect(schedule.sent).toBe(counts.sent);
  const failed = counts.failed_answers + counts.connection_errors + counts.timed_out;
  expect(counts.sent).toBe(counts.allowed + counts.limited + failed);
  const [part] = generators;
  for (const histograms of [part?.histograms, part?.service_histograms]) {
    expect(histograms?.allowed.count).toBe(counts.allowed);
    expect(histograms?.limited.count).toBe(counts.limited);
    expect(histograms?.failed.count).toBe(counts.failed_answers);
  }
  expect(part?.schedule?.lateness.count).toBe(schedule.sent);
  expect(samples.reduce((total, { allowed, limited }) => total + allowed + limited, 0)).toBe(requests.total);
}

/** M8 by the test's own arithmetic: from the generator's counts through all consumers to what the store counted. */
export function expectReconciled(result: MeasuredResult): void {
  const { counts, consumers, store, configuration, calls_per_request = 1, descriptors_per_call = 1 } = result;
  const failed = counts.failed_answers + counts.connection_errors + counts.timed_out;
  expect(counts.sent).toBe(counts.allowed + counts.limited + failed + counts.cut);
  expect(failed).toBe(0);
  const total = (pick: (consumer: ConsumerEvidence) => number) => sum(consumers.map(pick));
  expect(consumers.length).toBeGreaterThan(0);
  if (configuration) expect(consumers).toHaveLength(configuration.servers || 1);
  expect(total(({ at_end, at_window_open }) => at_end.requests - at_window_open.requests)).toBe(counts.sent);
  if (configuration?.target.limiter === "none") return;
  expect(total(({ at_end }) => at_end.consumes?.failed ?? -1)).toBe(0);
  const decided = total(({ at_end: { consumes } }) => (consumes ? consumes.allowed + consumes.limited : -1));
  const requests = total(({ at_end }) => at_end.requests);
  expect(decided).toBe(requests * calls_per_request * descriptors_per_call);
  if (!store) return;
  const counted = store.nodes.map(({ at_start, at_end }) => {
    expect(at_start.decisions).toBe(0);
    expect(at_start.keys).toBe(0);
    expect(at_end.run_id).toBe(at_start.run_id);
    return at_end.decisions ?? Number.NaN;
  });
  expect(sum(counted) * descriptors_per_call).toBe(decided);
}

/** Every planned run has one result with its checksum, there is a report, and nothing else is left. */
export async function expectComplete(campaign: Campaign): Promise<void> {
  const { folder, manifest } = campaign;
  const planned = manifest.plan.runs.map(({ file }) => file).sort();
  expect([...campaign.results.keys()]).toEqual(planned);
  expect(campaign.measured.map(({ campaign: name }) => name)).toEqual(planned.map(() => manifest.campaign));
  const check = ["--strict", "-c", "SHA256SUMS"];
  const checked = execFileSync("sha256sum", check, { cwd: folder, encoding: "utf8" });
  expect(checked.trimEnd().split("\n")).toEqual(planned.map((file) => `${file}: OK`));
  expect(manifest.status).toBe("finished");
  const report = join(folder, "report");
  expect(readdirSync(report)).toEqual(expect.arrayContaining(["index.html", "summary.csv"]));
  const names = [folder, report, join(folder, "..")].flatMap((place) => readdirSync(place));
  expect(names.filter((name) => name.includes(".tmp"))).toEqual([]);
  expect(await campaign.leftovers()).toEqual([]);
}
