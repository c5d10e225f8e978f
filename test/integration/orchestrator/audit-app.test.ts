import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { auditSchema } from "../../../src/contract/audit.js";
import { startTimeOf } from "../../../src/runtimes/processes.js";
import { ROOT, runProgram } from "../../helpers/programs.js";
import { until } from "../../helpers/store.js";

const folder = mkdtempSync(join(tmpdir(), "audit-app-"));
afterAll(() => rmSync(folder, { recursive: true }));

const API = join(ROOT, "test/helpers/apis/wrong-in-memory.mjs");
const PID_FILE = join(folder, "app.pid");
const MENDED = join(folder, "mended");
/** The app runs below a shell, which is what the audit starts. */
const APP = `${process.execPath} ${API} & echo $! > ${PID_FILE}; wait`;

const FLAGS = {
  url: "/api/items",
  quota: "5/2s",
  key: "header:X-Api-Key",
  output: folder,
  format: "json",
};

/** @param flags the values of flags by their name */
function audit(flags: Readonly<Record<string, string>>) {
  const words = Object.entries({ ...FLAGS, ...flags }).map(([name, value]) => `--${name}=${value}`);
  const env = { XDG_STATE_HOME: folder, QUOTA: "5", WINDOW_S: "2" };
  return runProgram("orchestrator/cli.js", ["audit", "--shell", ...words], env);
}

/** Whether the process whose id the app wrote is there. */
const isRunning = async (): Promise<boolean> =>
  (await startTimeOf(Number(readFileSync(PID_FILE, "utf8")))) !== undefined;

const isGone = async (): Promise<boolean> => !(await isRunning());

test("an app is started, audited and stopped with all that it started", async () => {
  const junit = join(folder, "audit.xml");
  const secret = "never-to-be-written";
  const { code, stdout } = await audit({
    command: APP,
    instances: "2",
    checks: "active,instances",
    env: `SECRET=${secret}`,
    junit,
  }).ended;

  expect(code).toBe(6);
  const document = auditSchema.parse(JSON.parse(stdout));
  const { findings = [] } = document.targets[0] ?? {};
  expect(findings.map(({ check, defect }) => [check, defect])).toEqual([
    ["active", undefined],
    ["instances", "quota-per-instance"],
  ]);
  expect(findings[1]?.remedy?.settings).toHaveProperty("express-rate-limit");
  expect(readFileSync(junit, "utf8")).toContain('<failure type="quota-per-instance"');
  expect(stdout).not.toContain(secret);
  await until(isGone);
});

test("Ctrl-C brings the store back, and stops the app", async () => {
  const broken = join(mkdtempSync(join(folder, "outage-")), "broken");
  const running = audit({
    command: APP,
    checks: "outage",
    break: `touch ${broken}; sleep 60`,
    mend: `touch ${MENDED}`,
  });
  await until(() => existsSync(broken));
  expect(await isRunning()).toBe(true);
  running.kill("SIGINT");
  expect((await running.ended).code).toBe(130);
  expect(existsSync(MENDED)).toBe(true);
  await until(isGone);
});

test.each([
  ["ends at once", "echo no port to listen at >&2; exit 7", "no port to listen at"],
  ["does not exist", "no-such-program", "no-such-program"],
])("an app that %s: exit code 3, with what it said", async (_, command, text) => {
  const { code, stderr } = await audit({ command }).ended;
  expect(code).toBe(3);
  expect(stderr).toContain(text);
});
