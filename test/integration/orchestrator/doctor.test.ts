import { readdirSync } from "node:fs";
import { afterEach, expect, test, vi } from "vitest";
import { EXIT } from "../../../src/kit/errors.js";
import { runCampaign } from "../../../src/orchestrator/campaign/campaign.js";
import type { CliContext } from "../../../src/orchestrator/commands/command-types.js";
import { doctor } from "../../../src/orchestrator/commands/doctor-command.js";
import { ForeignLoadCheck } from "../../../src/orchestrator/host/foreign-load.js";
import { EventLog } from "../../../src/orchestrator/ui/event-log.js";
import { openScreen } from "../../../src/orchestrator/ui/screens.js";
import { temporaryFolders } from "../../helpers/folders.js";
import { ROOT, runProgram } from "../../helpers/programs.js";

const newFolder = temporaryFolders();

// Before it is repeated, too: its folder for temporary files is gone then.
afterEach(() => void vi.unstubAllEnvs());

/** Its campaign as it is, with two of its rounds. */
const campaign: CliContext["campaign"] = async (request) => {
  expect(request).toMatchObject({ rounds: { runs: 2 }, output: { ownResult: true } });
  const eventLog = new EventLog(
    openScreen(request.output.mode, { out: process.stderr, err: process.stderr }, {}),
  );
  const context = { packageFolder: ROOT, eventLog, signal: new AbortController().signal };
  const exitCode = await runCampaign(
    { ...request, rounds: { ...request.rounds, runs: 2 } },
    { ...context, foreignLoad: new ForeignLoadCheck() },
  );
  return { exitCode, folder: eventLog.folder ?? "" };
};

test("doctor measures a target and its copy by turns, and says what the machine can show", async () => {
  const home = newFolder();
  for (const name of ["TMPDIR", "XDG_STATE_HOME"]) vi.stubEnv(name, home);
  const print = vi.fn<(text: string) => void>();
  const audits = { audit: vi.fn(), apiAudit: vi.fn() };
  const context = { packageFolder: ROOT, env: {}, commands: [], campaign, ...audits, print };
  expect(await doctor.run("--json --runtime local --seconds 18".split(" "), context)).toBe(
    EXIT.done,
  );
  expect(readdirSync(home).filter((name) => name !== "ratelimit-bench")).toEqual([]);
  const { fit, checks, resolution } = JSON.parse(print.mock.calls.join());
  expect(fit).toBe(true);
  expect(checks.map(({ check }: { check: string }) => check)).toContain("cores");
  expect(resolution).toMatchObject({ rounds: 2, slices_s: 1, interval: null });
  expect(resolution.deviation_percent).toBeGreaterThan(0);
  expect(resolution.differences.map(({ percent }: { percent: number }) => percent)).toEqual([
    3, 5, 10,
  ]);
});

test("doctor --seconds 0 makes the checks alone", async () => {
  const parameters = "doctor --json --runtime local --seconds 0".split(" ");
  const { code, stdout } = await runProgram("orchestrator/cli.js", parameters, {}).ended;
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).not.toHaveProperty("resolution");
});
