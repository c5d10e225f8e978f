import { randomBytes } from "node:crypto";
import type { ExecProcess, KubernetesApi } from "./api.js";
import { sessionCommand } from "./supervisor.js";

/** Long enough for a node that is busy: only one that hangs takes longer. */
const ANSWER_WITHIN_MS = 15_000;
const SEE_NODES = ": see `kubectl get nodes`, then run again";

/** A shell in a pod that runs short commands, one after the other, at the cost of one connection. */
export class PodSession {
  readonly #open: () => Promise<ExecProcess>;
  #connection: Promise<Connection> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  readonly #nodeOf: () => string;

  constructor(api: KubernetesApi, pod: string, container: string, nodeOf: () => string) {
    this.#open = () => api.exec(pod, container, ["/bin/sh"]);
    this.#nodeOf = nodeOf;
  }

  /** What a command line of the shell printed. @throws Error when it failed, or no answer came in time */
  run(line: string): Promise<string> {
    const work = this.#last.then(() => this.#runOnce(line));
    this.#last = work.catch(() => {});
    return work;
  }

  async #runOnce(line: string): Promise<string> {
    if (this.#isClosed) throw new Error("its pod is gone");
    this.#connection ??= this.#open().then((process) => new Connection(process, this.#nodeOf()));
    try {
      const connection = await this.#connection;
      const { printed, code } = await connection.ask(line);
      if (code !== 0) throw new CommandFailed(`a command in its pod ended with ${code}`);
      return printed;
    } catch (error) {
      // The next command makes a new connection.
      if (!(error instanceof CommandFailed)) {
        this.#connection?.then((connection) => connection.close()).catch(() => {});
        this.#connection = undefined;
      }
      throw error;
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.then((connection) => connection.close()).catch(() => {});
  }
}

class CommandFailed extends Error {}

class Connection {
  readonly #process: ExecProcess;
  readonly #mark = randomBytes(9).toString("hex");
  #text = "";
  #onText: () => void = () => {};
  readonly #place: string;
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
    const end = new RegExp(`\\n${this.#mark} (\\d+)\\n`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#onText = () => {};
        reject(new Error(`${this.#place} did not answer within ${ANSWER_WITHIN_MS / 1000} s${SEE_NODES}`));
      }, ANSWER_WITHIN_MS);
      this.#onText = () => {
        const found = end.exec(this.#text);
        if (!found && !this.#hasEnded) return;
        clearTimeout(timer);
        this.#onText = () => {};
        if (!found) return reject(new Error(`the connection to ${this.#place} was lost${SEE_NODES}`));
        const printed = Buffer.from(this.#text.slice(0, found.index), "latin1").toString("utf8");
        this.#text = this.#text.slice(found.index + found[0].length);
        resolve({ printed, code: Number(found[1]) });
      };
      this.#onText();
    });
  }

  close(): void {
    this.#process.stdin.end();
    this.#process.close();
  }
}
