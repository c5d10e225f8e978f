import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type Manifest, manifestSchema } from "../../src/contract/manifest.js";
import {
  type MeasuredResult,
  measuredResultSchema,
  type Result,
  resultSchema,
} from "../../src/contract/result.js";
import { leaseSchema } from "../../src/orchestrator/ownership/state-folder.js";
import { endProcess, startTimeOf } from "../../src/runtimes/processes.js";
import { type Ended, ROOT } from "./programs.js";

/** A process that the campaign started, as its lease names it. */
interface Held {
  pid: number;
  started: string;
  role: string;
}

/** What a campaign of the tests is asked for, unless it asks for something else: a list given twice is joined. */
const QUICK: Readonly<Record<string, string>> = {
  "--duration-mode": "custom:1",
  "--concurrency": "8",
  "--warmup": "0.5",
  "--cooldown": "0",
  "--runs": "1",
  // Also where an engine answers, which `auto` would take.
  "--runtime": "local",
};
const quick = (flags: readonly string[]): string[] =>
  Object.entries(QUICK).flatMap(([name, value]) => (flags.includes(name) ? [] : [name, value]));

/** What the state folder is for; `overheads.json` is what campaigns have learnt of the machine. */
const KEPT = ["leases", "overheads.json"];

/** Said of the machine before the first run: whether it is depends on who else works there, and no campaign's doing. */
const OF_THE_MACHINE = /^Other programs use [\d.]+ of this machine's [^\n]+ \(M25\)\n/m;

const CLI = [process.execPath, join(ROOT, "dist/orchestrator/cli.js")];

/**
 * The command line as a user starts it, with a state folder, a results root and a folder for temporary files of its
 * own (each with a space in its name), so that what it leaves can be seen whoever else works on this machine.
 */
export class Campaign {
  readonly root: string;
  readonly ended: Promise<Ended>;
  readonly #process: ChildProcess;
  readonly #held = new Map<number, Held>();
  readonly #output = { stdout: "", stderr: "" };
  #over = false;

