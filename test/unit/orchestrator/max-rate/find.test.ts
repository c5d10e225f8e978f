import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { isSpoiled, outcomeOf } from "../../../../src/judge/outcome.js";
import { judge } from "../../../../src/judge/rules.js";
import type { CampaignEnd } from "../../../../src/orchestrator/campaign/campaign.js";
import { findMaxRates } from "../../../../src/orchestrator/max-rate/find.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import type { Request } from "../../../../src/orchestrator/request/request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { addFailures, type ValidRun, validEvidence } from "../../../helpers/evidence.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { everything, requestOf } from "../../../helpers/request.js";

const newFolder = temporaryFolders();
let output = "";
let trials: Request[] = [];
beforeEach(() => {
  output = newFolder();
  trials = [];
});

const searchOf = (...flags: string[]): Request =>
  requestOf("--find-max-rate", "--slo", "p99<10ms,errors<0.1%", "--output", output, ...flags);

type Beyond = (evidence: ValidRun) => void;

/** A p99 of 50 ms. */
const slow: Beyond = ({ latency }) => {
  if (latency) latency.p99 = 50;
};
/** So many requests time out that the p99 is not known. */
const timingOut: Beyond = (run) => {
  addFailures(run, "timed_out", 300);
  if (!run.schedule) return;
  run.schedule.offered += 300;
  run.schedule.sent += 300;
};

