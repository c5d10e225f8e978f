import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ROOT } from "../../helpers/programs.js";

const STOPPED_MS = 400;
const MODULE = pathToFileURL(join(ROOT, "dist/benchmark/measurement/standstill.js")).href;

/** Watches itself until its standard input ends, and prints the longest gap. */
const PROGRAM = `
  import { StandstillWatch } from ${JSON.stringify(MODULE)};
  const watch = new StandstillWatch();
  process.stdin.on("data", () => {}).on("end", () => console.log(watch.stop()));
  console.log("watches");
`;

test("a process that was stopped has a gap as long as its stop", async () => {
  const child = spawn(process.execPath, ["--input-type=module", "-e", PROGRAM]);
  await once(child.stdout, "data");
  child.kill("SIGSTOP");
  await sleep(STOPPED_MS);
  child.kill("SIGCONT");
  child.stdin.end();
  const [printed] = await once(child.stdout, "data");
  expect(Number(printed)).toBeGreaterThanOrEqual(STOPPED_MS - 50);
});
