import { ExecutedPart } from "../exec-part.js";
import { LineClient, PartOutput } from "../part-output.js";
import type { Exit, Part } from "../runtime-types.js";
import type { KubernetesApi } from "./kubernetes-api.js";
import { CONTAINER } from "./pod.js";
import type { ExecProcess } from "./pod-connections.js";
import { commandLine, INPUT_COMMAND } from "./supervisor.js";

const CLOSE_AFTER_MS = 2_000;

/** A program that runs in a pod beside the pod's own, by exec. */
export class PodExecPart extends ExecutedPart {
  readonly exited: Promise<Exit>;
  readonly #process: ExecProcess;

  private constructor(part: Part, process: ExecProcess, machine: string | undefined) {
    const output = new PartOutput(process.stdout, process.stderr);
    const client = part.interactive ? new LineClient(process.stdin, process.stdout) : undefined;
    super(part, machine, output, client);
    this.#process = process;
    this.exited = process.exited.then((code) => {
      output.finish();
      return exitOf(code, machine);
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

  /** It ends with its input, or with its pod. */
  async stop(): Promise<void> {
    this.client?.end();
    const timer = setTimeout(() => this.#process.close(), CLOSE_AFTER_MS);
    timer.unref();
    this.exited.then(() => clearTimeout(timer));
  }
}

/** @param code absent where the connection was lost before the program ended */
function exitOf(code: number | undefined, machine: string | undefined): Exit {
  if (code !== undefined) return { code, signal: null };
  const node = machine ? ` on the node ${machine}` : "";
  return { code: null, signal: `the loss of the connection to its pod${node}` };
}
