import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { z } from "zod";
import { parsedJson } from "./json.js";
import type { IsAlive, Leftover } from "./runtime-types.js";

const OWNER_FILE = "service.json";
const processSchema = z.strictObject({ pid: z.int(), started: z.string() });
const ownerSchema = z.strictObject({ owner: processSchema, service: processSchema });

export async function identityOf(pid: number): Promise<z.infer<typeof processSchema>> {
  return { pid, started: (await startTimeOf(pid)) ?? "" };
}

/** A kind of process through which engines are reached. */
export interface ServiceKind {
  /** The prefix of the names of their folders. */
  prefix: string;
  /** The name of such a process in messages, e.g. `the Podman service`. */
  what: string;
}

export const serviceFolder = ({ prefix }: ServiceKind): Promise<string> =>
  mkdtemp(join(tmpdir(), prefix));

export async function recordService(folder: string, pid: number): Promise<void> {
  const record = { owner: await identityOf(process.pid), service: await identityOf(pid) };
  await writeFile(join(folder, OWNER_FILE), JSON.stringify(record));
}

export async function orphanedServices(
  { prefix, what }: ServiceKind,
  isAlive: IsAlive,
): Promise<Leftover[]> {
  const leftovers: Leftover[] = [];
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const folder = join(tmpdir(), name);
    const text = await readFile(join(folder, OWNER_FILE), "utf8").catch(() => "{}");
    const record = ownerSchema.safeParse(parsedJson(text)).data;
    if (!record || (await isAlive(record.owner))) continue;
    leftovers.push({
      what: `${what} in ${folder} that was left behind`,
      async remove() {
        await endProcess(record.service);
        await rm(folder, { recursive: true, force: true });
      },
    });
  }
  return leftovers;
}

export const STOP_WITHIN_MS = 5_000;

/**
 * The start of a process, which identifies it together with its id, because ids are used again;
 * undefined without such a process.
 */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    // The name in parentheses may hold spaces, and the fields after it may not. Field 22 is the
    // start in clock ticks.
    const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields?.[0] === "Z" ? undefined : fields?.[19];
  }
  const { stdout, failed } = await execa("ps", ["-o", "lstart=", "-p", String(pid)], {
    reject: false,
  });
  return failed ? undefined : stdout.trim() || undefined;
}

/** Removes the sockets that valkey-glide leaves behind, in /tmp whatever TMPDIR says. */
export async function removeSocketsOf(pid: number): Promise<void> {
  for (const folder of new Set(["/tmp", tmpdir()])) {
    const names = await readdir(folder).catch(() => []);
    const sockets = names.filter((name) => name.startsWith(`glide-socket-${pid}-`));
    await Promise.all(sockets.map((name) => rm(join(folder, name), { force: true })));
  }
}

/** Sends a signal. @returns whether there was such a process, or a group for a negative id */
export function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return false;
  }
}

/** Signals a process and all that it started, because each part leads its own process group. */
export const signalGroup = (pid: number, signal: NodeJS.Signals): boolean =>
  signalProcess(-pid, signal);

/** Ends a process group, first by SIGTERM and after a time-out by SIGKILL, and waits for its end. */
export async function stopGroup(pid: number, ended: Promise<unknown>): Promise<void> {
  signalGroup(pid, "SIGTERM");
  const inTime = await Promise.race([
    ended.then(() => true),
    sleep(STOP_WITHIN_MS).then(() => false),
  ]);
  if (!inTime) signalGroup(pid, "SIGKILL");
  await ended;
}

/**
 * How a process is started that leads a group of its own: Ctrl-C on the terminal reaches this
 * process alone, which then stops things in order.
 */
export const LEADS_ITS_GROUP = {
  buffer: false,
  reject: false,
  detached: true,
  cleanup: false,
} as const;

/**
 * Waits for a process that leads its group, which the signal ends.
 * @param hold records the process first
 */
export async function untilEnded(
  running: Promise<unknown> & { pid?: number | undefined },
  signal: AbortSignal,
  hold: (pid: number) => Promise<void>,
): Promise<void> {
  const { pid } = running;
  const stop = () => {
    if (pid !== undefined) void stopGroup(pid, running);
  };
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (pid !== undefined) await hold(pid);
    await running;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Ends a leftover process and all that it started, if it still has its id.
 * @throws Error where it does not end
 */
export async function endProcess({
  pid,
  started,
}: {
  pid: number;
  started: string;
}): Promise<void> {
  if ((await startTimeOf(pid)) !== started) return;
  // The process may lead no group, or somebody else has ended it by now.
  if (!signalProcess(-pid, "SIGKILL")) signalProcess(pid, "SIGKILL");
  const deadline = performance.now() + STOP_WITHIN_MS;
  while ((await startTimeOf(pid)) === started) {
    if (performance.now() > deadline) throw new Error("it does not end");
    await sleep(10);
  }
  await removeSocketsOf(pid);
}
