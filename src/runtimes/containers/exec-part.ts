import type Docker from "dockerode";
import { messageOf } from "../../contract/errors.js";
import { ExecutedPart } from "../exec-part.js";
import { LineClient } from "../line-client.js";
import type { Exit, Part } from "../types.js";
import { EngineOutput } from "./engine-output.js";
import type { PartEngine } from "./part.js";

type Engine = Pick<PartEngine, "connection" | "machine">;

/** A process that the engine executes in a running container, which is cheaper than a container of its own. */
export class ExecPart extends ExecutedPart {
  readonly exited: Promise<Exit>;
  readonly #unfollow: () => void;

  private constructor(
    part: Part,
    { connection, machine }: Engine,
    exec: Docker.Exec,
    output: EngineOutput,
    client: LineClient | undefined,
  ) {
    super(part, machine, output, client);
    // Whoever waits for an answer then gets none, instead of waiting on.
    this.#unfollow = connection.onLost(() => output.cut());
    this.exited = output
      .completeStdout()
      .then(() => exec.inspect())
      .finally(() => this.#unfollow())
      .then(
        ({ ExitCode }) => ({ code: ExitCode, signal: null }),
        (error) => ({ code: null, signal: `the loss of its container (${messageOf(error)})` }),
      );
  }

  static async run(
    engine: Engine,
    container: Docker.Container,
    part: Part,
    command: readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<ExecPart> {
    const interactive = part.interactive === true;
    const exec = await container.exec({
      Cmd: [...command],
      Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
      AttachStdin: interactive,
      AttachStdout: true,
      AttachStderr: true,
    });
    // Only a hijacked connection carries input.
    const stream = await exec.start(interactive ? { hijack: true, stdin: true } : {});
    const output = new EngineOutput(engine.connection.docker, stream);
    return new ExecPart(
      part,
      engine,
      exec,
      output,
      interactive ? new LineClient(stream, output.stdout) : undefined,
    );
  }

  /** It ends by itself, with its input, or with its container: the engine's API cannot end a process in a container. */
  async stop(): Promise<void> {
    this.client?.end();
    this.#unfollow();
  }
}
