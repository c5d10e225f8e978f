import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { Layer } from "../src/contract/layers.js";

/**
 * The shortest lead-ins and slices in milliseconds, in ascending order. Slow targets get longer ones.
 * They are fixed before the data, like the rounds and the rule in `long_turns.py`.
 */
const CANDIDATES = ["5,100", "50,100", "100,100", "100,200", "200,300"] as const;
const LONGEST = CANDIDATES[CANDIDATES.length - 1] ?? "";
const ROUNDS = "12";
const REFERENCE = "ioredis@valkey";

/** The targets of one campaign. The reference is in each, so that every target shares its rounds. */
interface MeasuredGroup {
  layer: Extract<Layer, "server" | "limiter">;
  connections: number;
  targets: readonly string[];
}

const CLIENTS = ["iovalkey", "node-redis@valkey", "valkey-glide", "memory"];
const OTHER_DECIDERS = ["memcached", "ioredis+redis-cell", "envoy-http", "throttlecrab-http"];

const GROUPS: readonly MeasuredGroup[] = [
  { layer: "server", connections: 50, targets: CLIENTS },
  { layer: "server", connections: 50, targets: OTHER_DECIDERS },
  { layer: "limiter", connections: 1, targets: ["memory"] },
  { layer: "limiter", connections: 50, targets: ["memory"] },
];

/** These are measured in continuous windows, too. */
const CONTINUOUS = ["node-redis@valkey", "valkey-glide"];

const packageFolder = fileURLToPath(new URL("..", import.meta.url));

/** What follows a flag of the command. */
export function flagValue(flag: string): string | undefined {
  const index = process.argv.indexOf(flag);
  return index < 0 ? undefined : process.argv[index + 1];
}

interface LongTurnsOptions {
  rounds: string;
  /** The targets that are measured beside the reference. */
  isMeasured: (target: string) => boolean;
  candidates: readonly string[];
  output: string;
}

function optionsFromArguments(output: string): LongTurnsOptions {
  const targets = flagValue("--targets")?.split(",");
  return {
    rounds: flagValue("--rounds") ?? ROUNDS,
    isMeasured: (target) => !targets || targets.includes(target),
    candidates: flagValue("--candidates")?.split(" ") ?? CANDIDATES,
    output: flagValue("--keep") ?? output,
  };
}

/** @returns the folder of the campaign */
async function campaign(
  name: string,
  { layer, connections, targets }: MeasuredGroup,
  { rounds, output }: LongTurnsOptions,
  more: readonly string[],
): Promise<string> {
  const folder = join(output, name);
  const settings = {
    clients: [REFERENCE, ...targets].join(","),
    reference: REFERENCE,
    layer,
    runtime: "local",
    concurrency: String(connections),
    // The shortest window that has long turns before it.
    "duration-mode": "custom:7",
    warmup: "1.5",
    cooldown: "0",
    runs: rounds,
    output: folder,
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]);
  const cli = join(packageFolder, "dist", "orchestrator", "cli.js");
  const words = [cli, "run", "--no-copy", "--quiet", ...flags, ...more];
  const { exitCode } = await execa(process.execPath, words, {
    env: { XDG_STATE_HOME: join(output, "state") },
    stdout: "ignore",
    stderr: "inherit",
    reject: false,
  });
  if (exitCode !== 0) throw new Error(`the campaign ${name} ended with ${exitCode}`);

  const stamp = readdirSync(folder).findLast((entry) => /^\d{8}_/.test(entry));
  if (!stamp) throw new Error(`there is no campaign in ${folder}`);
  return join(folder, stamp);
}

/**
 * Measures the targets in short turns of each candidate and in long turns of the same rounds, and
 * prints which candidate is the shortest that agrees with the long turns.
 */
export async function long(): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), "ratelimit-bench-long-turns-"));
  try {
    const options = optionsFromArguments(temporary);
    const folders: string[] = [];
    for (const [number, group] of GROUPS.entries())
      folders.push(...(await measureGroup(`group-${number + 1}`, group, options)));
    await printAgreement(folders);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** @returns the words by which `long_turns.py` takes the campaigns of a group */
async function measureGroup(
  name: string,
  group: MeasuredGroup,
  options: LongTurnsOptions,
): Promise<string[]> {
  const targets = group.targets.filter(options.isMeasured);
  if (targets.length === 0) return [];

  const campaigns: string[] = [];
  for (const turn of options.candidates) {
    const more = ["--turn", turn];
    const folder = await campaign(`${name}-${turn}`, { ...group, targets }, options, more);
    campaigns.push(`${turn}=${folder}`);
  }
  const continuous = targets.filter((target) => CONTINUOUS.includes(target));
  if (continuous.length > 0 && options.candidates.includes(LONGEST)) {
    const more = ["--order", "interleaved"];
    const ofClients = { ...group, targets: continuous };
    campaigns.push(`continuous=${await campaign(`${name}-continuous`, ofClients, options, more)}`);
  }
  return campaigns;
}

async function printAgreement(campaigns: readonly string[]): Promise<void> {
  const python = join(packageFolder, ".venv", "bin", "python");
  const script = join(packageFolder, "bench", "long_turns.py");
  const json = flagValue("--json");
  const words = [script, ...(json ? ["--json", json] : []), ...campaigns];
  await execa(python, words, { stdio: "inherit" });
}
