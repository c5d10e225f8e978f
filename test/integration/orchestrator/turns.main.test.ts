import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventSchema } from "../../../src/contract/events.js";
import { hasFigures } from "../../../src/contract/result.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { endsOnBusyMachine, ownInvalidity } from "../../helpers/measured-campaign.js";

const newFolder = temporaryFolders();

const ROUND = 3;
const FLAGS = ["--runs", "2"];

test("the targets of a round are measured by turns; an interrupted round is measured again as a whole", async () => {
  const home = newFolder();
  const campaign = Campaign.run(home, "ioredis@valkey,iovalkey,none", FLAGS);
  await campaign.part("generator-1");
  campaign.signal("SIGINT");
  const stopped = await campaign.ended;
  expect(stopped.code, stopped.stderr).toBe(130);
  const aborted = [...campaign.results.keys()];
  expect([...campaign.results.values()].map(({ status }) => status)).toEqual(
    Array(ROUND).fill("aborted"),
  );
  expect(await campaign.leftovers()).toEqual([]);

  const resumed = Campaign.resume(home, ["--json"]);
  const { stdout } = await endsOnBusyMachine(resumed);
  expect(resumed.results.size).toBe(2 * ROUND);
  const setAside = readdirSync(join(resumed.folder, "aborted")).map((name) =>
    name.replace(/^\d+-/, ""),
  );
  expect(setAside.sort()).toEqual(aborted);
  expect(resumed.manifest.set_aside).toHaveLength(ROUND);
  const { plan, turns } = resumed.manifest;
  expect(plan.order).toBe("turns");
  expect(new Set(plan.runs.map(({ round, group }) => `${round}.${group}`))).toEqual(
    new Set(["1.1", "2.1"]),
  );
  for (const result of resumed.results.values()) {
    if (!hasFigures(result) || result.status !== "measured")
      throw new Error("a run has no figures");
    expect(ownInvalidity(result)).toEqual([]);
    // The lengths of the first round hold for all, also after a resume.
    expect(result.turns).toMatchObject({
      group: ROUND,
      ...turns?.[String(result.configuration_hash)],
    });
    expect(result.resources["server-1"]?.cpu_us_per_request).toBeGreaterThan(0);
  }
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => eventSchema.parse(JSON.parse(line)));
  const rounds = events.flatMap((event) => (event.event === "round_finished" ? [event.runs] : []));
  expect(rounds).toEqual(
    [1, 2].map((round) =>
      plan.runs.flatMap((run, index) => (run.round === round ? [index + 1] : [])),
    ),
  );
  for (const { file } of plan.runs)
    expect(readFileSync(join(resumed.folder, `${file}.log`), "utf8")).toContain("generator-1");
  expect(readdirSync(join(resumed.folder, "report"))).toContain("index.html");
  // The report lists them.
  const listed = resumed.report("runs.csv");
  for (const file of resumed.manifest.set_aside ?? []) expect(listed).toContain(file);
});
