import { setTimeout as sleep } from "node:timers/promises";
import { BenchError, EXIT, environmentError, messageOf } from "../../contract/errors.js";
import { type Health, healthSchema, type Usage, usageSchema } from "../../contract/server-api.js";
import { monotonicMs } from "./clock.js";

/** Readings of our own server at the drained moments; absent for a foreign one. */
export interface ServerReadings {
  health: Health;
  at_start: Usage;
  at_window_open: Usage;
  at_end: Usage;
}

const TIMEOUT_MS = 5_000;

async function getJson(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  return response.ok ? response.json() : undefined;
}

/** The cause of a failed request in one line; the message of fetch itself has no cause. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause ? error.cause : error;
  return messageOf(cause).split("\n")[0] || "connection refused";
}

/**
 * Identifies the server at the base address.
 * @returns undefined for a foreign server, of which only its answers are known
 * @throws environmentError when nothing answers, or when our server belongs to another run
 */
export async function identifyServer(
  base: string,
  runNonce: string | undefined,
): Promise<Health | undefined> {
  let body: unknown;
  try {
    body = await getJson(`${base}/healthz`);
  } catch (error) {
    // A foreign server may answer with something other than JSON.
    if (!(error instanceof SyntaxError)) {
      throw environmentError(`nothing answers at ${base}: ${reasonOf(error)}`);
    }
  }
  const health = healthSchema.safeParse(body);
  if (runNonce !== undefined && health.data?.run_nonce !== runNonce) {
    const who = health.success ? "a server of another run" : "something that is not our server";
    throw environmentError(`${base} is ${who}: another program has taken the port`);
  }
  return health.data;
}

/** @throws BenchError when our server, which answered before, does not give its counters any more */
export async function readUsage(base: string): Promise<Usage> {
  try {
    return usageSchema.parse(await getJson(`${base}/usage`));
  } catch (error) {
    const text = `the server at ${base} gives no counters any more: ${reasonOf(error)}`;
    throw new BenchError(text, EXIT.configurationFailed, { cause: error });
  }
}

/** Waits until the server has no request in flight, including those whose client has gone, and reads its counters. */
export async function readDrainedUsage(base: string, withinMs: number): Promise<Usage> {
  const deadline = monotonicMs() + withinMs;
  for (;;) {
    const usage = await readUsage(base);
    if (usage.in_flight === 0 || monotonicMs() > deadline) return usage;
    await sleep(10);
  }
}

export const cpuUs = (usage: Usage): number => usage.cpu_user_us + usage.cpu_system_us;
