import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Manifest, manifestSchema } from "../../../../src/contract/manifest.js";
import type { Plan } from "../../../../src/contract/plan.js";
import type { MeasuredResult } from "../../../../src/contract/result.js";
import { targetOutcome } from "../../../../src/judge/outcome.js";
import { judgeRun } from "../../../../src/judge/rules.js";
import { startManifest } from "../../../../src/orchestrator/campaign/write-manifest.js";
import { judgeTrial, MaxRateSearch } from "../../../../src/orchestrator/max-rate/search.js";
import { planOf } from "../../../../src/orchestrator/max-rate/searched-rates.js";
import { isDecided, requestedRuns } from "../../../../src/orchestrator/plan/decision-rounds.js";
import { parseThresholds } from "../../../../src/orchestrator/request/thresholds.js";
import type { RunOutcome } from "../../../../src/orchestrator/run/result-documents.js";
import type { NewEvent } from "../../../../src/orchestrator/ui/event-log.js";
import { addFailures, validEvidence } from "../../../helpers/evidence.js";
import { FakeRuntime } from "../../../helpers/fake-runtime.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { ROOT } from "../../../helpers/programs.js";
import { everything, requestOf } from "../../../helpers/request.js";

const missReason = (...trial: Parameters<typeof judgeTrial>): string => judgeTrial(...trial).reason;

const objectives = parseThresholds("--slo", "errors<1%");

/** A run of an open loop that sent so many of a thousand requests. */
function run(sent: number, more: Partial<MeasuredResult> = {}): MeasuredResult {
  const schedule = { offered: 1_000, sent } as NonNullable<MeasuredResult["schedule"]>;
  const verdict = { status: "valid" as const, reasons: [], not_applicable: [] };
  return { ...validEvidence(), verdict, schedule, ...more };
}

test("a rate is kept when its schedule was sent and every objective is met", () => {
  expect(missReason(run(1_000), objectives)).toBe("");
  expect(missReason(run(995), objectives)).toBe("");
});

test("a rate is not kept when a hundredth of it was not sent, whatever the figures", () => {
  expect(missReason(run(985), objectives)).toBe("985 of 1000 requests were sent");
  expect(missReason({ ...run(0), schedule: undefined } as never, objectives)).toContain("0 of 0");
});

test("an objective that is missed is named with its figure; one without a figure is missed", () => {
  const counts = { ...validEvidence().counts, sent: 100, failed_answers: 3 };
  expect(missReason(run(1_000, { counts }), objectives)).toBe("errors<1%: 0.03");
  const cpu = parseThresholds("--slo", "cpu<50us");
  expect(missReason(run(1_000, { resources: {} }), cpu)).toBe("cpu<50us: no figure");
  const [server] = Object.values(validEvidence().resources).filter(({ kind }) => kind === "server");
  if (!server) throw new Error("the evidence has no server");
  const resources = {
    "server-1": { ...server, cpu_us_per_request: 30 },
    "server-2": { ...server, cpu_us_per_request: 31 },
  };
  expect(missReason(run(1_000, { resources }), cpu)).toBe("cpu<50us: 61");
  // At the limiter layer the load generator is the client.
  const request = { ...validEvidence().request, layer: "limiter" as const };
  const client = {
    "generator-1": { ...server, kind: "generator" as const, cpu_us_per_request: 70 },
  };
  expect(missReason(run(1_000, { resources: client, request }), cpu)).toBe("cpu<50us: 70");
  expect(missReason(run(985, { request }), objectives)).toBe("985 of 1000 decisions were sent");
});

test("a percentile that failures could move does not meet an objective, whatever its bounds", () => {
  const p99 = parseThresholds("--slo", "p99<10ms");
  const { latency } = validEvidence();
  if (!latency) throw new Error("latency");
  const unknown = (low: number, high: number | null) =>
    run(1_000, { latency: { ...latency, p99: null, bounds: { p99: { low, high } } } });
  expect(missReason(unknown(30.123, null), p99)).toBe("p99<10ms: > 30.12");
  expect(missReason(unknown(8, 9), p99)).toBe("p99<10ms: > 8");
});

test.each(["overloaded", "failed"] as const)(
  "a run that the target spoiled keeps no rate: %s",
  (outcome) => {
    expect(missReason(run(1_000, { outcome, outcome_text: "why" }), [])).toBe(`${outcome}: why`);
    expect(missReason(run(1_000, { outcome: "served" }), [])).toBe("");
  },
);

test("a run whose measurement is broken says nothing, unless objectives replace the rule that it broke", () => {
  const broken = (rule: string) =>
    run(1_000, {
      verdict: {
        status: "invalid",
        reasons: [{ rule, severity: "invalid", text: "why" }],
        not_applicable: [],
      },
    });
  expect(judgeTrial(broken("M8"), objectives)).toEqual({ status: "void", reason: "M8 why" });
  expect(judgeTrial(broken("M5"), objectives)).toEqual({ status: "kept", reason: "" });
  expect(judgeTrial(run(985), objectives).status).toBe("missed");
});

