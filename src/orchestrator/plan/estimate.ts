import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Configuration } from "../../contract/configuration.js";
import type { Plan } from "../../contract/plan.js";
import { makeFolder } from "../files/folders.js";
import { writeWhole } from "../files/results-folder.js";
import { stateFolder } from "../ownership/state-folder.js";

/** Seconds that starting and stopping the parts of one run take beside its warm-up and window, by topology. */
export type Overheads = Readonly<Record<string, number>>;

/** Medians on two cores; the machine's own are learned from its campaigns. */
const DEFAULTS: Readonly<Record<string, Overheads>> = {
  local: { none: 1.5, standalone: 2, cluster: 7 },
  docker: { none: 2.7, standalone: 3.8, cluster: 8.3 },
  podman: { none: 5, standalone: 8, cluster: 25 },
};
/** Building the report. */
export const REPORT_S = 4;

/** How many of the last runs of a kind are remembered. */
const MEMORY = 20;

const memorySchema = z.record(z.string(), z.array(z.number().min(0)).max(1000));
type Memory = z.infer<typeof memorySchema>;

const memoryPath = (): string => join(stateFolder(), "overheads.json");

/** What earlier campaigns on this machine took. Unreadable is as good as none: it is only for the estimate. */
async function readMemory(): Promise<Memory> {
  try {
    return memorySchema.parse(JSON.parse(await readFile(memoryPath(), "utf8")));
  } catch {
    return {};
  }
}

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** The overheads to expect on this machine in a runtime. */
export async function overheadsOf(runtime: string): Promise<Overheads> {
  const memory = await readMemory();
  const known = Object.entries(memory).flatMap(([key, values]) => {
    const middle = median(values);
    const [of = "", topology = ""] = key.split(":");
    return of === runtime && middle !== undefined ? [[topology, middle] as const] : [];
  });
  return { ...(DEFAULTS[runtime] ?? DEFAULTS.docker), ...Object.fromEntries(known) };
}

export interface MeasuredRun {
  configuration: Configuration;
  /** From the run's start until its result was saved. */
  seconds: number;
}

/** Remembers what runs took, so that the next estimate is better. Never fails: it is only for the estimate. */
export async function learnOverheads(
  runtime: string,
  warmupS: number,
  runs: readonly MeasuredRun[],
): Promise<void> {
  const memory = await readMemory();
  for (const { configuration, seconds } of runs) {
    const key = `${runtime}:${configuration.target.topology}`;
    const overhead = Math.max(0, seconds - warmupS - measuredS(configuration));
    memory[key] = [...(memory[key] ?? []), Math.round(overhead * 1000) / 1000].slice(-MEMORY);
  }
  try {
    await makeFolder(stateFolder());
    await writeWhole(memoryPath(), JSON.stringify(memory));
  } catch {
    // The next estimate is a little worse.
  }
}

/** Seconds that are measured; runs of a number of requests take as long as they take. */
const measuredS = ({ extent }: Configuration): number => ("duration_s" in extent ? extent.duration_s : 0);

/** How long one run takes, in seconds, about. */
export function runS(plan: Plan, configuration: Configuration, overheads: Overheads): number {
  const overhead = overheads[configuration.target.topology] ?? overheads.standalone ?? 0;
  return plan.warmup_s + measuredS(configuration) + overhead;
}

/** How long the whole campaign takes with its report, in seconds, about. */
export function estimateS(plan: Plan, overheads: Overheads): number {
  const byHash = new Map(plan.configurations.map(({ hash, configuration }) => [hash, configuration]));
  const runs = plan.runs.flatMap(({ configuration_hash }) => byHash.get(configuration_hash) ?? []);
  const pauses = runs.slice(1).map((configuration, index) => {
    const changes =
      plan.order === "consecutive" && configuration.target.client !== runs[index]?.target.client;
    return changes ? plan.client_cooldown_s : plan.cooldown_s;
  });
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return sum(runs.map((configuration) => runS(plan, configuration, overheads))) + sum(pauses) + REPORT_S;
}

/** Bytes that the results and the report will take on the disk, about: most of it is per-second samples. */
export function diskBytes(plan: Plan): number {
  const byHash = new Map(plan.configurations.map(({ hash, configuration }) => [hash, configuration]));
  return plan.runs.reduce((total, { configuration_hash }) => {
    const configuration = byHash.get(configuration_hash);
    const nodes = configuration?.target.topology === "cluster" ? 6 : 1;
    return total + 40_000 + (configuration ? measuredS(configuration) : 0) * (300 + 130 * (nodes + 2));
  }, 3_000_000);
}
