import { spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Target } from "../../src/contract/target.js";
import { options } from "../../src/targets/options.js";
import { describeClient, findLimiter, resolveTarget } from "../../src/targets/resolve.js";
import type {
  ClientDescription,
  Decision,
  LimiterPair,
  OpenClient,
  StorePlace,
} from "../../src/targets/types.js";

export const LIMITS = { points: 20, window_s: 600, block_s: 0 };

/** A target as it runs: its client is connected, its script loaded. */
export interface Subject extends LimiterPair {
  target: Target;
  description: ClientDescription;
  client: OpenClient;
}

/** What is tried of a client: plain, and under each option. */
export const everyWay = (): string[] => ["", ...options.map(({ id }) => `+${id}`)];

/** The client on that store, in each of the ways that it can have there. */
export function targetsOf(client: string, store: string, topology: string, ways = everyWay()): Target[] {
  return ways.flatMap((option) => {
    const resolution = resolveTarget(`${client}@${store}:${topology}${option}`);
    return "target" in resolution ? [resolution.target] : [];
  });
}

export async function openSubject(target: Target, place: StorePlace, limits = LIMITS): Promise<Subject> {
  const description = describeClient(target);
  const client = await description.open(place);
  try {
    const limiters = await findLimiter(target.limiter).create(client, description, limits);
    if (!limiters) throw new Error(`${target.limiter} does not limit`);
    return { ...limiters, target, description, client };
  } catch (error) {
    await client.close();
    throw error;
  }
}

/** Opens all of them, does the work, and closes them whatever happens. */
export async function withSubjects<Result>(
  targets: readonly Target[],
  place: StorePlace,
  work: (subjects: readonly Subject[]) => Promise<Result>,
): Promise<Result> {
  const subjects: Subject[] = [];
  try {
    for (const target of targets) subjects.push(await openSubject(target, place));
    return await work(subjects);
  } finally {
    for (const { client } of subjects) await client.close();
  }
}

/** How often each outcome is among the decisions. */
export function tally(decisions: readonly Decision[]): Record<Decision["outcome"], number> {
  const counts = { allowed: 0, limited: 0, failed: 0 };
  for (const { outcome } of decisions) counts[outcome]++;
  return counts;
}

/** What became of a process that opens and closes clients. */
export interface Visit {
  code: number | null;
  output: string;
  pid: number;
}

/** Names in /tmp of what glide has left of a process. */
export const glideSockets = (pid: number): string[] =>
  readdirSync("/tmp").filter((name) => name.startsWith(`glide-socket-${pid}-`));

export function removeGlideSockets(pid: number): void {
  for (const name of glideSockets(pid)) rmSync(`/tmp/${name}`, { force: true });
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Opens, uses and closes each target in a process of its own, one after the other: a line each with the outcome of a
 * consume, or the error. The process ends by itself only if nothing is left open.
 * @param interrupt is called between opening and using; the client is then closed over the consume under way
 */
export function visit(targets: readonly Target[], place: StorePlace, interrupt?: () => void): Promise<Visit> {
  const task = JSON.stringify({ targets, place, pauses: interrupt !== undefined });
  const child = spawn(process.execPath, ["--import", "tsx", "test/suites/visit.ts", task], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    // One that something keeps alive is a failure that is told, and not left running.
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  child.on("message", () => {
    interrupt?.();
    child.send("go on");
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (text) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.once("close", (code, signal) => {
      const pid = child.pid ?? 0;
      // What was killed could not clear up after itself.
      if (signal) removeGlideSockets(pid);
      resolve({ code, output, pid });
    });
  });
}
