import { rm } from "node:fs/promises";
import { execa } from "execa";
import pidusage from "pidusage";
import type { Node } from "../../contract/env.js";
import { LineClient, lineWriter } from "../line-client.js";
import type { PartOutput } from "../part-output.js";
import { removeSocketsOf, stopGroup } from "../processes.js";
import { readRunDelays } from "../run-delay.js";
import type { Exit, Part, PartAllocation, ProcessIdentity, RunningPart } from "../types.js";

/** Starts a program with exactly the given environment. */
export function spawnProgram(
  path: string,
  parameters: readonly string[],
  cwd: string,
  env: Record<string, string>,
  stdin: "pipe" | "ignore",
) {
  return execa(path, [...parameters], {
    cwd,
    env,
    extendEnv: false,
    stdin,
    buffer: false,
    reject: false,
    // A group of its own: Ctrl-C on the terminal reaches the orchestrator alone, which then stops things in order.
    detached: true,
    cleanup: false,
  });
}
type Child = ReturnType<typeof spawnProgram>;

/** A process of this machine that leads its own process group. */
export class LocalPart implements RunningPart {
  readonly role: string;
  readonly address: Node;
  readonly process: Required<ProcessIdentity>;
  readonly exited: Promise<Exit>;
  readonly onThisMachine = true;
  readonly ask?: (line: string) => Promise<string | undefined>;
  readonly write?: (line: string) => void;
  readonly #child: Child;
  readonly #output: PartOutput;

  constructor(
    part: Part,
    allocation: PartAllocation,
    child: Child,
    output: PartOutput,
    process: LocalPart["process"],
  ) {
    this.role = part.role;
    const { host, port, ports } = allocation;
    this.address = { host, port, ...(Object.keys(ports).length > 0 ? { ports } : {}) };
    this.process = process;
    this.#child = child;
    this.#output = output;
    if (part.interactive && child.stdin) {
      const client = new LineClient(child.stdin, child.stdout);
      this.ask = (line) => client.request(line);
    } else if (child.stdin) {
      this.write = lineWriter(child.stdin);
    }
    this.exited = child.then(({ exitCode, signal }) => {
      this.#output.finish();
      return { code: exitCode ?? null, signal: signal ?? null };
    });
  }

  onLine(listener: (line: string) => void): void {
    this.#output.onLine(listener);
  }

  async output(): Promise<string> {
    await this.exited;
    return this.#output.stdoutText();
  }

  lastLines(): readonly string[] {
    return this.#output.lastLines();
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
}