const newFolder = temporaryFolders();

type PlannedRun = Plan["runs"][number];

interface Campaign {
  folder: string;
  manifest: Manifest;
}

async function newCampaign(...flags: string[]): Promise<Campaign> {
  const slo = [
    "--find-max-rate",
    "--slo",
    "p99<10ms,errors<0.1%",
    "--cooldown",
    "0",
    "--warmup",
    "1",
  ];
  const request = requestOf("--duration-mode", "custom:2", ...slo, ...flags);
  const plan = planOf(request, everything);
  const manifest = await startManifest(
    "20260102_030405",
    request,
    plan,
    new FakeRuntime(),
    undefined,
    ROOT,
  );
  return { folder: newFolder(), manifest };
}

/** What becomes of a run. */
type Fate = "fast" | "slow" | "timing out" | "broken" | "failed";

/** Writes the result of a run, as the run loop does. */
function make({ folder, manifest }: Campaign, planned: PlannedRun, fate: Fate): RunOutcome {
  const found = manifest.plan.configurations.find(
    ({ hash }) => hash === planned.configuration_hash,
  );
  const configuration = found?.configuration;
  if (configuration?.load.model !== "open") throw new Error("a search is of open loops");
  const outcome = { file: planned.file, configuration, seconds: 5 };
  if (fate === "failed") return { ...outcome, status: "failed" };
  const evidence = validEvidence();
  const { sent } = evidence.counts;
  const { rate_per_second } = configuration.load;
  evidence.request.load = configuration.load;
  evidence.schedule = {
    rate_per_second,
    arrivals: "constant",
    offered: sent,
    sent,
    late: 0,
    blocked: 0,
    dropped: 0,
    unsent: 0,
    achieved_per_second: rate_per_second,
    lateness_ms: { p50: 0.1, p90: 0.1, p99: 0.1, max: 0.1 },
    late_percentiles: [],
    shared_wakes: false,
  };
  if (evidence.latency) evidence.latency.p99 = fate === "slow" ? 50 : 5;
  if (fate === "timing out") {
    addFailures(evidence, "timed_out", 300);
    evidence.schedule.offered += 300;
    evidence.schedule.sent += 300;
  }
  const verdict = judgeRun(evidence);
  if (fate === "broken")
    Object.assign(verdict, {
      status: "invalid",
      reasons: [{ rule: "M8", severity: "invalid", text: "counts differ" }],
    });
  writeFileSync(
    join(folder, planned.file),
    JSON.stringify({ ...evidence, verdict, ...targetOutcome(evidence, verdict) }),
  );
  return { ...outcome, status: verdict.status };
}

interface Simulation {
  campaign: Campaign;
  /** Files in the order in which they were measured. */
  measured: string[];
  notices: string[];
  expected: number[];
}

/** Goes through a plan like the run loop. @param stopAfter interrupted after so many runs */
async function simulate(
  campaign: Campaign,
  fateOf: (label: string, rate: number, made: number) => Fate,
  {
    stopAfter = Number.POSITIVE_INFINITY,
    completed = [],
  }: { stopAfter?: number; completed?: string[] } = {},
): Promise<Simulation> {
  const simulation: Simulation = { campaign, measured: [], notices: [], expected: [] };
  const { manifest, folder } = campaign;
  const { plan } = manifest;
  const search = await MaxRateSearch.open({
    manifest,
    folder,
    completed: new Map(completed.map((file) => [file, {}])),
    overheads: { none: 1, standalone: 2 },
    eventLog: {
      emit: (event: NewEvent) => event.event === "planned" && simulation.expected.push(event.runs),
      info: (text) => simulation.notices.push(text),
      warn: (text) => simulation.notices.push(text),
    },
    progress: { expect: () => {}, limitTime: () => {}, timeLeftS: () => 0 },
    save: async () => {},
  });
  for (const planned of plan.runs) {
    if (!(await search.isNeeded(planned)) || completed.includes(planned.file)) continue;
    if (simulation.measured.length >= stopAfter) return simulation;
    const found = plan.configurations.find(({ hash }) => hash === planned.configuration_hash);
    const { target, load } = found?.configuration ?? {};
    const rate = load?.model === "open" ? load.rate_per_second : 0;
    const fate = fateOf(target?.label ?? "", rate, simulation.measured.length);
    simulation.measured.push(planned.file);
    await search.finished(make(campaign, planned, fate), 0);
  }
  await search.end();
  return simulation;
}

const capacities: Readonly<Record<string, number>> = { iovalkey: 4321, ioredis: 1800 };
const byCapacity = (label: string, rate: number): Fate =>
  rate <= (capacities[label] ?? 0) ? "fast" : "slow";
