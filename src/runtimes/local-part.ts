import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import pidusage from "pidusage";
import { Dialogue } from "./dialogue.js";
import { startTimeOf } from "./process-identity.js";
import { readRunDelays } from "./run-delay.js";
import type { Exit, Part, Place, ProcessIdentity, RunningPart } from "./types.js";

const STOP_WITHIN_MS = 5_000;
const KEPT_LINES = 40;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** valkey-glide leaves its socket behind, in /tmp whatever TMPDIR says: whoever owns the process removes it. */
export async function removeSocketsOf(pid: number): Promise<void> {
  for (const folder of new Set(["/tmp", tmpdir()])) {
    const names = await readdir(folder).catch(() => []);
    const left = names.filter((name) => name.startsWith(`glide-socket-${pid}-`));
    await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
  }
}

/** Signals a process and all it started: each part leads a process group of its own. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Ends a process that leads a group, and all that it started: first politely. Resolves when it has `ended`. */
export async function stopGroup(pid: number, ended: Promise<unknown>): Promise<void> {
  signalGroup(pid, "SIGTERM");
  const inTime = await Promise.race([ended.then(() => true), sleep(STOP_WITHIN_MS).then(() => false)]);
  if (!inTime) signalGroup(pid, "SIGKILL");
  await ended;
}

/**
 * Ends a process that a campaign left behind, with all that it started. Whoever calls has seen that it is that process.
 * @throws Error when it cannot be ended
 */
export async function endProcess(pid: number): Promise<void> {
  const started = await startTimeOf(pid);
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It leads no group of its own.
    process.kill(pid, "SIGKILL");
  }
  const deadline = Date.now() + STOP_WITHIN_MS;
  while ((await startTimeOf(pid)) === started && started !== undefined) {
    if (Date.now() > deadline) throw new Error("it does not end");
    await sleep(10);
  }
  await removeSocketsOf(pid);
}

/** Starts a program with nothing but the given environment. */
export function spawnProgram(
  path: string,
  parameters: readonly string[],
  cwd: string,
  env: Record<string, string>,
  interactive: boolean,
) {
  return execa(path, [...parameters], {
    cwd,
    env,
    extendEnv: false,
    stdin: interactive ? "pipe" : "ignore",
    buffer: false,
    reject: false,
    // A group of its own: Ctrl-C on the terminal reaches the orchestrator alone, which then stops things in order.
    detached: true,
    cleanup: false,
  });
}
type Child = ReturnType<typeof spawnProgram>;

/** A process of this machine that leads a process group of its own. */
export class LocalPart implements RunningPart {
  readonly role: string;
  readonly address: { host: string; port: number };
  readonly process: Required<ProcessIdentity>;
  readonly exited: Promise<Exit>;
  readonly onThisMachine = true;
  readonly ask?: (line: string) => Promise<string | undefined>;
  readonly #child: Child;
  readonly #stdout: Buffer[] = [];
  readonly #lines: string[] = [];
  readonly #listeners: ((line: string) => void)[] = [];

  constructor(part: Part, place: Place, child: Child, process: LocalPart["process"]) {
    this.role = part.role;
    this.address = { host: place.host, port: place.port };
    this.process = process;
    this.#child = child;
    child.stdout.on("data", (chunk: Buffer) => this.#stdout.push(chunk));
    if (child.stdin) {
      const dialogue = new Dialogue(child.stdin, child.stdout);
      this.ask = (line) => dialogue.ask(line);
    }
    let rest = "";
    child.stderr.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#heard(line);
    });
    this.exited = child.then(({ exitCode, signal }) => {
      if (rest) this.#heard(rest);
      return { code: exitCode ?? null, signal: signal ?? null };
    });
  }

  onLine(listener: (line: string) => void): void {
    this.#listeners.push(listener);
  }

  async output(): Promise<string> {
    await this.exited;
    return Buffer.concat(this.#stdout).toString("utf8");
  }

  lastLines(): readonly string[] {
    const printed = Buffer.concat(this.#stdout).toString("utf8").trimEnd().split("\n");
    return this.#lines.length > 0 ? this.#lines : printed.slice(-KEPT_LINES);
  }

  async counters() {
    const { ctime, memory } = await pidusage(this.process.pid);
    return { cpu_us: Math.round(ctime * 1000), resident_bytes: memory };
  }

  runDelays() {
    return readRunDelays([this.process.pid]);
  }

  async stop(): Promise<void> {
    const { pid, folder } = this.process;
    await stopGroup(pid, this.#child);
    await removeSocketsOf(pid);
    await rm(folder, { recursive: true, force: true });
  }

  #heard(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}
