import { ExecutedPart } from "../exec-part.js";
import { LineClient } from "../line-client.js";
import { PartOutput } from "../part-output.js";
import type { Exit, Part } from "../types.js";
import type { ExecProcess, KubernetesApi } from "./api.js";
import { CONTAINER } from "./pod.js";
import { commandLine, INPUT_COMMAND } from "./supervisor.js";

export class PodExecPart extends ExecutedPart {
  readonly exited: Promise<Exit>;
  readonly #process: ExecProcess;

  private constructor(part: Part, process: ExecProcess, machine: string | undefined) {
    const output = new PartOutput(process.stdout, process.stderr);
    super(
      part,
      machine,
      output,
      part.interactive ? new LineClient(process.stdin, process.stdout) : undefined,
    );
    this.#process = process;
    this.exited = process.exited.then((code) => {
      output.finish();
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

  /** It ends with its input, or with its pod. */
  async stop(): Promise<void> {
    this.client?.end();
    const timer = setTimeout(() => this.#process.close(), 2_000);
    timer.unref();
    this.exited.then(() => clearTimeout(timer));
  }
}