  private constructor(home: string, command: readonly string[], env: Readonly<Record<string, string>>) {
    this.root = home;
    for (const folder of [this.state, this.temporary]) mkdirSync(folder, { recursive: true });
    this.#process = spawn(command[0] ?? "", command.slice(1), {
      cwd: home,
      env: {
        PATH: process.env.PATH,
        XDG_STATE_HOME: this.state,
        TMPDIR: this.temporary,
        RUNTIME: "local",
        ...env,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process.stdout?.on("data", (text) => {
      this.#output.stdout += text;
    });
    this.#process.stderr?.on("data", (text) => {
      this.#output.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      this.#process.once("close", (code) => {
        this.#over = true;
        const { stdout, stderr } = this.#output;
        resolve({ code, stdout, stderr: stderr.replace(OF_THE_MACHINE, "") });
      });
    });
    const watching = this.#watch();
    onTestFinished(async () => {
      this.signal("SIGKILL");
      await watching;
      for (const { pid } of await this.left()) await endProcess(pid).catch(() => {});
    });
  }

  /** Any command of the CLI, in a fresh home. */
  static command(
    home: string,
    parameters: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Campaign {
    return new Campaign(home, [...CLI, ...parameters], env);
  }

  /** One of the project's scripts. */
  static script(home: string, name: string, env: Readonly<Record<string, string>>): Campaign {
    return new Campaign(home, [join(ROOT, "scripts", name)], env);
  }

  /** A campaign of short runs; flags that are given win. */
  static run(
    home: string,
    clients: string,
    flags: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ) {
    const output = ["--output", join(home, "results root")];
    return new Campaign(
      home,
      [...CLI, "run", "--clients", clients, "--seed", "1", ...quick(flags), ...output, ...flags],
      env,
    );
  }

  /** As `run`, where no file can become larger than so many KiB: as on a disk that is full. */
  static onFullDisk(home: string, kib: number, parameters: readonly string[]): Campaign {
    return new Campaign(
      home,
      ["bash", "-c", `trap '' XFSZ; ulimit -f ${kib}; exec "$@"`, "bash", ...CLI, ...parameters],
      {},
    );
  }

  /** Goes on with a campaign of that home. */
  static resume(
    home: string,
    flags: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Campaign {
    const output = ["--output", join(home, "results root")];
    return new Campaign(home, [...CLI, "run", "--resume", ...output, ...flags], env);
  }

  /** What it said of other programs on this machine, if it did. */
  get saidOfMachine(): string | undefined {
    return OF_THE_MACHINE.exec(this.#output.stderr)?.[0];
  }

  get state(): string {
    return join(this.root, "state home");
  }

  get temporary(): string {
    return join(this.root, "temporary files");
  }

  get #leases(): string {
    return join(this.state, "ratelimit-bench", "leases");
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Nobody reads standard output any more. */
  closeOutput(): void {
    this.#process.stdout?.destroy();
  }

  /** The campaign's folder. */
  get folder(): string {
    const root = join(this.root, "results root");
    const [name] = existsSync(root) ? readdirSync(root).filter((entry) => /^\d{8}_\d{6}$/.test(entry)) : [];
    return join(root, name ?? "none yet");
  }

  /** Waits until it has said that on standard error. */
  async says(text: string): Promise<void> {
    while (!this.#output.stderr.includes(text)) {
      if (this.#over) throw new Error(`ended without a word of ${text}: ${JSON.stringify(this.#output)}`);
      await delay(10);
    }
  }

  /** Waits until the log has so many lines that end so. */
  async reaches(text: string, times = 1): Promise<void> {
    const log = () => {
      const path = join(this.folder, "benchmark.log");
      return existsSync(path) ? readFileSync(path, "utf8") : "";
    };
    while (log().split(`${text}\n`).length <= times) {
      if (this.#over) throw new Error(`ended before ${text}: ${JSON.stringify(this.#output)}`);
      await delay(20);
    }
  }

  /** The process of the part with this role, once there is one. */
  async part(role: string): Promise<number> {
    for (;;) {
      const found = [...this.#held.values()].find((held) => held.role === role);
      if (found) return found.pid;
      if (this.#over) throw new Error(`ended without a ${role}: ${JSON.stringify(this.#output)}`);
      await delay(20);
    }
  }

  get manifest(): Manifest {
    return manifestSchema.parse(JSON.parse(readFileSync(join(this.folder, "manifest.json"), "utf8")));
  }

  /** All results, by file name; each passes the schema. */
  get results(): Map<string, Result> {
    const names = readdirSync(this.folder).filter((name) => /_run\d+\.json$/.test(name));
    return new Map(
      names
        .sort()
        .map((name) => [name, resultSchema.parse(JSON.parse(readFileSync(join(this.folder, name), "utf8")))]),
    );
  }

  get measured(): MeasuredResult[] {
    return [...this.results.values()].map((result) => measuredResultSchema.parse(result));
  }

  /** What standard error must say of its suspect runs, and nothing where it has none. */
  get suspectsTold(): string {
    const suspects = this.measured.filter(({ verdict }) => verdict.status === "suspect");
    const rules = new Set(suspects.flatMap(({ verdict }) => verdict.reasons.map(({ rule }) => rule)));
    if (suspects.length === 0) return "";
    const named = [...rules].sort().join(", ");
    const of = `${this.measured.length} run${this.measured.length === 1 ? "" : "s"}`;
    const are = suspects.length === 1 ? "is" : "are";
    return `${suspects.length} of ${of} ${are} suspect (${named}): the report says why\n`;
  }

  /** Processes that were started and still live. */
  async left(): Promise<Held[]> {
    const alive = await Promise.all(
      [...this.#held.values()].map(async (held) =>
        (await startTimeOf(held.pid)) === held.started ? [held] : [],
      ),
    );
    return alive.flat();
  }

  /** All that may be left behind: processes, sockets, temporary files, leases and locks. */
  async traces(): Promise<string[]> {
    const left = (await this.left()).map(({ pid, role }) => `process ${pid} (${role})`);
    const sockets = readdirSync("/tmp").filter((name) =>
      [...this.#held.keys()].some((pid) => name.startsWith(`glide-socket-${pid}-`)),
    );
    const state = join(this.state, "ratelimit-bench");
    const files = [this.temporary, this.#leases, state]
      .filter(existsSync)
      .flatMap((folder) => readdirSync(folder).filter((name) => !KEPT.includes(name)));
    return [...left, ...sockets, ...files];
  }

  /** How many processes were seen. */
  get seen(): number {
    return this.#held.size;
  }

  /** Notes every process that stands in a lease. */
  async #watch(): Promise<void> {
    while (!this.#over) {
      const names = existsSync(this.#leases) ? readdirSync(this.#leases) : [];
      // What is still being written is no lease yet.
      for (const name of names) if (name.endsWith(".json")) this.#note(join(this.#leases, name));
      await delay(20);
    }
  }

  #note(path: string): void {
    try {
      for (const { pid, started, folder } of leaseSchema.parse(JSON.parse(readFileSync(path, "utf8")))
        .processes) {
        const role = folder ? basename(folder).replace(/-[^-]*$/, "") : "helper";
        this.#held.set(pid, { pid, started, role });
      }
    } catch {
      // It was given back in this moment.
    }
  }
}
