/**
 * Stands in for the load generator in a copy of the package, see coordinator.ts. It reads `stand-in.json` beside it:
 * `record` starts the real generator and keeps what it writes; `replay` writes the same again without any load, at the
 * same moments, waiting where the generator waits.
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const beside = (name) => fileURLToPath(new URL(name, import.meta.url));
const { mode, windowS, linesPerSecond } = JSON.parse(readFileSync(beside("stand-in.json"), "utf8"));
const { index = 0 } = JSON.parse(process.env.RUN_SPEC).generator.share ?? {};

function record() {
  const child = spawn(process.execPath, [beside("generator.js")], { stdio: ["inherit", "pipe", "pipe"] });
  const recorded = { lines: [], output: "" };
  child.stdout.on("data", (chunk) => {
    recorded.output += chunk;
    process.stdout.write(chunk);
  });
  createInterface({ input: child.stderr }).on("line", (line) => {
    recorded.lines.push(line);
    process.stderr.write(`${line}\n`);
  });
  child.on("close", (code) => {
    writeFileSync(beside(`recorded-${index}.json`), JSON.stringify(recorded));
    process.exitCode = code ?? 1;
  });
}

async function replay() {
  // The first generator alone reads the servers.
  const { lines, output } = JSON.parse(readFileSync(beside(`recorded-${index === 0 ? 0 : 1}.json`), "utf8"));
  const result = output.replaceAll(/"generator-\d+"/g, `"generator-${index + 1}"`);
  let told = 0;
  let go = () => {};
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    if (line === "read") told++;
    go();
  });
  let announced = 0;
  const waits = async () => {
    announced++;
    while (told < announced)
      await new Promise((resolve) => {
        go = resolve;
      });
  };
  for (const line of lines.filter((each) => !each.includes('"second"'))) {
    const { phase } = JSON.parse(line);
    process.stderr.write(`${line}\n`);
    if (["connected", "drained", "finished", "waiting"].includes(phase)) await waits();
    if (phase === "measure") await secondsOf(lines.find((each) => each.includes('"second"')) ?? line);
  }
  input.close();
  process.stdin.destroy();
  process.stdout.write(result);
}

/** The window: so many lines a second, each with the wall clock in the place of its second. */
async function secondsOf(line) {
  const second = JSON.parse(line);
  const opened_ms = performance.now();
  let written = 0;
  while (performance.now() - opened_ms < 1000 * windowS) {
    // Real generators write each line by itself.
    for (const due = ((performance.now() - opened_ms) / 1000) * linesPerSecond; written < due; written++)
      process.stderr.write(`${JSON.stringify({ ...second, t_s: Date.now() / 1000 })}\n`);
    await sleep(Math.min(1000 / linesPerSecond, 1000));
  }
}

if (mode === "record") record();
else await replay();
