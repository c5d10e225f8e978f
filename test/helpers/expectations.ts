import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { ConsumerEvidence } from "../../src/contract/consumer-evidence.js";
import type { LatencyHistograms } from "../../src/contract/latency-figures.js";
import type { AfterWindow, Counts } from "../../src/contract/request-outcomes.js";
import type { MeasuredResult } from "../../src/contract/result.js";
import { sum } from "../../src/kit/numbers.js";
import type { Campaign } from "./campaign.js";

const answered = ({ allowed, limited }: Pick<Counts, "allowed" | "limited">): number =>
  allowed + limited;
const failed = ({ failed_answers, connection_errors, timed_out }: AfterWindow): number =>
  failed_answers + connection_errors + timed_out;

/**
 * Every sent request has one end, in the window or after it, and is in one histogram of each kind.
 */
function expectAccounted({ counts, schedule, generators, slices, turns }: MeasuredResult): void {
  const { after_window } = counts;
  expect(counts.sent).toBe(answered(counts) + failed(counts) + counts.followed);
  expect(counts.cut).toBe(0);
  expect(counts.followed).toBe(answered(after_window) + failed(after_window));
  const end = (name: keyof AfterWindow): number => counts[name] + after_window[name];
  const unanswered = end("connection_errors") + end("timed_out");
  /** Of all generators together. */
  const kinds = (histograms: readonly (LatencyHistograms | undefined)[]) =>
    (["allowed", "limited", "failed", "censored"] as const).map((kind) => [
      kind,
      sum(histograms.map((byOutcome) => byOutcome?.[kind].count ?? Number.NaN)),
    ]);
  const ends = (censored: number) => [
    ["allowed", end("allowed")],
    ["limited", end("limited")],
    ["failed", end("failed_answers")],
    ["censored", censored],
  ];
  const neverSent = schedule ? schedule.dropped + schedule.unsent : 0;
  expect(kinds(generators.map((part) => part.histograms))).toEqual(ends(unanswered + neverSent));
  if (schedule)
    expect(kinds(generators.map((part) => part.service_histograms))).toEqual(ends(unanswered));
  for (const worker of generators.flatMap((part) => part.workers)) {
    expect(worker.counts.sent).toBe(
      answered(worker.counts) + failed(worker.counts) + worker.counts.followed,
    );
    expect(worker.counts.followed).toBe(
      answered(worker.counts.after_window) + failed(worker.counts.after_window),
    );
    expect(worker.counts.followed).toBeLessThanOrEqual(worker.connections * (turns?.turns ?? 1));
  }
  const inSlices = [slices.allowed, slices.limited, slices.failed].map((column) => sum(column));
  expect(inSlices).toEqual([counts.allowed, counts.limited, failed(counts)]);
}

/** Invariants of every result, computed independently of the program. */
export function expectConsistent(result: MeasuredResult): void {
  const { counts, requests, duration } = result;
  expectAccounted(result);
  expect(requests.total).toBe(answered(counts));
  expect(Math.abs(requests.average * duration - requests.total)).toBeLessThan(1);
  expect(result.rate_limit_hits).toBe(counts.limited);
  expect(result.errors).toBe(counts.connection_errors + counts.after_window.connection_errors);
  expect(result.timeouts).toBe(counts.timed_out + counts.after_window.timed_out);
  expect(result.totalErrors).toBe(failed(counts) + failed(counts.after_window));
  const seconds = result.samples.reduce(
    (total, { allowed, limited }) => total + allowed + limited,
    0,
  );
  expect(seconds).toBe(requests.total);
  expect(sum(Object.values(counts.by_code))).toBe(requests.total + counts.failed_answers);
}

/** Every send of the schedule is in one count. */
export function expectScheduleReconciled(result: MeasuredResult): void {
  const { counts, schedule, generators } = result;
  if (!schedule) throw new Error("a schedule");
  expectConsistent(result);
  expect(schedule.offered).toBe(schedule.sent + schedule.dropped + schedule.unsent);
  expect(schedule.sent).toBe(counts.sent);
  const waited = schedule.blocked - schedule.dropped - schedule.unsent;
  const recorded = (name: "lateness" | "gaps") =>
    sum(generators.map((part) => part.schedule?.[name].count ?? Number.NaN));
  expect(recorded("lateness")).toBe(schedule.sent - waited);
  // The first send of each worker follows no other.
  const sending = generators.flatMap(({ workers }) =>
    workers.filter((worker) => worker.counts.sent > 0),
  );
  expect(recorded("gaps")).toBe(schedule.sent - sending.length);
}

/**
 * M8 by the test's own arithmetic: from the generator's counts through all consumers to what the
 * store counted.
 */
export function expectReconciled(result: MeasuredResult): void {
  const { counts, warmup, consumers, store, configuration } = result;
  const { calls_per_request = 1, descriptors_per_call = 1 } = result;
  expect(counts.sent).toBe(answered(counts) + counts.followed);
  expect(counts.followed).toBe(answered(counts.after_window));
  const total = (pick: (consumer: ConsumerEvidence) => number) => sum(consumers.map(pick));
  expect(consumers.length).toBeGreaterThan(0);
  if (configuration)
    expect(consumers).toHaveLength(configuration.servers || (configuration.generators ?? 1));
  expect(total(({ at_end, at_window_open }) => at_end.requests - at_window_open.requests)).toBe(
    counts.sent + warmup.lead_in.requests,
  );
  if (configuration?.target.limiter === "none") return;
  expect(total(({ at_end }) => at_end.consumes?.failed ?? -1)).toBe(0);
  const decided = total(({ at_end: { consumes } }) =>
    consumes ? consumes.allowed + consumes.limited : -1,
  );
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

/**
 * Every planned run has one result with its checksum, there is a report, and nothing else is left.
 */
export async function expectComplete(campaign: Campaign): Promise<void> {
  const { folder, manifest } = campaign;
  const planned = manifest.plan.runs.map(({ file }) => file).sort();
  expect([...campaign.results.keys()]).toEqual(planned);
  expect(campaign.measured.map(({ campaign: name }) => name)).toEqual(
    planned.map(() => manifest.campaign),
  );
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