/** Stands for a campaign of one run on a server whose p99 is 5 ms up to its capacity. @param beyond what happens above */
function campaignOn(capacity: number, beyond = slow) {
  return async (request: Request): Promise<CampaignEnd> => {
    trials.push(request);
    const plan = makePlan(request, everything);
    const [run] = plan.runs;
    const evidence = validEvidence();
    const isBeyond = (request.rates[0] ?? 0) > capacity;
    const { sent } = evidence.counts;
    evidence.request.load = {
      model: "open",
      rate_per_second: request.rates[0] ?? 0,
      arrivals: "constant",
      connections: 10,
    };
    evidence.schedule = {
      rate_per_second: request.rates[0] ?? 0,
      arrivals: "constant",
      offered: sent,
      sent,
      late: 0,
      blocked: 0,
      dropped: 0,
      unsent: 0,
      achieved_per_second: request.rates[0] ?? 0,
      lateness_ms: { p50: 0.1, p90: 0.1, p99: 0.1, max: 0.1 },
      late_percentiles: [],
      shared_wakes: false,
    };
    if (evidence.latency) evidence.latency.p99 = 5;
    if (isBeyond) beyond(evidence);
    evidence.limited_by = { resource: "server loop", text: "the server's event loop was 97 % busy" };
    const folder = join(output, `trial-${trials.length}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "manifest.json"), JSON.stringify({ plan }));
    const verdict = judge(evidence);
    const outcome = outcomeOf(evidence, verdict);
    writeFileSync(join(folder, run?.file ?? ""), JSON.stringify({ ...evidence, verdict, ...outcome }));
    return { exitCode: isSpoiled(outcome) ? EXIT.configurationFailed : EXIT.done, folder };
  };
}

async function search(request: Request, capacity: number, beyond = slow): Promise<string[]> {
  const lines: string[] = [];
  const campaign = campaignOn(capacity, beyond);
  const code = await findMaxRates(request, request.objectives ?? [], campaign, (line) => lines.push(line));
  expect(code).toBe(EXIT.done);
  return lines;
}

test("the rate is reported with its bound, what was missed there, and the limiting resource", async () => {
  const lines = await search(searchOf(), 4321);
  expect(lines.at(-1)).toMatch(
    /^iovalkey: 4\d{3}\/s keeps p99<10ms, errors<0.1%; 4\d{3}\/s does not \(p99<10ms: 50\); limited by: server loop \(the server's event loop was 97 % busy\)$/,
  );
  const { command, found } = JSON.parse(readFileSync(join(output, "max-rate.json"), "utf8"));
  expect(command).toContain("--find-max-rate");
  const [{ confirmed_per_second: held, missed_per_second: missed }] = found;
  expect(held).toBeLessThanOrEqual(4321);
  expect(missed).toBeGreaterThan(4321);
  expect(missed / held).toBeLessThan(1.021);
});

test("a rate at which the target fails its load is missed, and the search goes on", async () => {
  const lines = await search(searchOf(), 4321, timingOut);
  expect(lines.at(-1)).toMatch(
    /^iovalkey: 4\d{3}\/s keeps .*; 4\d{3}\/s does not \(.*errors<0\.1%: 0\.02911\)/,
  );
});

test.each<[string, CampaignEnd["exitCode"], Beyond]>([
  ["that failed, e.g. without a report", EXIT.configurationFailed, () => {}],
  ["that an unfit environment ended", EXIT.environment, timingOut],
])("a campaign %s ends the search", async (_what, exitCode, beyond) => {
  const campaign = campaignOn(0, beyond);
  const code = await findMaxRates(
    searchOf(),
    searchOf().objectives ?? [],
    async (trial) => ({ ...(await campaign(trial)), exitCode }),
    () => {},
  );
  expect(code).toBe(exitCode);
  expect(trials).toHaveLength(1);
});

test("every trial is one run of one configuration at one rate; a confirmation lasts three probes", async () => {
  await search(searchOf("--rate", "500", "--duration-mode", "custom:12", "--traffic", "fixed"), 600);
  expect(trials[0]).toMatchObject({ rates: [500], runs: 1, traffic: ["fixed"], connections: [200] });
  const seconds = new Set(trials.map(({ duration }) => duration.mode === "fixed" && duration.seconds));
  expect(seconds).toEqual(new Set([4, 12]));
});

test("configurations of one target are told apart, in messages and in the file", async () => {
  const lines = await search(searchOf("--servers", "1,2", "--layer", "server,limiter"), 4321);
  const found = lines.slice(-3).map((line) => line.split(":")[0]);
  expect(found).toEqual([
    "iovalkey, light, realistic, up to 200 connections",
    "iovalkey, light on 2 servers, realistic, up to 200 connections",
    "iovalkey, limiter layer, realistic, up to 200 at a time",
  ]);
  const saved = JSON.parse(readFileSync(join(output, "max-rate.json"), "utf8")) as { found: unknown[] };
  expect(saved.found).toMatchObject([
    { label: "iovalkey", layer: "server", servers: 1 },
    { label: "iovalkey", layer: "server", servers: 2 },
    { label: "iovalkey", layer: "limiter", servers: 0 },
  ]);
});

test("each configuration is searched separately, and no rate at all is a result, too", async () => {
  const lines = await search(searchOf("--clients", "iovalkey,ioredis"), 0);
  expect(lines.slice(-2)).toEqual([
    "iovalkey: not even 0.1/s keeps p99<10ms, errors<0.1%",
    "ioredis: not even 0.1/s keeps p99<10ms, errors<0.1%",
  ]);
});

test("--json prints only one document", async () => {
  const lines = await search(searchOf("--json"), 1000);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject([{ label: "iovalkey", confirmed_per_second: 1000 }]);
});

test("a trial's result is that of its own folder, whatever `latest` points to, and no trial is the latest", async () => {
  const request = searchOf("--rate", "500");
  const elsewhere = newFolder();
  const campaign = campaignOn(600);
  const lines: string[] = [];
  await findMaxRates(
    request,
    request.objectives ?? [],
    async (trial) => {
      const end = await campaign(trial);
      // Somebody else's campaign ends at the same time.
      if (trials.length === 1) symlinkSync(elsewhere, join(output, "latest"));
      return end;
    },
    (line) => lines.push(line),
  );
  expect(lines.at(-1)).toMatch(/^iovalkey: [56]\d\d\/s keeps/);
  expect(trials.every(({ trial }) => trial)).toBe(true);
  const { found } = JSON.parse(readFileSync(join(output, "max-rate.json"), "utf8"));
  expect(found[0].trials[0]).toMatchObject({ rate_per_second: 500, campaign: "trial-1" });
});

describe("a search that is interrupted", () => {
  /** Interrupted instead of trial so and so. */
  async function interrupted(trial: number, request = searchOf()) {
    const lines: string[] = [];
    const campaign = campaignOn(1234);
    const interruption: CampaignEnd = { exitCode: EXIT.interrupted };
    const code = await findMaxRates(
      request,
      request.objectives ?? [],
      async (asked) => (trials.length === trial - 1 ? interruption : campaign(asked)),
      (line) => lines.push(line),
    );
    expect(code).toBe(EXIT.interrupted);
    return lines;
  }
  const asked = "p99<10ms, errors<0.1%";

  test("reports and saves the rates that are kept and missed", async () => {
    // 1000 met, 1600 missed twice, 1000 confirmed, and then no more.
    expect((await interrupted(5)).at(-1)).toBe(
      `iovalkey: so far: 1000/s keeps ${asked}; 1600/s does not keep ${asked} (p99<10ms: 50)`,
    );
    const { found } = JSON.parse(readFileSync(join(output, "max-rate.json"), "utf8"));
    expect(found).toMatchObject([
      { confirmed_per_second: 1000, missed_per_second: 1600, stopped: "ended with 130" },
    ]);
    expect(found[0].trials).toHaveLength(4);
  });

  test("calls a probe unconfirmed, and concludes nothing from one miss", async () => {
    expect((await interrupted(3)).at(-1)).toBe(
      `iovalkey: so far: 1000/s keeps ${asked} in a probe, not confirmed`,
    );
  });

  test("reports no result before the first trial, and writes nothing", async () => {
    expect(await interrupted(1)).toEqual(["iovalkey: so far: no result yet"]);
    expect(existsSync(join(output, "max-rate.json"))).toBe(false);
  });

  test("prints one JSON document on request", async () => {
    const [text = "", ...more] = await interrupted(5, searchOf("--json"));
    expect(more).toEqual([]);
    expect(JSON.parse(text)).toMatchObject([{ confirmed_per_second: 1000, missed_per_second: 1600 }]);
  });
});

describe("bad usage:", () => {
  test.each([
    [["--find-max-rate"], "--slo"],
    [["--slo", "p99<10ms"], "--find-max-rate"],
    [["--find-max-rate", "--slo", "speed>1"], "--slo"],
    [["--find-max-rate", "--slo", "p99<10ms", "--rate", "1,2"], "one --rate"],
  ])("%j", async (flags, part) => {
    await expectFailure(() => requestOf(...flags), EXIT.usage, part);
  });
});
