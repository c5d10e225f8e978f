import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { execa } from "execa";
import { environmentError, inOneLine, lastLine } from "../../../kit/errors.js";
import { freePort } from "../../../runtimes/local/ports.js";
import { stopTree } from "../../../runtimes/local/process-tree.js";
import { LEADS_ITS_GROUP } from "../../../runtimes/processes.js";
import type { Command } from "./commands.js";

/** An app that an audit starts and stops itself. */
export interface AppSettings {
  command: Command;
  /** How many of it run side by side. */
  instances: number;
  /** Variables beside PORT and those that this process has. */
  env: Readonly<Record<string, string>>;
}

interface Place {
  signal: AbortSignal;
  /** Records a process that leads its group, so that it is stopped even if this process is killed. */
  holdProcess(pid: number): Promise<void>;
  /** Takes a line that an instance printed. */
  log(line: string): void;
}

const HOST = "127.0.0.1";
const STARTED_WITHIN_S = 60;
const ASK_AGAIN_MS = 50;

/** Instances of an app, each with a port and a process group of its own. */
export class StartedApp {
  readonly #instances: Instance[] = [];

  /**
   * Starts the instances, and waits until each accepts connections at the port that PORT names.
   * @throws environmentError where one ends before that, or takes too long; the reason of the signal
   */
  static async start(settings: AppSettings, place: Place): Promise<StartedApp> {
    const app = new StartedApp();
    try {
      for (let left = settings.instances; left > 0; left--)
        app.#instances.push(await Instance.start(settings, place));
      await Promise.all(app.#instances.map((instance) => instance.untilAnswering(place.signal)));
      return app;
    } catch (error) {
      await app.stop();
      throw error;
    }
  }

  get origins(): string[] {
    return this.#instances.map(({ origin }) => origin);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#instances.map((instance) => instance.stop()));
  }
}

const spawned = ({ command: { words }, env }: AppSettings, port: number) => {
  const [program = "", ...parameters] = words;
  return execa(program, parameters, {
    env: { ...env, PORT: String(port) },
    stdin: "ignore",
    all: true,
    ...LEADS_ITS_GROUP,
  });
};

class Instance {
  readonly origin: string;
  readonly #flag: string;
  readonly #port: number;
  readonly #child: ReturnType<typeof spawned>;
  #printed = "";
  #end: string | undefined;

  private constructor(settings: AppSettings, port: number, log: Place["log"]) {
    this.#flag = settings.command.flag;
    this.#port = port;
    this.origin = `http://${HOST}:${port}`;
    this.#child = spawned(settings, port);
    this.#child.all.setEncoding("utf8").on("data", (text: string) => {
      this.#printed = (this.#printed + text).slice(-2_000);
      log(inOneLine(text));
    });
    void this.#child.then(({ exitCode, signal, originalMessage }) => {
      this.#end = String(exitCode ?? signal ?? originalMessage);
    });
  }

  static async start(settings: AppSettings, { holdProcess, log }: Place): Promise<Instance> {
    const instance = new Instance(settings, await freePort(), log);
    const { pid } = instance.#child;
    if (pid !== undefined) await holdProcess(pid);
    return instance;
  }

  /** Waits until something accepts connections at the port. No request is sent: it would count. */
  async untilAnswering(signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + 1000 * STARTED_WITHIN_S;
    while (!(await isListening(this.#port))) {
      signal.throwIfAborted();
      const printed = lastLine(this.#printed) ?? "it printed nothing";
      if (this.#end !== undefined)
        throw environmentError(`${this.#flag} ended with ${this.#end}: ${printed}`);
      if (performance.now() > deadline)
        throw environmentError(
          `${this.#flag} does not listen at the port that PORT names (${this.#port}) within ${STARTED_WITHIN_S} s: ${printed}`,
        );
      await delay(ASK_AGAIN_MS);
    }
  }

  async stop(): Promise<void> {
    const { pid } = this.#child;
    if (pid !== undefined) await stopTree(pid, this.#child);
  }
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, HOST);
    const settle = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once("error", () => settle(false));
    socket.once("connect", () => settle(true));
  });
