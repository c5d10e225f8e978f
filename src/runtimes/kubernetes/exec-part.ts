import { LineClient } from "../line-client.js";
import { PartOutput } from "../part-output.js";
import type { RunDelays } from "../run-delay.js";
import type { Exit, Part, PartCounters, RunningPart } from "../types.js";
import type { ExecProcess, KubernetesApi } from "./api.js";
import { CONTAINER } from "./pod.js";
import { commandLine, INPUT_COMMAND } from "./supervisor.js";

/** A short or interactive process in a pod that is there already. */
export class PodExecPart implements RunningPart {
  readonly role: string;
  readonly address = { host: "", port: 0 };
  readonly exited: Promise<Exit>;
  readonly onThisMachine = false;
  readonly machine?: string;
  readonly ask?: (line: string) => Promise<string | undefined>;
  readonly #output: PartOutput;
  readonly #process: ExecProcess;
  readonly #client: LineClient | undefined;

  private constructor(part: Part, process: ExecProcess, machine: string | undefined) {
    this.role = part.role;
    if (machine !== undefined) this.machine = machine;
    this.#process = process;
    this.#output = new PartOutput(process.stdout, process.stderr);
    const client = part.interactive ? new LineClient(process.stdin, process.stdout) : undefined;
    this.#client = client;
    if (client) this.ask = (line) => client.request(line);
    this.exited = process.exited.then((code) => {
      this.#output.finish();
      return code === undefined
        ? {
            code: null,
            signal: `the loss of the connection to its pod${machine ? ` on the node ${machine}` : ""}`,
          }
        : { code, signal: null };
    });
  }

  static async run(
    api: KubernetesApi,
    pod: { name: string; machine: string | undefined },
    part: Part,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<PodExecPart> {
    const process = await api.exec(pod.name, CONTAINER, ["/bin/sh", "-c", INPUT_COMMAND]);
    process.stdin.write(commandLine(command, environment));
    return new PodExecPart(part, process, pod.machine);
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

  counters(): Promise<PartCounters> {
    throw new Error("a process in another part's pod has no counters");
  }

  async runDelays(): Promise<RunDelays | undefined> {
    return undefined;
  }

  /** It ends with its input, or with its pod. */
  async stop(): Promise<void> {
    this.#client?.end();
    const timer = setTimeout(() => this.#process.close(), 2_000);
    timer.unref();
    this.exited.then(() => clearTimeout(timer));
  }
}
