import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type CampaignEvent,
  type EventOf,
  eventSchema,
  phases,
} from "../../../src/contract/events.js";
import { Campaign } from "../../helpers/campaign.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

const SHORT = ["--duration-mode", "requests:2000"];

/** Any control character but the end of a line. */
const OBEYED = /[^\P{Cc}\n]/u;

const eventsOf = (stdout: string): CampaignEvent[] =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => eventSchema.parse(JSON.parse(line)));

const only = <Kind extends CampaignEvent["event"]>(events: readonly CampaignEvent[], kind: Kind) =>
  events.filter((event): event is EventOf<Kind> => event.event === kind);

describe("--json", () => {
  test("prints only valid events, in order, with live figures that match the results", async () => {
    const flags = ["--json", "--runs", "2", "--duration-mode", "custom:2"];
    const campaign = Campaign.run(newFolder(), "memory", flags);
    const { stdout } = await campaign.ends();
    const events = eventsOf(stdout);

    const kinds = events.map(({ event }) => event).filter((event) => event !== "notice");
    expect([kinds[0], kinds[1]]).toEqual(["opened", "campaign"]);
    expect(kinds.slice(-2)).toEqual(["report", "ended"]);
    const times = events.map(({ at }) => Date.parse(at));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    const [begun] = only(events, "campaign");
    expect(begun).toMatchObject({ folder: campaign.folder, runs: 2, runtime: "local", seed: 1 });

    for (const number of [1, 2]) {
      const ofRun = events.filter((event) => "number" in event && event.number === number);
      expect(ofRun[0]?.event).toBe("run_started");
      expect(ofRun.at(-1)?.event).toBe("run_finished");
      const passed = only(ofRun, "phase").map(({ phase }) => phase);
      expect(passed).toEqual(phases.filter((phase) => passed.includes(phase)));
      expect(passed).toEqual(
        expect.arrayContaining(["starting", "warmup", "drained", "measure", "finished"]),
      );
      const measuring = ofRun.slice(
        ofRun.findIndex((event) => event.event === "phase" && event.phase === "measure"),
        ofRun.findIndex((event) => event.event === "phase" && event.phase === "finished"),
      );
      expect(only(measuring, "second")).toEqual(only(ofRun, "second"));

      const [finished] = only(ofRun, "run_finished");
      const result = campaign.measured.find(({ run }) => run === finished?.run);
      if (!finished?.figures || !result) throw new Error("a measured run");
      expect(finished.figures).toMatchObject({
        requests_per_second: result.requests.average,
        mean_ms: result.latency?.average,
        p99_ms: result.latency?.p99,
        limited_share: result.counts.limited / result.requests.total,
      });
      expect(finished.status).toBe(result.verdict.status);

      // Each second is what the result's own sample of it says; together they are its rate.
      const seconds = only(ofRun, "second");
      expect(seconds.map(({ t_s }) => t_s)).toEqual(result.samples.map(({ t_s }) => t_s));
      const answers = seconds.reduce(
        (sum, { requests_per_second, t_s }, index) =>
          sum + requests_per_second * (t_s - (seconds[index - 1]?.t_s ?? 0)),
        0,
      );
      expect(answers / result.requests.total).toBeCloseTo(1, 1);
      for (const { generator_event_loop_utilisation: busy } of seconds)
        expect(busy).toBeGreaterThan(0);
      // Within a run the time runs down; one that takes longer than its estimate keeps that of the
      // runs to come.
      const left = seconds.map(({ time_left_s }) => time_left_s);
      expect(left).toEqual([...left].sort((a, b) => b - a));
      expect(seconds.some((second) => (second.server_cpu_percent ?? 0) > 0)).toBe(true);
      expect(seconds.some((second) => (second.server_event_loop_utilisation ?? 0) > 0)).toBe(true);
    }

    const [report] = only(events, "report");
    expect(report?.path).toBe(join(campaign.folder, "report", "index.html"));
    expect(report?.configurations).toMatchObject([{ label: "memory", runs: 2 }]);
    const ended = events.at(-1);
    expect(ended).toMatchObject({ event: "ended", exit_code: 0, folder: campaign.folder });
  });

  test("ends with an `ended` event that has the reason, even if nothing could start", async () => {
    const flags = ["--json", "--valkey-server", "/no/such/program"];
    const { code, stdout, stderr } = await Campaign.run(newFolder(), "iovalkey", flags).ended;
    const events = eventsOf(stdout);
    expect(events.at(-1)).toMatchObject({ event: "ended", exit_code: code });
    expect(code).not.toBe(0);
    const [ended] = only(events, "ended");
    expect(ended?.reason).toBeTruthy();
    expect(stderr).toContain(ended?.reason);
  });
});

test("without a terminal no escape sequence is printed, and each run has one line; --quiet prints only the report's path", async () => {
  const home = newFolder();
  const env = { FORCE_COLOR: "1", TERM: "xterm-256color" };
  const { code, stdout, stderr } = await Campaign.run(home, "none", SHORT, env).ended;
  expect(code, stderr).toBe(0);
  expect(stdout + stderr).not.toMatch(OBEYED);
  expect(stdout.split("\n").filter((line) => /\[1\/1\]|warm-up/.test(line))).toEqual([
    expect.stringMatching(/ \[1\/1\] none, .* run 1: \d+ requests\/s/),
  ]);

  const quiet = Campaign.run(newFolder(), "none", [...SHORT, "--quiet"]);
  const end = await quiet.ended;
  const path = join(quiet.folder, "report", "index.html");
  expect(end).toMatchObject({ code: 0, stdout: `${path}\n`, stderr: quiet.suspectWarning });
  expect(readFileSync(path, "utf8")).toContain("<html");
});
