import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { claimsRegisterSchema } from "../../../../../src/contract/claims.js";
import { EXIT, type ExitCode, usageError } from "../../../../../src/contract/errors.js";
import { claims } from "../../../../../src/orchestrator/commands/claims/index.js";
import { claimList } from "../../../../../src/orchestrator/commands/claims/list.js";
import { measureCampaigns } from "../../../../../src/orchestrator/commands/claims/measure.js";
import { campaignsOf, readRegister } from "../../../../../src/orchestrator/commands/claims/register.js";
import { registerDocument } from "../../../../../src/orchestrator/commands/claims/register-document.js";
import { commands } from "../../../../../src/orchestrator/commands/index.js";
import type { CliContext } from "../../../../../src/orchestrator/commands/types.js";
import type { Request } from "../../../../../src/orchestrator/request/request.js";
import { expectFailure } from "../../../../helpers/errors.js";
import { createCampaign, measuredRun } from "../../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../../helpers/folders.js";
import { ROOT } from "../../../../helpers/programs.js";

const newFolder = temporaryFolders();

const CLAIM = `title: A is faster than B
sentence: A is 10 % faster than B
source: {project: A, date: "2025-04"}
measured_there: {}
refuted_by: A is not faster
comparisons:
  - id: one
    campaign: a-and-b
    metric: throughput
    new: {target: memory}
    base: {target: none}
    conditions: as published
    as_published: true
    expected: {ratio: 1.1, at_least: 1.05, refuted_below: 1}
  - id: other
    campaign: a-and-b
    metric: throughput
    new: {target: memory, connections: 7}
    base: {target: none}
    conditions: with 7 connections
    as_published: false
`;
/** Settings of its campaign, in its file and as flags. */
const FILE = "clients: [memory, none]\nconcurrency: 50\nruns: 1\n";
const FLAGS = ["--clients", "memory,none", "--concurrency", "50", "--runs", "1"];

let folder: string;
let measured: string;
beforeEach(() => {
  folder = newFolder();
  measured = join(newFolder(), "claims");
  mkdirSync(join(folder, "campaigns"));
  writeFileSync(join(folder, "campaigns", "a-and-b.yaml"), FILE);
  writeFileSync(join(folder, "a-beats-b.yaml"), CLAIM);
});

const withClaim = (text: string) => writeFileSync(join(folder, "a-beats-b.yaml"), text);

/** Calls `claims run` on campaigns that end with this code, and returns what they were asked for and what was said. */
async function measure({ flags = [] as string[], again = false, end = EXIT.done as ExitCode | Error } = {}) {
  const requests: Request[] = [];
  const lines: string[] = [];
  const context: CliContext = {
    packageFolder: ROOT,
    env: {},
    commands,
    campaign: async (request) => {
      requests.push(request);
      if (end instanceof Error) throw end;
      return { exitCode: end };
    },
    audit: async () => ({ exitCode: EXIT.done }),
    print: (line) => void lines.push(line),
  };
  const register = readRegister(folder);
  const chosen = register.claims;
  const campaigns = campaignsOf(chosen);
  const code = await measureCampaigns(
    { register, chosen, campaigns, folder: measured, flags, again },
    context,
  );
  return { code, requests, text: lines.join("\n") };
}

/** A campaign of the file, whose first `runs` of two runs are measured. */
async function existing(runs: number, flags = FLAGS) {
  const campaign = await createCampaign(join(measured, "a-and-b"), "20260101_000000", flags);
  for (let index = 0; index < runs; index++) campaign.save(index, measuredRun(campaign.manifest, index));
  return campaign;
}

