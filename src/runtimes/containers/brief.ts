import type Docker from "dockerode";
import { Dialogue } from "../dialogue.js";
import type { RunDelays } from "../run-delay.js";
import type { Exit, Part, PartCounters, RunningPart } from "../types.js";
import { Outputs } from "./streams.js";

/** A process in a container that stays: for what does little and ends, a container of its own costs too much. */
export class BriefPart implements RunningPart {
  readonly role: string;
  readonly address = { host: "", port: 0 };
  readonly exited: Promise<Exit>;
  readonly onThisMachine = false;
  readonly ask?: (line: string) => Promise<string | undefined>;
  readonly #outputs: Outputs;
  readonly #dialogue: Dialogue | undefined;

  private constructor(part: Part, exec: Docker.Exec, outputs: Outputs, dialogue: Dialogue | undefined) {
    this.role = part.role;
    this.#outputs = outputs;
    this.#dialogue = dialogue;
    if (dialogue) this.ask = (line) => dialogue.ask(line);
    this.exited = outputs
      .stdout()
      .then(() => exec.inspect())
      .then(
        ({ ExitCode }) => ({ code: ExitCode, signal: null }),
        (error) => ({ code: null, signal: `the loss of its container (${error})` }),
      );
  }

  static async run(
    docker: Docker,
    container: Docker.Container,
    part: Part,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<BriefPart> {
    const interactive = part.interactive === true;
    const exec = await container.exec({
      Cmd: [...command],
      Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
      AttachStdin: interactive,
      AttachStdout: true,
      AttachStderr: true,
    });
    // Only a connection that is taken over carries input.
    const stream = await exec.start(interactive ? { hijack: true, stdin: true } : {});
    const outputs = new Outputs(docker, stream);
    return new BriefPart(
      part,
      exec,
      outputs,
      interactive ? new Dialogue(stream, outputs.printed) : undefined,
    );
  }

  onLine(listener: (line: string) => void): void {
    this.#outputs.onLine(listener);
  }

  output(): Promise<string> {
    return this.#outputs.stdout();
  }

  lastLines(): readonly string[] {
    return this.#outputs.lastLines();
  }

  counters(): Promise<PartCounters> {
    throw new Error("a brief part has no counters of its own");
  }

  async runDelays(): Promise<RunDelays | undefined> {
    return undefined;
  }

  /** It ends by itself, with its input, or with its container: an engine cannot end a process inside one. */
  async stop(): Promise<void> {
    this.#dialogue?.end();
  }
}
