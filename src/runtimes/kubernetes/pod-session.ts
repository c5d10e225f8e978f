import { randomBytes } from "node:crypto";
import type { KubernetesApi } from "./kubernetes-api.js";
import { CONTAINER } from "./pod.js";
import type { ExecProcess } from "./pod-connections.js";
import { sessionCommand } from "./supervisor.js";

/** The time for an answer, which is enough for a busy node. Only one that hangs takes longer. */
const ANSWER_WITHIN_MS = 15_000;
const SEE_NODES = ": see `kubectl get nodes`, then run again";

class CommandFailed extends Error {}

/** A shell in a pod that runs short commands, one after the other, on one connection. */
export class PodSession {
  readonly #api: KubernetesApi;
  readonly #pod: string;
  readonly #nodeOf: () => string;
  #connection: Promise<SessionConnection> | undefined;
  /** Settles when the last command has ended. */
  #lastCommand: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  /** @param nodeOf names the node of the pod, which is known once it runs */
  constructor(api: KubernetesApi, pod: string, nodeOf: () => string) {
    this.#api = api;
    this.#pod = pod;
    this.#nodeOf = nodeOf;
  }

  /**
   * Runs a command line of the shell. @returns what it printed
   * @throws Error where it failed, or no answer came in time
   */
  run(line: string): Promise<string> {
    const command = this.#lastCommand.then(() => this.#runOnce(line));
    this.#lastCommand = command.catch(() => {});
    return command;
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  async #runOnce(line: string): Promise<string> {
    if (this.#isClosed) throw new Error("its pod is gone");
    this.#connection ??= this.#connect();
    try {
      const connection = await this.#connection;
      const { printed, code } = await connection.ask(line);
      if (code !== 0) throw new CommandFailed(`a command in its pod ended with ${code}`);
      return printed;
    } catch (error) {
      // The next command makes a new connection.
      if (!(error instanceof CommandFailed)) {
        this.#disconnect();
        this.#connection = undefined;
      }
      throw error;
    }
  }

  async #connect(): Promise<SessionConnection> {
    const process = await this.#api.exec(this.#pod, CONTAINER, ["/bin/sh"]);
    return new SessionConnection(process, this.#nodeOf());
  }

  #disconnect(): void {
    this.#connection?.then((connection) => connection.close()).catch(() => {});
  }
}

/** A connection to a shell, which answers one command at a time. */
class SessionConnection {
  readonly #process: ExecProcess;
  /** The place of the shell as a text for messages. */
  readonly #place: string;
  readonly #mark = randomBytes(9).toString("hex");
  /** The output of the shell that nobody has taken yet, in which a character is a byte. */
  #text = "";
  #onText: () => void = () => {};
  #hasEnded = false;

  constructor(process: ExecProcess, node: string) {
    this.#process = process;
    this.#place = `its pod on the node ${node}`;
    process.stderr.resume();
    process.stdout.on("data", (chunk: Buffer) => {
      this.#text += chunk.toString("latin1");
      this.#onText();
    });
    process.exited.then(() => {
      this.#hasEnded = true;
      this.#onText();
    });
  }

  ask(line: string): Promise<{ printed: string; code: number }> {
    this.#process.stdin.write(sessionCommand(this.#mark, line));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#onText = () => {};
        const limit_s = ANSWER_WITHIN_MS / 1000;
        reject(new Error(`${this.#place} did not answer within ${limit_s} s${SEE_NODES}`));
      }, ANSWER_WITHIN_MS);

      this.#onText = () => {
        const answer = this.#takeAnswer();
        if (!answer && !this.#hasEnded) return;
        clearTimeout(timer);
        this.#onText = () => {};
        if (answer) resolve(answer);
        else reject(new Error(`the connection to ${this.#place} was lost${SEE_NODES}`));
      };
      this.#onText();
    });
  }

  /** The answer to a command; undefined while it is not complete. */
  #takeAnswer(): { printed: string; code: number } | undefined {
    const end = new RegExp(`\\n${this.#mark} (\\d+)\\n`).exec(this.#text);
    if (!end) return undefined;
    const printed = Buffer.from(this.#text.slice(0, end.index), "latin1").toString("utf8");
    this.#text = this.#text.slice(end.index + end[0].length);
    return { printed, code: Number(end[1]) };
  }

  close(): void {
    this.#process.stdin.end();
    this.#process.close();
  }
}
