import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { EXIT, type ExitCode } from "../../../../src/contract/errors.js";
import { judge } from "../../../../src/judge/rules.js";
import { findMaxRates } from "../../../../src/orchestrator/max-rate/find.js";
import { makePlan } from "../../../../src/orchestrator/plan.js";
import type { Request } from "../../../../src/orchestrator/request.js";
import { expectFailure } from "../../../helpers/errors.js";
import { validEvidence } from "../../../helpers/evidence.js";
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

/** Stands for a campaign of one run on a server whose p99 is 5 ms up to its capacity, and 50 ms above. */
function campaignOn(capacity: number) {
  return async (request: Request): Promise<ExitCode> => {
    trials.push(request);
    const plan = makePlan(request, everything);
    const [run] = plan.runs;
    const evidence = validEvidence();
    const isBeyond = (request.rates[0] ?? 0) > capacity;
    const { sent } = evidence.counts;
    evidence.request.rate_per_second = request.rates[0] ?? 0;
    evidence.request.arrivals = "constant";
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
    };
    if (evidence.latency) evidence.latency.p99 = isBeyond ? 50 : 5;
    evidence.limited_by = { resource: "server loop", text: "the server's event loop was 97 % busy" };
    const folder = join(output, `trial-${trials.length}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "manifest.json"), JSON.stringify({ plan }));
    writeFileSync(join(folder, run?.file ?? ""), JSON.stringify({ ...evidence, verdict: judge(evidence) }));
    rmSync(join(output, "latest"), { force: true });
    symlinkSync(folder, join(output, "latest"));
    return isBeyond ? EXIT.runsInvalid : EXIT.done;
  };
}

async function search(request: Request, capacity: number): Promise<string[]> {
  const lines: string[] = [];
  const code = await findMaxRates(request, request.objectives ?? [], campaignOn(capacity), (line) => {
    lines.push(line);
  });
  expect(code).toBe(EXIT.done);
  return lines;
}

test("the rate is told with its bound, what was missed there, and the resource that was the limit", async () => {
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

test("every trial is one run of one configuration at one rate; a confirmation is held for three probes", async () => {
  await search(searchOf("--rate", "500", "--duration-mode", "custom:12", "--traffic", "fixed"), 600);
  expect(trials[0]).toMatchObject({ rates: [500], runs: 1, traffic: ["fixed"], connections: [200] });
  const seconds = new Set(trials.map(({ duration }) => duration.mode === "fixed" && duration.seconds));
  expect(seconds).toEqual(new Set([4, 12]));
});

test("each configuration is searched by itself, and no rate at all is an answer too", async () => {
  const lines = await search(searchOf("--clients", "iovalkey,ioredis"), 0);
  expect(lines.slice(-2)).toEqual([
    "iovalkey: not even 0.1/s keeps p99<10ms, errors<0.1%",
    "ioredis: not even 0.1/s keeps p99<10ms, errors<0.1%",
  ]);
});

test("--json prints one document alone", async () => {
  const lines = await search(searchOf("--json"), 1000);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject([{ label: "iovalkey", confirmed_per_second: 1000 }]);
});

test("a trial that did not measure ends the search with its exit code", async () => {
  const request = searchOf();
  const code = await findMaxRates(
    request,
    request.objectives ?? [],
    async () => EXIT.interrupted,
    () => {},
  );
  expect(code).toBe(EXIT.interrupted);
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
