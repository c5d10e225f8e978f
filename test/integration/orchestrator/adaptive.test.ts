import { expect, test } from "vitest";
import type { AdaptiveSummary, SummaryRow } from "../../../src/contract/summary.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { endsOnBusyMachine } from "../../helpers/measured-campaign.js";

const newFolder = temporaryFolders();

/** Runs without an HTTP server. */
const LIMITER = ["--layer", "limiter", "--runs", "auto"];

const summaryOf = (campaign: Campaign) =>
  JSON.parse(campaign.report("summary.json")) as {
    adaptive: AdaptiveSummary;
    configurations: SummaryRow[];
  };

test("adaptive runs that are killed under way go on, end within their limits, and say what they found", async () => {
  const home = newFolder();
  const killed = Campaign.run(home, "memory", [
    ...LIMITER,
    "--duration-mode",
    "requests:1000",
    "--max-runs",
    "6",
  ]);
  await killed.waitForLog("  measure", 3);
  killed.signal("SIGKILL");
  await killed.ended;

  const campaign = Campaign.resume(home);
  const { stdout } = await endsOnBusyMachine(campaign);
  const { adaptive, configurations } = summaryOf(campaign);
  expect(campaign.manifest.adaptive?.ended?.round).toBe(6);
  expect(adaptive.configurations.map(({ runs }) => runs)).toEqual([6]);
  // Six runs are the first that have an interval; whether it is tight is the machine's affair.
  expect([...adaptive.concluded, ...adaptive.not_concluded]).toHaveLength(1);
  expect(adaptive.concluded.length === 1).toBe(adaptive.ended === "decided");
  expect(configurations.map(({ missing_runs }) => missing_runs)).toEqual([0]);
  for (const line of [adaptive.sentence, ...adaptive.concluded, ...adaptive.not_concluded])
    expect(stdout).toContain(line);
});

test("a budget ends it between two rounds with a message, and the rounds that were left out are not missing", async () => {
  const campaign = Campaign.run(newFolder(), "memory", [...LIMITER, "--budget", "8s", "--json"]);
  const { stdout } = await endsOnBusyMachine(campaign);
  const { adaptive, configurations } = summaryOf(campaign);
  expect(adaptive.ended).toBe("budget");
  const [row] = configurations;
  expect(row?.missing_runs).toBe(0);
  expect(row?.runs).toBeLessThan(5);
  expect(row?.runs).toBe(campaign.results.size);
  // The first round runs whatever the budget.
  if ((row?.runs ?? 0) > 1) expect(campaign.manifest.adaptive?.spent_s).toBeLessThan(8);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(events.find(({ event }) => event === "campaign")).toMatchObject({
    runs: 20,
    estimate_s: 8,
  });
  const first = events.find(({ event }) => event === "run_started");
  expect(first).toMatchObject({ run: 1, round: 1, runs_per_configuration: 20, at_most: true });
  expect(events.find(({ event }) => event === "look")).toMatchObject({
    round: row?.runs,
    go_on: 0,
  });
  expect(events.find(({ event }) => event === "report")).toMatchObject({
    adaptive: { ended: "budget" },
  });
  expect(events.at(-1)).toMatchObject({ event: "ended", runs: { not_begun: 0 } });
});
