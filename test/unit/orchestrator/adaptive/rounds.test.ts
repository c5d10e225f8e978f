import { expect, test } from "vitest";
import { manifestSchema } from "../../../../src/contract/manifest.js";
import { unitsOf } from "../../../../src/contract/plan.js";
import type { AdaptiveSummary } from "../../../../src/contract/summary.js";
import {
  AdaptiveRounds,
  type AdaptiveRoundsOptions,
} from "../../../../src/orchestrator/adaptive/rounds.js";
import { isDecided, requestedRuns } from "../../../../src/orchestrator/plan/decision-rounds.js";
import type { NewEvent } from "../../../../src/orchestrator/ui/event-log.js";
import { type CampaignFixture, createCampaign } from "../../../helpers/existing-campaign.js";
import { temporaryFolders } from "../../../helpers/folders.js";
import { planFor } from "../../../helpers/request.js";

const newFolder = temporaryFolders();

/** After which round a configuration needs no more runs, by label. */
type Script = Readonly<Record<string, number>>;

interface Simulation {
  fixture: CampaignFixture;
  /** Files in the order in which they were measured. */
  measured: string[];
  looks: NewEvent[];
  decisions: { round: number; isLast: boolean }[];
}

const THREE = ["--clients", "iovalkey,valkey-glide,none", "--no-copy"];

interface Course {
  flags?: string[];
  completed?: string[];
  fixture?: CampaignFixture;
  stopAfter?: number;
}
const ADAPTIVE = ["--concurrency", "50", "--runs", "auto"];
const INTERLEAVED = ["--order", "interleaved"];

/** Goes through a plan like the run loop; each run takes 10 s. */
async function simulate(
  script: Script,
  { flags = [], completed = [], fixture, stopAfter }: Course = {},
): Promise<Simulation> {
  const asking = [...(flags.includes("--clients") ? [] : THREE), ...flags, ...ADAPTIVE];
  const campaign = fixture ?? (await createCampaign(newFolder(), "20260102_030405", asking));
  const { manifest } = campaign;
  const simulation: Simulation = { fixture: campaign, measured: [], looks: [], decisions: [] };
  const decideRound = async (round: number, isLast: boolean): Promise<AdaptiveSummary> => {
    simulation.decisions.push({ round, isLast });
    const configurations = manifest.plan.configurations.map(
      ({ hash, configuration: { target } }) => {
        const goes_on = !isLast && round < (script[target.label] ?? 99);
        return {
          configuration_hash: hash,
          label: target.label,
          load: "",
          runs: 0,
          goes_on,
          reason: "why",
        };
      },
    );
    return { ended: null, sentence: "", concluded: ["one"], not_concluded: [], configurations };
  };
  const options: AdaptiveRoundsOptions = {
    manifest,
    completed: new Map(completed.map((file) => [file, {}])),
    overheads: { none: 2, standalone: 2 },
    eventLog: { emit: (event: NewEvent) => simulation.looks.push(event) },
    progress: { expect: () => {}, limitTime: () => {}, timeLeftS: () => 0 },
    decideRound,
    save: async () => {},
  };
  const rounds = new AdaptiveRounds(options);
  for (const planned of manifest.plan.runs) {
    if (stopAfter !== undefined && simulation.measured.length === stopAfter) return simulation;
    if (!(await rounds.isNeeded(planned)) || completed.includes(planned.file)) continue;
    const found = manifest.plan.configurations.find(
      ({ hash }) => hash === planned.configuration_hash,
    );
    if (!found) throw new Error("the plan lacks a configuration");
    const { configuration } = found;
    await rounds.finished({ file: planned.file, status: "valid", configuration, seconds: 10 }, 0);
    simulation.measured.push(planned.file);
  }
  await rounds.end();
  return simulation;
}

/** Runs that count. */
const runsOf = ({ measured }: Simulation, label: string): number =>
  measured.filter((file) => file.startsWith(`${label}_`) && !file.endsWith("_run0.json")).length;

test("decided configurations stop; the others continue in the seeded order of fixed runs", async () => {
  const script = { iovalkey: 10, none: 7, "valkey-glide": 10 };
  const simulation = await simulate(script, { flags: INTERLEAVED });
  const { manifest } = simulation.fixture;
  expect(["iovalkey", "none", "valkey-glide"].map((label) => runsOf(simulation, label))).toEqual([
    10, 7, 10,
  ]);
  const flags = [...THREE, "--concurrency", "50", "--runs", "20", "--order", "interleaved"];
  const fixed = planFor(...flags, "--seed", String(manifest.plan.seed));
  const order = fixed.runs
    .map(({ file }) => file)
    .filter((file) => simulation.measured.includes(file));
  expect(simulation.measured).toEqual(order);
  expect(simulation.decisions.map(({ round }) => round)).toEqual([5, 7, 10]);
  expect(manifest.adaptive?.ended).toMatchObject({ round: 10, why: "decided", concluded: ["one"] });
  expect(requestedRuns(manifest).map(({ file }) => file)).toEqual(simulation.measured);
  expect(manifestSchema.parse(manifest)).toEqual(manifest);
  // As many as are not needed are taken off what the campaign announced.
  const spared = simulation.looks.reduce(
    (sum, told) => sum + (told.event === "look" ? told.not_needed : 0),
    0,
  );
  expect(spared).toBe(manifest.plan.runs.length - simulation.measured.length);
});

