import { spawn } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Limits } from "../../src/contract/configuration.js";
import type { Target } from "../../src/contract/target.js";
import { within } from "../../src/kit/deadline.js";
import { librariesOnDemand } from "../../src/targets/libraries.js";
import { limiters } from "../../src/targets/limiters/index.js";
import { options } from "../../src/targets/options.js";
import { asRequestLimiter } from "../../src/targets/request-limiter.js";
import { describeClient, findLimiter, resolveTarget } from "../../src/targets/resolve.js";
import type {
  ClientDescription,
  Decision,
  LimiterIdentity,
  LimiterPair,
  OpenClient,
  RequestLimiter,
  StorePlace,
} from "../../src/targets/target-types.js";
import { pairOf } from "../helpers/limiter-pair.js";

/**
 * A client waits 5 s for a store that is starting; one that waits for ever must not hold up all
 * other promises.
 */
const OPENS_WITHIN_MS = 10_000;

export const LIMITS = { points: 20, window_s: 600, block_s: 0 };

/** A target whose client is connected and whose script is loaded. */
export interface OpenTarget extends LimiterPair {
  target: Target;
  description: ClientDescription;
  client: OpenClient;
}

/** Limiters that have a suite of their own: `limiter.ts`, or for those of modules `module.ts`. */
const hasOwnSuite = (id: string): boolean =>
  id !== "fastify-rate-limit" && limiters.some((limiter) => limiter.id === id);

/** They do not change the client itself: `fail-open.test.ts` and `tls.test.ts` try them. */
const TRIED_ELSEWHERE = ["fail-open", "tls"];

/** The variants of a client: plain, and with each option that has no suite of its own. */
export const allVariants = (): string[] => [
  "",
  // A family of options has no id of its own.
  ...options.flatMap(({ id, pattern }) =>
    pattern || hasOwnSuite(id) || TRIED_ELSEWHERE.includes(id) ? [] : [`+${id}`],
  ),
];

/** The targets of a client on a store, one for each variant that it supports there. */
export function targetsOf(
  client: string,
  store: string,
  topology: string,
  variants = allVariants(),
): Target[] {
  return variants.flatMap((option) => {
    const resolution = resolveTarget(`${client}@${store}:${topology}${option}`);
    return "target" in resolution ? [resolution.target] : [];
  });
}

/** Connects the client and hands it on; it is closed where that fails. */
async function connected<Result>(
  target: Target,
  place: StorePlace,
  limits: Limits,
  use: (opened: Pick<OpenTarget, "target" | "description" | "client">, created: Created) => Result,
): Promise<Result> {
  const description = describeClient(target);
  const client = await within(
    description.open(place),
    OPENS_WITHIN_MS,
    () => `open must connect or fail: it did neither within ${OPENS_WITHIN_MS / 1000} s`,
    (late) => late.close(),
  );
  try {
    const limiter = findLimiter(target.limiter);
    const created = await limiter.create(
      client,
      description,
      limits,
      "rl",
      librariesOnDemand(limiter.onDemand),
    );
    return use({ target, description, client }, created);
  } catch (error) {
    await client.close();
    throw error;
  }
}
type Created = Awaited<ReturnType<ReturnType<typeof findLimiter>["create"]>>;

export const openTarget = (
  target: Target,
  place: StorePlace,
  limits = LIMITS,
): Promise<OpenTarget> =>
  connected(target, place, limits, (opened, created) => ({ ...pairOf(created), ...opened }));

/** A connected client and its limiter, whether that takes one key per call or all of a request. */
export const openRequestLimiter = (
  target: Target,
  place: StorePlace,
  limits = LIMITS,
): Promise<{ client: OpenClient; limiter: RequestLimiter & LimiterIdentity }> =>
  connected(target, place, limits, ({ client }, created) => {
    if (!created) throw new Error(`${target.text} limits nothing`);
    return { client, limiter: asRequestLimiter(created) };
  });

/** Opens the targets, runs `work`, and always closes them. */
export async function withOpenTargets<Result>(
  targets: readonly Target[],
  place: StorePlace,
  work: (opened: readonly OpenTarget[]) => Promise<Result>,
): Promise<Result> {
  const opened: OpenTarget[] = [];
  try {
    for (const target of targets) opened.push(await openTarget(target, place));
    return await work(opened);
  } finally {
    for (const { client } of opened) await client.close();
  }
}

/** How often each outcome is among the decisions. */
export function countOutcomes(decisions: readonly Decision[]): Record<Decision["outcome"], number> {
  const counts = { allowed: 0, limited: 0, failed: 0 };
  for (const { outcome } of decisions) counts[outcome]++;
  return counts;
}

/** The result of a child process that opens and closes clients. */
export interface ChildResult {
  code: number | null;
  output: string;
  pid: number;
}

/** Names of the sockets in /tmp that glide has left for a process. */
export const glideSockets = (pid: number): string[] =>
  readdirSync("/tmp").filter((name) => name.startsWith(`glide-socket-${pid}-`));

export function removeGlideSockets(pid: number): void {
  for (const name of glideSockets(pid)) rmSync(`/tmp/${name}`, { force: true });
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Opens, uses and closes the targets one after the other in a child process, which prints a line
 * for each with the outcome of a consume, or the error. The process only ends by itself if nothing
 * is left open.
 * @param interrupt called between opening and using; the client is then closed while the consume is
 *   in flight
 */
export function useInChildProcess(
  targets: readonly Target[],
  place: StorePlace,
  interrupt?: () => void,
): Promise<ChildResult> {
  const task = JSON.stringify({ targets, place, pauses: interrupt !== undefined });
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "test/suites/open-target-process.ts", task],
    {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // A process that something keeps alive is a failure and must not stay.
      timeout: 240_000,
      killSignal: "SIGKILL",
    },
  );
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
      // A killed process could not remove its sockets.
      if (signal) removeGlideSockets(pid);
      resolve({ code, output, pid });
    });
  });
}