describe("claims run", () => {
  test("measures a campaign by its file, with the flags that were given", async () => {
    const { code, requests } = await measure({ flags: ["--runs", "2", "--duration-mode", "custom:3"] });
    expect(code).toBe(EXIT.done);
    expect(requests).toMatchObject([
      {
        clients: ["memory", "none"],
        connections: [50],
        runs: 2,
        duration: { mode: "fixed", seconds: 3 },
        output: join(measured, "a-and-b"),
      },
    ]);
  });

  test("names its files from the working folder, so that its command repeats it elsewhere", async () => {
    vi.spyOn(process, "cwd").mockReturnValue(measured);
    const { requests } = await measure();
    vi.restoreAllMocks();
    expect(requests[0]?.output).toBe("a-and-b");
  });

  test("leaves a campaign that ends after a number of requests as long as it is", async () => {
    writeFileSync(
      join(folder, "campaigns", "a-and-b.yaml"),
      `${FILE}duration-mode: requests:500\nwarmup: 0\n`,
    );
    const { requests } = await measure({
      flags: ["--duration-mode", "custom:3", "--warmup", "2", "--runs", "2"],
    });
    expect(requests).toMatchObject([{ duration: { mode: "requests", counts: [500] }, warmupS: 0, runs: 2 }]);
  });

  test("keeps a campaign that is complete, unless --again is given", async () => {
    await existing(2);
    const kept = await measure();
    expect(kept).toMatchObject({ code: EXIT.done, requests: [] });
    expect(kept.text).toContain("--again measures it once more");
    expect((await measure({ again: true })).requests).toHaveLength(1);
  });

  test("continues one that is not complete", async () => {
    await existing(1);
    const { requests, text } = await measure({ flags: ["--allow-parallel"] });
    expect(requests).toMatchObject([{ resume: "20260101_000000", allowParallel: true }]);
    expect(text).toContain("1 run missing");
  });

  test("measures anew what was measured with other settings", async () => {
    await existing(2, [...FLAGS.slice(0, -1), "3"]);
    const [request] = (await measure()).requests;
    expect(request?.runs).toBe(1);
    expect(request?.resume).toBeUndefined();
  });

  test("skips what needs a program that nobody named, with the remedy", async () => {
    withClaim(`${CLAIM}needs: {program: rsedis, from: its repository}\n`);
    const skipped = await measure();
    expect(skipped).toMatchObject({ code: EXIT.done, requests: [] });
    expect(skipped.text).toContain(
      "skipped: name it with --program rsedis=PATH, in containers --image rsedis=REF (its repository)",
    );
    for (const flags of [
      ["--program", `rsedis=${process.execPath}`],
      ["--image", "redis=redis:7.4,rsedis=rsedis:1"],
    ])
      expect((await measure({ flags })).requests).toHaveLength(1);
  });

  test("names such a program to the campaigns of its claims alone: others do not know it", async () => {
    writeFileSync(join(folder, "campaigns", "c.yaml"), FILE);
    writeFileSync(
      join(folder, "c.yaml"),
      `${CLAIM.replaceAll("a-and-b", "c")}needs: {program: rsedis, from: there}
`,
    );
    const { requests } = await measure({
      flags: ["--program", "rsedis=/r,redis=/p", "--image", "rsedis=rsedis:1"],
    });
    expect(requests.map(({ programs }) => programs)).toMatchObject([
      { paths: { redis: "/p" }, images: {} },
      { paths: { redis: "/p", rsedis: "/r" }, images: { rsedis: "rsedis:1" } },
    ]);
  });

  test("goes on after a campaign that cannot be measured here, and ends at once when interrupted", async () => {
    writeFileSync(join(folder, "campaigns", "c.yaml"), FILE);
    writeFileSync(join(folder, "c.yaml"), CLAIM.replaceAll("a-and-b", "c"));
    const failing = await measure({ end: usageError("nothing is left to measure") });
    expect(failing.code).toBe(EXIT.configurationFailed);
    expect(failing.requests).toHaveLength(2);
    expect(failing.text).toContain("not measured: nothing is left to measure");
    expect(await measure({ end: EXIT.interrupted })).toMatchObject({ code: EXIT.interrupted });
    expect((await measure({ end: EXIT.interrupted })).requests).toHaveLength(1);
  });

  test("refuses --runs auto and a flag with a wrong value before the first campaign", async () => {
    await expectFailure(() => measure({ flags: ["--runs", "0"] }), EXIT.usage, "--runs");
    await expectFailure(
      () => measure({ flags: ["--runs", "auto"] }),
      EXIT.usage,
      "claims need a fixed number of runs",
    );
  });
});

