import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { flagValue } from "./flag-value.js";

/**
 * Whether campaigns by turns find what is wrong with a target (M26, M33), where it is known by
 * design. Beside a reference and its copy, each campaign has a target that is the reference but for
 * one defect. It has one alone, because the slowest target of a group lengthens the turns of all:
 * - `after-idling` is 20 % slower for 50 ms after it idled. Turns with a lead-in of 5 ms must show
 *   that it is not settled. Where the lead-in is longer than 50 ms, its ratio must be that of a copy.
 * - `half-way` is 25 % slower from about the middle of each window on.
 * - `new-connection` opens a connection for each decision.
 * At least nine of ten campaigns must find each, and at most one of 20 copies may be told apart, or be
 * not settled.
 * `npm run bench:planted -- --campaigns 10 --turns "5,100"` are the defaults: ten campaigns of each
 * defect (100 minutes). `--defects LIST` leaves some out. More turns stand behind a space, e.g. `--turns
 * "5,100 100,200"`. `--keep FOLDER` keeps the campaigns.
 */
const REFERENCE = "ioredis@valkey";
const WINDOW_S = 4;
const WARMUP_S = 1.5;
/** The rounds were fixed before the data. */
const ROUNDS = 8;
/** What the calibration adds to each command, in microseconds. */
const CALIBRATION_US = 10;

const campaigns = Number(flagValue("--campaigns", "10"));
const turns = flagValue("--turns", "5,100").split(" ");
const defects = flagValue("--defects", "after-idling,half-way,new-connection").split(",");
const kept = flagValue("--keep", "");
const MODULE = "planted-options.mjs";
const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ratelimit-bench-planted-"));
const output = kept || home;

/** Writes a plugin with options of `planted-options.mjs`. @returns its folder */
function writePlugin(name: string, options: readonly string[]): string {
  // Campaigns are in `home`, too, under names of the same kind.
  const folder = join(home, "plugins", name);
  mkdirSync(folder, { recursive: true });
  copyFileSync(join(packageFolder, "bench/slowed-clients", MODULE), join(folder, MODULE));
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name, private: true, type: "module", main: "index.mjs" }),
  );
  writeFileSync(
    join(folder, "index.mjs"),
    `import { delayed, newConnection, spin, spinAfterIdling, spinFrom } from "./${MODULE}";
export default { options: [
  ${options.join(",\n  ")},
] };
`,
  );
  return folder;
}

/** Measures the reference and its variants by turns. @returns the campaign's folder */
async function campaign(
  name: string,
  plugin: string,
  variants: readonly string[],
  flags: readonly string[],
): Promise<string> {
  const folder = join(output, name);
  const settings = {
    clients: [REFERENCE, ...variants.map((id) => `${REFERENCE}+${id}`)].join(","),
    reference: REFERENCE,
    plugin,
    runtime: "local",
    concurrency: "50",
    warmup: String(WARMUP_S),
    cooldown: "0",
    output: folder,
  };
  const words = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]);
  const cli = join(packageFolder, "dist", "orchestrator", "cli.js");
  await execa(process.execPath, [cli, "run", "--quiet", ...words, ...flags], {
    env: { XDG_STATE_HOME: join(home, "state") },
    stdout: "ignore",
    stderr: "inherit",
  });
  const stamp = readdirSync(folder).findLast((entry) => /^\d{8}_/.test(entry));
  if (!stamp) throw new Error(`there is no campaign in ${folder}`);
  return join(folder, stamp);
}

/** The median time between two answers of each target, in microseconds and by its label. */
function usPerAnswer(folder: string): Map<string, number> {
  const byLabel = new Map<string, number[]>();
  for (const name of readdirSync(folder).filter((entry) => /_run\d+\.json$/.test(entry))) {
    const result = JSON.parse(readFileSync(join(folder, name), "utf8")) as {
      configuration: { target: { label: string } };
      requests: { average: number };
    };
    const { label } = result.configuration.target;
    byLabel.set(label, [...(byLabel.get(label) ?? []), 1e6 / result.requests.average]);
  }
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1] ?? 0;
  return new Map([...byLabel].map(([label, values]) => [label, median(values)]));
}

/**
 * The work that makes the reference slower by a share of its rate, in microseconds. Where roles share
 * CPUs, added work takes more or less time than it says, so that is measured first.
 */
async function calibrated(): Promise<(share: number) => number> {
  const added = `delayed("calibration", "costs ${CALIBRATION_US} µs more", () => () => spin(${CALIBRATION_US}))`;
  const plugin = writePlugin("calibration", [added]);
  const flags = ["--no-copy", "--runs", "3", "--duration-mode", "custom:2"];
  const folder = await campaign("calibration", plugin, ["calibration"], flags);
  const byLabel = usPerAnswer(folder);
  const plain_us = byLabel.get(REFERENCE) ?? 0;
  const slowed_us = byLabel.get(`${REFERENCE}+calibration`) ?? 0;
  if (!plain_us || slowed_us <= plain_us) throw new Error("the calibration shows no added time");
  const effect = (slowed_us - plain_us) / CALIBRATION_US;
  console.log(
    `an answer takes ${plain_us.toFixed(1)} µs; each µs of added work makes it ${effect.toFixed(2)} µs longer`,
  );
  return (share) => (plain_us * (1 / (1 - share) - 1)) / effect;
}

/** The busy seconds of a target up to the middle of its window: lead-ins count. */
function secondsToMiddle(turn: string): number {
  const [leadIn_ms = 0, slice_ms = 1] = turn.split(",").map(Number);
  return WARMUP_S + (WINDOW_S / 2) * (1 + leadIn_ms / slice_ms);
}

function pluginFor(turn: string, usFor: (share: number) => number): string {
  return writePlugin(`planted-${turn.replace(",", "-")}`, [
    `delayed("after-idling", "slower after idling", () => spinAfterIdling(${usFor(0.2)}))`,
    `delayed("half-way", "slower half-way", () => spinFrom(${secondsToMiddle(turn)}, ${usFor(0.25)}))`,
    `newConnection("new-connection", "a connection for each decision")`,
  ]);
}

async function printFound(turn: string, folders: readonly string[]): Promise<void> {
  const python = join(packageFolder, ".venv", "bin", "python");
  const script = join(packageFolder, "bench", "found_defects.py");
  const { exitCode } = await execa(python, [script, turn, ...folders], {
    stdio: "inherit",
    reject: false,
  });
  if (exitCode !== 0) process.exitCode = 1;
}

try {
  const usFor = await calibrated();
  for (const turn of turns) {
    const plugin = pluginFor(turn, usFor);
    const flags = [
      "--turn",
      turn,
      "--runs",
      String(ROUNDS),
      "--duration-mode",
      `custom:${WINDOW_S}`,
    ];
    const folders: string[] = [];
    // Defects alternate, so that what the host does in a quarter of an hour meets all of them.
    for (let number = 1; number <= campaigns; number++)
      for (const defect of defects)
        folders.push(await campaign(`${turn}-${defect}-${number}`, plugin, [defect], flags));
    await printFound(turn, folders);
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