test("a reference and its copy go on as long as any target of their ranking, and no longer", async () => {
  const flags = ["--clients", "iovalkey,valkey-glide,ioredis@valkey,none", ...INTERLEAVED];
  // Whatever is said about the reference and the copy.
  const script = {
    iovalkey: 5,
    "iovalkey+copy": 99,
    "valkey-glide": 10,
    "ioredis@valkey": 5,
    none: 7,
  };
  const simulation = await simulate(script, { flags });
  const labels = ["iovalkey", "iovalkey-copy", "valkey-glide", "ioredis-valkey", "none"];
  expect(labels.map((label) => runsOf(simulation, label))).toEqual([10, 10, 10, 5, 7]);
});

test("no configuration has more runs than --max-runs, and the first decision is after five", async () => {
  const simulation = await simulate({}, { flags: ["--max-runs", "8", ...INTERLEAVED] });
  expect(["iovalkey", "none", "valkey-glide"].map((label) => runsOf(simulation, label))).toEqual([
    8, 8, 8,
  ]);
  expect(simulation.decisions.map(({ round }) => round)).toEqual([5, 8]);
  expect(simulation.fixture.manifest.adaptive?.ended?.round).toBe(8);
});

test("no round starts that would end after the budget, and a last decision is measured", async () => {
  // Rounds of three runs of 10 s, and 4 s for the report: the seventh would end at 214 s.
  const simulation = await simulate({}, { flags: ["--budget", "200s"] });
  expect(simulation.measured).toHaveLength(18);
  expect(simulation.decisions.at(-1)).toEqual({ round: 6, isLast: true });
  expect(simulation.fixture.manifest.adaptive?.ended).toMatchObject({ round: 6, why: "budget" });
  expect(requestedRuns(simulation.fixture.manifest)).toHaveLength(18);
  const early = await simulate({}, { flags: ["--budget", "1s"] });
  expect(early.measured).toHaveLength(3);
});

test.each([2, 7, 18, 19, 23])(
  "a campaign killed after %d runs ends the same way",
  async (stopAfter) => {
    const script = { iovalkey: 7, none: 5, "valkey-glide": 14 };
    const flags = ["--seed", "7", "--budget", "5m"];
    const whole = await simulate(script, { flags });
    const killed = await simulate(script, { flags, stopAfter });
    expect(isDecided(killed.fixture.manifest)).toBe(false);
    // As read from the disk.
    const fixture = { ...killed.fixture, manifest: manifestSchema.parse(killed.fixture.manifest) };
    const resumed = await simulate(script, { completed: killed.measured, fixture });
    expect([...killed.measured, ...resumed.measured]).toEqual(whole.measured);
    expect(resumed.fixture.manifest.adaptive).toEqual(whole.fixture.manifest.adaptive);
  },
);

/** One group a round. */
const BY_TURNS = ["--clients", "iovalkey,ioredis@valkey,valkey-glide,none"];

test("by turns a decided target leaves its group; reference, copy and control stay as long as another does", async () => {
  const script = { "ioredis@valkey": 9, "valkey-glide": 13, none: 9 };
  const simulation = await simulate(script, { flags: BY_TURNS });
  const { plan } = simulation.fixture.manifest;
  expect(plan.order).toBe("turns");
  expect(simulation.decisions.map(({ round }) => round)).toEqual([9, 13]);
  const made = plan.runs.filter(({ file }) => simulation.measured.includes(file));
  const labels = new Map(
    plan.configurations.map(({ hash, configuration }) => [hash, configuration.target.label]),
  );
  for (const unit of unitsOf(plan, made)) {
    const group = unit.map((run) => labels.get(run.configuration_hash)).sort();
    const open = unit[0].round && unit[0].round > 9 ? [] : ["ioredis@valkey"];
    expect(group).toEqual([...open, "iovalkey", "iovalkey+copy", "none", "valkey-glide"]);
  }
  expect(runsOf(simulation, "valkey-glide")).toBe(13);
  expect(requestedRuns(simulation.fixture.manifest).map(({ file }) => file)).toEqual(
    simulation.measured,
  );
});

test("by turns a control that has no room beside the others stays as long as the reference beside it", async () => {
  const flags = ["--clients", `${BY_TURNS[1]},node-redis@valkey`];
  const decided = { "ioredis@valkey": 10, "valkey-glide": 10, "node-redis@valkey": 10 };
  const simulation = await simulate({ ...decided, none: 99 }, { flags });
  expect(runsOf(simulation, "none")).toBe(10);
  // One beside the others, and one beside the control.
  expect(runsOf(simulation, "iovalkey")).toBe(20);
});