describe("the register for the report", () => {
  const document = () =>
    claimsRegisterSchema.parse(registerDocument(readRegister(folder), measured, "0.1.0"));

  test("names the rows that were measured, and why one is missing", async () => {
    const { manifest } = await existing(2);
    const hashOf = (label: string) =>
      manifest.plan.configurations.find(({ configuration }) => configuration.target.label === label)?.hash;
    const [one, other] = document().claims[0]?.comparisons ?? [];
    expect(one).toMatchObject({
      new_text: "memory",
      base_text: "none",
      rows: { new: [hashOf("memory")], base: [hashOf("none")] },
    });
    expect(other).toMatchObject({ missing: "its campaign has no row memory, 7 connections" });
    expect(other).not.toHaveProperty("rows");
    expect(document().campaigns).toEqual([{ id: "a-and-b", folder: "a-and-b/20260101_000000", differs: [] }]);
  });

  test("names the settings in which a campaign differs from its file", async () => {
    await existing(2, [...FLAGS.slice(0, -1), "3"]);
    expect(document().campaigns[0]?.differs).toEqual(["runs 3 instead of 1"]);
  });

  test("names finished campaigns that newer ones replaced, and none that is not finished", async () => {
    for (const [stamp, status] of [
      ["20260101_000000", "finished"],
      ["20260102_000000", "aborted"],
      ["20260103_000000", "finished"],
      ["20260104_000000", "finished"],
    ]) {
      const { folder, manifest } = await createCampaign(join(measured, "a-and-b"), stamp ?? "", FLAGS);
      writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...manifest, status }));
    }
    expect(document().campaigns[0]).toMatchObject({
      folder: "a-and-b/20260104_000000",
      earlier: ["a-and-b/20260103_000000", "a-and-b/20260101_000000"],
    });
  });

  test("has no rows where nothing was measured", () => {
    expect(document().claims[0]?.comparisons[0]).not.toHaveProperty("rows");
    expect(document().campaigns).toEqual([{ id: "a-and-b", differs: [] }]);
  });
});

describe("claims", () => {
  const list = (format: "table" | "json" = "table") =>
    claimList(readRegister(folder).claims, [newFolder(), measured], format);

  test("lists each with its verdict and source, before and after a report", () => {
    expect(list()).toMatch(/^a-beats-b +not measured yet +A is faster than B +A, 2025-04$/m);
    mkdirSync(join(measured, "report"), { recursive: true });
    const verdict = { id: "a-beats-b", verdict: "does not hold", reason: "", comparisons: [] };
    const verdicts = { schema: "ratelimit-bench/claim-verdicts", schema_version: 1, claims: [verdict] };
    writeFileSync(join(measured, "report", "verdicts.json"), JSON.stringify(verdicts));
    expect(list()).toMatch(/^a-beats-b +does not hold /m);
    expect(JSON.parse(list("json"))).toMatchObject({
      claims: [{ id: "a-beats-b", verdict: "does not hold" }],
    });
  });

  test("lists one that nothing can measure as such", () => {
    const [head] = CLAIM.split("comparisons:");
    withClaim(`${head}cannot_be_told: {why: it is in no version, takes: a build}\n`);
    expect(list()).toMatch(/^a-beats-b +cannot be told here /m);
  });

  test.each([
    [["list", "--runs", "3"], "--runs is for claims run"],
    [["run", "--format", "json"], "--format is for claims list"],
    [["report", "a-beats-b"], "leave the ids out"],
    [["measure"], "Allowed choices are list, run, report"],
  ])("refuses %j", async (argv, text) => {
    const context = { packageFolder: ROOT, env: {}, commands, print: () => {} } as unknown as CliContext;
    await expectFailure(() => claims.run([...argv, "--claims", folder], context), EXIT.usage, text);
  });
});