const TWO = ["--clients", "iovalkey,ioredis"];

test("two targets are bracketed, then take turns near their bounds, in one campaign", async () => {
  const { campaign, measured, notices, expected } = await simulate(
    await newCampaign(...TWO),
    byCapacity,
  );
  const { plan, max_rate } = manifestSchema.parse(JSON.parse(JSON.stringify(campaign.manifest)));
  expect(new Set(plan.runs.map(({ file }) => file)).size).toBe(plan.runs.length);
  expect(measured).toEqual(plan.runs.map(({ file }) => file));
  expect(max_rate?.trials.map(({ file }) => file)).toEqual(measured);
  expect(max_rate?.ended).toEqual({ why: "done" });
  // Single trials come first.
  const isBracket = plan.runs.map(({ bracket = false }) => bracket);
  expect(isBracket).toEqual([...isBracket].sort((a, b) => Number(b) - Number(a)));
  const near = plan.runs.filter(({ bracket }) => !bracket).map(({ file }) => file.split("_")[0]);
  expect(near).toHaveLength(50);
  for (let round = 0; round < 5; round++) {
    const labels = near.slice(10 * round, 10 * round + 10);
    expect(labels.filter((label) => label === "iovalkey")).toHaveLength(5);
    // In random order, and not one target after the other.
    expect(labels.slice(0, 5).join()).not.toBe(labels.slice(5).join());
  }
  expect(notices).toContain("ioredis at 1600/s: kept");
  expect(notices).toContain("ioredis at 2560/s: missed (p99<10ms: 50)");
  // The expected number of trials comes true.
  expect(expected.at(-1)).toBe(plan.runs.length);
  expect(expected[0]).toBeGreaterThan(30);
  expect(isDecided(campaign.manifest)).toBe(true);
});

test("a search that is interrupted near its bounds comes to the same end", async () => {
  const whole = await simulate(await newCampaign(...TWO), byCapacity);
  const first = await simulate(await newCampaign(...TWO), byCapacity, { stopAfter: 40 });
  const { campaign, measured: completed } = first;
  expect(isDecided(campaign.manifest)).toBe(false);
  // The manifest is read again by another process.
  const manifest = manifestSchema.parse(JSON.parse(JSON.stringify(campaign.manifest)));
  const second = await simulate({ ...campaign, manifest }, byCapacity, { completed });
  expect([...completed, ...second.measured]).toEqual(whole.measured);
  expect(manifest.max_rate?.trials).toEqual(whole.campaign.manifest.max_rate?.trials);
});

test("a trial without a measurement says nothing about its rate and is made again", async () => {
  const fates: Fate[] = ["failed", "broken"];
  const { campaign, notices } = await simulate(
    await newCampaign(),
    (label, rate, made) => fates[made] ?? byCapacity(label, rate),
  );
  expect(notices.slice(0, 3)).toEqual([
    "iovalkey at 1000/s: does not count (the run failed)",
    "iovalkey at 1000/s: does not count (M8 counts differ)",
    "iovalkey at 1000/s: kept",
  ]);
  expect(campaign.manifest.max_rate?.trials.filter(({ status }) => status === "void")).toHaveLength(
    2,
  );
  expect(campaign.manifest.plan.runs.filter(({ bracket }) => !bracket)).toHaveLength(25);
});

test("no trial starts that would exceed the budget, and what was left out is not missing", async () => {
  const campaign = await newCampaign("--budget", "60s");
  const { measured } = await simulate(campaign, byCapacity);
  const { plan, max_rate } = campaign.manifest;
  // Each takes 5 s, and the report 4 s more.
  expect(measured).toHaveLength(11);
  expect(max_rate?.ended).toEqual({ why: "budget" });
  expect(plan.max_rate?.budget_s).toBe(60);
  expect(requestedRuns(campaign.manifest).map(({ file }) => file)).toEqual(measured);
  expect(isDecided(campaign.manifest)).toBe(true);
});

test("the trials last as long as asked, else ten seconds, and --runs makes more of them", () => {
  const plan = (...flags: string[]) =>
    planOf(requestOf("--find-max-rate", "--slo", "p99<10ms", ...flags), everything);
  const lengths = ({ configurations }: Plan) =>
    configurations.map(({ configuration }) => configuration.extent);
  expect(lengths(plan())).toEqual([{ duration_s: 10 }]);
  expect(lengths(plan("--duration-mode", "custom:12"))).toEqual([{ duration_s: 12 }]);
  const asked = { from: 500, trials_per_rate: 5, objectives: ["p99<10ms"] };
  expect(plan("--rate", "500").max_rate).toMatchObject(asked);
  expect(plan("--runs", "8").max_rate?.trials_per_rate).toBe(8);
});
