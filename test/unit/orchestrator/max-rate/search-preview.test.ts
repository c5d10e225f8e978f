import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { commands } from "../../../../src/orchestrator/commands/index.js";
import { run } from "../../../../src/orchestrator/commands/run.js";
import { findMaxRate } from "../../../../src/orchestrator/max-rate/search.js";
import { maxCost } from "../../../../src/orchestrator/max-rate/search-preview.js";
import { createCampaign, measuredRun } from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { seededRandom } from "../../../helpers/random.js";

const newFolder = temporaryFolders();
let output = "";
beforeEach(async () => {
  output = newFolder();
  // Some other campaign is the latest one.
  const { manifest, save } = await createCampaign(output, "20260101_000000");
  save(0, measuredRun(manifest, 0));
  symlinkSync("20260101_000000", join(output, "latest"));
});

/** A package without a doctor or an environment of its own. */
function packageFolder(): string {
  const folder = newFolder();
  mkdirSync(join(folder, "report"));
  writeFileSync(join(folder, "report", "__main__.py"), "");
  return folder;
}

async function dryRun(...flags: string[]): Promise<string> {
  const printed: string[] = [];
  const before = readdirSync(output);
  const code = await run.run(
    [
      ...["--clients", "none,memory", "--runtime", "local", "--find-max-rate", "--slo", "p99<10s"],
      ...["--output", output, "--dry-run", ...flags],
    ],
    {
      packageFolder: packageFolder(),
      env: {},
      commands,
      campaign: async () => ({ exitCode: EXIT.done, folder: join(output, "latest") }),
      print: (text) => printed.push(text),
    },
  );
  expect(code).toBe(EXIT.done);
  expect(readdirSync(output)).toEqual(before);
  return printed.join("\n");
}

describe("a dry run of a search", () => {
  test("prints the bounds, the objective, how trials are chosen and how long it takes at most; writes nothing", async () => {
    const text = await dryRun("--rate", "500", "--duration-mode", "custom:12", "--warmup", "3");
    expect(text).toContain("from 0.1/s to 1000000/s that keeps p99<10s");
    expect(text).toContain("3 s of warm-up and 4 s measured; 12 s to confirm");
    expect(text).toContain("from 500/s each rate is 1.6 times the last until one is missed");
    expect(text).toMatch(/\n {2}none +no store +light +realistic +up to 200 connections\n/);
    expect(text).toMatch(/\nat most \d+ trials of 2 configurations, about .*; \d+ trials, .* up to 2500\/s$/);
    expect(text).not.toContain("/s keeps");
  });

  test("says how long an automatic warm-up can be", async () => {
    const flags = ["--rate", "500", "--warmup", "auto"];
    expect(await dryRun(...flags)).toContain("3 to 10 s of warm-up (until steady) and 10 s measured");
    expect(JSON.parse(await dryRun(...flags, "--json"))).toMatchObject({ warmup_s: "auto" });
  });

  test("is one JSON document with --json", async () => {
    const document = JSON.parse(await dryRun("--json"));
    expect(document).toMatchObject({
      objectives: ["p99<10s"],
      range: { from: 1000, min: 0.1, max: 1_000_000, resolution: 0.02 },
      seconds: { probe: 10, confirmation: 30 },
      example: { rate_per_second: 5000 },
    });
    expect(document.at_most.trials).toBeGreaterThan(document.example.trials);
  });
});

test("no search takes longer than the announced maximum, whatever its trials show", async () => {
  const range = { from: 100, min: 1, max: 10_000, resolution: 0.02 };
  const secondsOf = (kind: string) => (kind === "probe" ? 1 : 3);
  const most = await maxCost(range, secondsOf);
  // Trials that come out by chance, and the more often good the lower the rate: every path is walked some time.
  const chance = seededRandom(1);
  for (let search = 0; search < 300; search++) {
    const level = 10 ** (4 * chance());
    const { trials } = await findMaxRate(range, async (rate) => ({
      isMet: chance() < level / (level + rate),
      reason: "",
    }));
    expect(trials.length).toBeLessThanOrEqual(most.trials);
    expect(trials.reduce((sum, { kind }) => sum + secondsOf(kind), 0)).toBeLessThanOrEqual(most.seconds);
  }
});
