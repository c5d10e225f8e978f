import { rm } from "node:fs/promises";
import { execa } from "execa";
import pidusage from "pidusage";
import { definedOnly } from "../../kit/defined-only.js";
import type { NodePlace } from "../../kit/env.js";
import { environmentError } from "../../kit/errors.js";
import { EarlierCounters } from "../earlier-counters.js";
import { LineClient, lineWriter, PartOutput } from "../part-output.js";
import {
  identityOf,
  LEADS_ITS_GROUP,
  removeSocketsOf,
  signalGroup,
  stopGroup,
} from "../processes.js";
import { waitUntilReady } from "../readiness.js";
import { RestartablePart } from "../restartable-part.js";
import { FineCpuTime, readRunDelays } from "../run-delay.js";
import type {
  Part,
  PartAllocation,
  PartCounters,
  ProcessIdentity,
  RunningPart,
} from "../runtime-types.js";
import { processTree, stopTree, treeCounters } from "./process-tree.js";

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
    ...LEADS_ITS_GROUP,
  });
}
type Child = ReturnType<typeof spawnProgram>;

export interface Launch {
  spawn(): Child;
  isAnswered(): Promise<boolean>;
  path: string;
}

function pidOf(child: Child, path: string): number {
  if (child.pid === undefined) throw environmentError(`${path} cannot be started`);
  return child.pid;
}

export class LocalPart extends RestartablePart implements RunningPart {
  readonly address: NodePlace;
  readonly onThisMachine = true;
  readonly isInOurGroups = true;
  readonly ask?: (line: string) => Promise<string | undefined>;
  readonly write?: (line: string) => void;
  readonly #launch: Launch;
  readonly #hasProcessTree: boolean;
  readonly printed: PartOutput;
  readonly #earlier = new EarlierCounters();
  #cpuTime = new FineCpuTime();
  #child: Child;
  #end: Promise<unknown> = Promise.resolve();
  #identity: Required<ProcessIdentity>;
  #isPaused = false;

  private constructor(
    part: Part,
    allocation: PartAllocation,
    launch: Launch,
    child: Child,
    identity: LocalPart["process"],
    printed: PartOutput,
  ) {
    super(part.role);
    const { host, port, ports } = allocation;
    const hasNamedPorts = Object.keys(ports).length > 0;
    this.address = definedOnly({ host, port, ports: hasNamedPorts ? ports : undefined });
    this.#launch = launch;
    this.#hasProcessTree = part.hasProcessTree === true;
    this.#child = child;
    this.#identity = identity;
    this.printed = printed;
    if (part.interactive && child.stdin) {
      const client = new LineClient(child.stdin, child.stdout);
      this.ask = (line) => client.request(line);
    } else if (child.stdin) {
      this.write = lineWriter(child.stdin);
    }
    this.#watch(child);
  }

  static async begin(part: Part, allocation: PartAllocation, launch: Launch): Promise<LocalPart> {
    const child = launch.spawn();
    // The output is followed at once, because lines from before that would be lost.
    const output = new PartOutput(child.stdout, child.stderr);
    const identity = {
      ...(await identityOf(pidOf(child, launch.path))),
      folder: allocation.folder,
    };
    return new LocalPart(part, allocation, launch, child, identity, output);
  }

  get process(): Required<ProcessIdentity> {
    return this.#identity;
  }

  async output(): Promise<string> {
    await this.exited;
    return this.printed.stdoutText();
  }

  async counters(): Promise<PartCounters> {
    return this.#earlier.plus(await this.#ownCounters());
  }

  async #ownCounters(): Promise<PartCounters> {
    const { pid } = this.process;
    const cpuTime = this.#cpuTime;
    const [counted, threads] = await Promise.all([
      this.#hasProcessTree ? treeCounters(pid) : processCounters(pid),
      this.runDelays(),
    ]);
    return { ...counted, cpu_us: cpuTime.at(counted.cpu_us, threads) };
  }

  async runDelays() {
    const { pid } = this.process;
    if (!this.#hasProcessTree) return readRunDelays([pid]);
    return readRunDelays((await processTree(pid)).map((member) => member.pid));
  }

  async kill(): Promise<void> {
    const { pid } = this.process;
    const { cpu_us } = await this.#ownCounters();
    this.#earlier.keep({ cpu_us, resident_bytes: 0 });
    this.isDown = true;
    signalGroup(pid, "SIGKILL");
    await this.#child;
    await removeSocketsOf(pid);
  }

  protected async startAgain(onBegun: () => Promise<void>): Promise<void> {
    const child = this.#launch.spawn();
    this.#child = child;
    this.#cpuTime = new FineCpuTime();
    this.isDown = false;
    this.printed.follow(child.stdout, child.stderr);
    this.#watch(child);
    this.#identity = { ...this.#identity, pid: pidOf(child, this.#launch.path), started: "" };
    this.#identity = { ...this.#identity, ...(await identityOf(this.#identity.pid)) };
    await onBegun();
    await waitUntilReady(this, () => this.#launch.isAnswered());
  }

  async pause(): Promise<void> {
    this.#isPaused = true;
    signalGroup(this.process.pid, "SIGSTOP");
  }

  async resume(): Promise<void> {
    signalGroup(this.process.pid, "SIGCONT");
    this.#isPaused = false;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    const { pid, folder } = this.process;
    if (!this.isDown) {
      // A stopped process gets no signal but SIGKILL.
      if (this.#isPaused) await this.resume();
      const stop = this.#hasProcessTree ? stopTree : stopGroup;
      await stop(pid, this.#end);
      await removeSocketsOf(pid);
    }
    this.ended({ code: null, signal: "SIGKILL" });
    await rm(folder, { recursive: true, force: true });
  }

  /**
   * How a process has ended. Its output may stay open for longer, where it has started others that
   * outlive it.
   */
  #endOf(child: Child): Promise<Pick<Awaited<Child>, "exitCode" | "signal">> {
    if (!this.#hasProcessTree) return child;
    return new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) =>
        resolve(definedOnly({ exitCode: code ?? undefined, signal: signal ?? undefined }));
      // On a busy machine it may have ended before anyone could listen.
      if (child.exitCode !== null || child.signalCode !== null)
        end(child.exitCode, child.signalCode);
      else child.once("exit", end);
    });
  }

  #watch(child: Child): void {
    const end = this.#endOf(child);
    this.#end = end;
    end.then(({ exitCode, signal }) => {
      this.printed.finish();
      if (!this.isDown) this.ended({ code: exitCode ?? null, signal: signal ?? null });
    });
  }
}

async function processCounters(pid: number): Promise<PartCounters> {
  const { ctime, memory } = await pidusage(pid);
  return { cpu_us: Math.round(ctime * 1000), resident_bytes: memory };
}
