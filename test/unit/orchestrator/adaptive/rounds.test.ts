import { expect, test } from "vitest";
import { manifestSchema } from "../../../../src/contract/manifest.js";
import type { AdaptiveSummary } from "../../../../src/contract/summary.js";
import { AdaptiveRounds, type AdaptiveRoundsOptions } from "../../../../src/orchestrator/adaptive/rounds.js";
import { isDecided, requestedRuns } from "../../../../src/orchestrator/plan/decision-rounds.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import type { NewEvent } from "../../../../src/orchestrator/ui/event-log.js";
import { type CampaignFixture, createCampaign } from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { everything, requestOf } from "../../../helpers/request.js";

const newFolder = temporaryFolders();

/** Who needs no more runs after which round, by label. */
type Script = Readonly<Record<string, number>>;

interface Played {
  begun: CampaignFixture;
  /** Files in the order in which they were measured. */
  made: string[];
  looks: NewEvent[];
  asked: { round: number; isLast: boolean }[];
}

/** Goes through a plan as the recorder does; each run takes 10 s. */
async function play(
  script: Script,
  {
    flags = [],
    there = [],
    begun,
    stopAfter,
  }: Partial<{
    flags: string[];
    there: string[];
    begun: CampaignFixture;
    stopAfter: number;
  }> = {},
): Promise<Played> {
  const asking = ["--clients", "iovalkey,valkey-glide,none", "--concurrency", "50", "--runs", "auto"];
  const campaign = begun ?? (await createCampaign(newFolder(), "20260102_030405", [...asking, ...flags]));
  const { manifest } = campaign;
  const played: Played = { begun: campaign, made: [], looks: [], asked: [] };
  const decideRound = async (round: number, isLast: boolean): Promise<AdaptiveSummary> => {
    played.asked.push({ round, isLast });
    const configurations = manifest.plan.configurations.map(({ hash, configuration: { target } }) => {
      const goes_on = !isLast && round < (script[target.label] ?? 99);
      return { configuration_hash: hash, label: target.label, load: "", runs: 0, goes_on, reason: "why" };
    });
    return { ended: null, sentence: "", concluded: ["one"], not_concluded: [], configurations };
  };
  const options: AdaptiveRoundsOptions = {
    manifest,
    completed: new Map(there.map((file) => [file, {}])),
    overheads: { none: 2, standalone: 2 },
    eventLog: { emit: (told: NewEvent) => played.looks.push(told) },
    progress: { limitTo: () => {}, limitTime: () => {}, timeLeftS: () => 0 },
    decideRound,
    save: async () => {},
  };
  const rounds = new AdaptiveRounds(options);
  for (const planned of manifest.plan.runs) {
    if (stopAfter !== undefined && played.made.length === stopAfter) return played;
    if (!(await rounds.isNeeded(planned)) || there.includes(planned.file)) continue;
    const found = manifest.plan.configurations.find(({ hash }) => hash === planned.configuration_hash);
    if (!found) throw new Error("the plan lacks a configuration");
    const { configuration } = found;
    await rounds.finished({ file: planned.file, status: "valid", configuration, seconds: 10 }, 0);
    played.made.push(planned.file);
  }
  await rounds.end();
  return played;
}

const runsOf = ({ made }: Played, label: string): number =>
  made.filter((file) => file.startsWith(`${label}_`)).length;

test("decided configurations stop; the others continue in the seeded order of fixed runs", async () => {
  const played = await play({ iovalkey: 5, none: 7, "valkey-glide": 10 });
  const { manifest } = played.begun;
  expect(["iovalkey", "none", "valkey-glide"].map((label) => runsOf(played, label))).toEqual([5, 7, 10]);
  const flags = ["--clients", "iovalkey,valkey-glide,none", "--concurrency", "50", "--runs", "20"];
  const fixed = makePlan(requestOf(...flags, "--seed", String(manifest.plan.seed)), everything);
  const order = fixed.runs.map(({ file }) => file).filter((file) => played.made.includes(file));
  expect(played.made).toEqual(order);
  expect(played.asked.map(({ round }) => round)).toEqual([5, 7, 10]);
  expect(manifest.adaptive?.ended).toMatchObject({ round: 10, why: "decided", concluded: ["one"] });
  expect(requestedRuns(manifest).map(({ file }) => file)).toEqual(played.made);
  expect(manifestSchema.parse(manifest)).toEqual(manifest);
  // As many as are not needed are taken off what the campaign announced.
  const spared = played.looks.reduce((sum, told) => sum + (told.event === "look" ? told.not_needed : 0), 0);
  expect(spared).toBe(manifest.plan.runs.length - played.made.length);
});

test("no configuration has more runs than --max-runs, and the first decision is after five", async () => {
  const played = await play({}, { flags: ["--max-runs", "8"] });
  expect(["iovalkey", "none", "valkey-glide"].map((label) => runsOf(played, label))).toEqual([8, 8, 8]);
  expect(played.asked.map(({ round }) => round)).toEqual([5, 8]);
  expect(played.begun.manifest.adaptive?.ended?.round).toBe(8);
});

test("no round starts that would end after the budget, and a last decision is made", async () => {
  // Rounds of three runs of 10 s, and 4 s for the report: the seventh would end at 214 s.
  const played = await play({}, { flags: ["--budget", "200s"] });
  expect(played.made).toHaveLength(18);
  expect(played.asked.at(-1)).toEqual({ round: 6, isLast: true });
  expect(played.begun.manifest.adaptive?.ended).toMatchObject({ round: 6, why: "budget" });
  expect(requestedRuns(played.begun.manifest)).toHaveLength(18);
  const early = await play({}, { flags: ["--budget", "1s"] });
  expect(early.made).toHaveLength(3);
});

test.each([4, 15, 16, 20])("a campaign killed after %d runs ends the same way", async (stopAfter) => {
  const script = { iovalkey: 7, none: 5, "valkey-glide": 14 };
  const flags = ["--seed", "7", "--budget", "5m"];
  const whole = await play(script, { flags });
  const killed = await play(script, { flags, stopAfter });
  expect(isDecided(killed.begun.manifest)).toBe(false);
  // What the disk has of it.
  const begun = { ...killed.begun, manifest: manifestSchema.parse(killed.begun.manifest) };
  const resumed = await play(script, { there: killed.made, begun });
  expect([...killed.made, ...resumed.made]).toEqual(whole.made);
  expect(resumed.begun.manifest.adaptive).toEqual(whole.begun.manifest.adaptive);
});
