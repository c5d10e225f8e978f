import { expect, test } from "vitest";
import type { OutcomeStatus } from "../../../../src/contract/judgement.js";
import { type PlannedRun, roundOf, unitsOf } from "../../../../src/contract/plan.js";
import { SpareRound } from "../../../../src/orchestrator/adaptive/spare-round.js";
import {
  isComplete,
  readCompletedRuns,
} from "../../../../src/orchestrator/campaign/completed-runs.js";
import { Checksums } from "../../../../src/orchestrator/files/checksums.js";
import type { RunOutcome } from "../../../../src/orchestrator/run/result-documents.js";
import { configuration } from "../../../helpers/evidence.js";
import { createCampaign } from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { planFor } from "../../../helpers/request.js";

const newFolder = temporaryFolders();

/** Two comparisons by turns, which seven rounds decide. */
const THREE = ["--clients", "iovalkey@valkey,ioredis@valkey,valkey-glide,none"];
const LOAD = ["--workload", "light", "--concurrency", "50", "--order", "turns"];
const flagsOf = (rounds: number): string[] => [...THREE, ...LOAD, "--runs", String(rounds)];

type Ending = Pick<RunOutcome, "status"> & { outcome?: OutcomeStatus };
const INVALID: Ending = { status: "invalid" };

const outcomeOf = ({ file }: PlannedRun, ending: Ending = { status: "valid" }): RunOutcome => ({
  file,
  configuration,
  seconds: 1,
  ...ending,
});

/** Makes a campaign by turns in which all runs of some rounds end so. */
async function madeRounds(rounds: number, endings: Record<number, Ending>) {
  const { manifest } = await createCampaign(newFolder(), "20260102_030405", flagsOf(rounds));
  const saved: unknown[] = [];
  const selection = await SpareRound.open({
    manifest,
    completed: new Map(),
    progress: { expect: () => {}, limitTime: () => {}, timeLeftS: () => 0 },
    eventLog: { emit: () => {}, info: () => {} },
    save: async () => void saved.push(structuredClone(manifest.spare_round)),
  });
  const made: number[] = [];
  for (const unit of unitsOf(manifest.plan, manifest.plan.runs)) {
    made.push(roundOf(unit[0]));
    for (const run of unit) await selection.finished(outcomeOf(run, endings[roundOf(run)]));
  }
  return { made, saved, manifest };
}

test("a round that invalid runs took is replaced where a decision needs it, and once at most", async () => {
  const { made, saved, manifest } = await madeRounds(7, { 3: INVALID });
  expect(made).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  expect(manifest.spare_round).toEqual({ round: 8, replaces: [3] });
  expect(saved).toEqual([manifest.spare_round]);

  const again = await madeRounds(7, { 3: INVALID, 8: INVALID });
  expect(again.made).toHaveLength(8);
});

test.each<[string, number, Record<number, Ending>]>([
  ["none is invalid", 7, {}],
  ["enough rounds are left", 8, { 3: INVALID }],
  ["one more would not be enough", 7, { 3: INVALID, 5: INVALID }],
  ["the target spoiled its run itself", 7, { 3: { status: "invalid", outcome: "overloaded" } }],
  ["a run failed", 7, { 3: { status: "failed" } }],
  ["the rounds decide nothing anyway", 5, { 3: INVALID }],
])("there is no spare round where %s", async (_, rounds, endings) => {
  const { made, manifest } = await madeRounds(rounds, endings);
  expect(made).toHaveLength(rounds);
  expect(manifest).not.toHaveProperty("spare_round");
});

test("two lost rounds are replaced by one where a larger campaign lacks one", async () => {
  const { manifest } = await madeRounds(8, { 2: INVALID, 3: INVALID });
  expect(manifest.spare_round).toEqual({ round: 9, replaces: [2, 3] });
});

test("only plans by turns of a fixed number of rounds that can decide have spare runs", () => {
  const { runs, spare_runs = [] } = planFor(...flagsOf(7));
  expect(new Set(spare_runs.map(roundOf))).toEqual(new Set([8]));
  expect(spare_runs.map(({ configuration_hash }) => configuration_hash).sort()).toEqual(
    runs
      .filter((run) => roundOf(run) === 1)
      .map(({ configuration_hash }) => configuration_hash)
      .sort(),
  );
  // Its runs are those that a plan of one more round has.
  const more = planFor(...flagsOf(8)).runs.filter((run) => roundOf(run) === 8);
  expect(spare_runs).toEqual(more);

  for (const flags of [flagsOf(6), [...flagsOf(10), "--order", "interleaved"]])
    expect(planFor(...flags)).not.toHaveProperty("spare_runs");
  expect(planFor(...THREE, ...LOAD, "--runs", "auto")).not.toHaveProperty("spare_runs");
});

test("a campaign that was killed before its spare round is not complete, and opens with it", async () => {
  const campaign = await createCampaign(newFolder(), "20260102_030405", flagsOf(7));
  const { manifest, folder } = campaign;
  const completed = new Map(
    manifest.plan.runs.map((run) => [
      run.file,
      outcomeOf(run, roundOf(run) === 2 ? INVALID : undefined),
    ]),
  );
  const read = await readCompletedRuns(folder, manifest, await Checksums.read(folder));
  const opened = { ...campaign, ...read, completed, missing: 0 };
  expect(isComplete(opened)).toBe(false);
  await SpareRound.open({
    manifest,
    completed,
    progress: { expect: () => {}, limitTime: () => {}, timeLeftS: () => 0 },
    eventLog: { emit: () => {}, info: () => {} },
    save: async () => {},
  });
  expect(manifest.plan.runs.map(roundOf)).toContain(8);
});
