import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { ROOT } from "./programs.js";
import type { StubBehaviour } from "./stub-program.js";

export type StubCounts = Record<
  "asked" | "answered" | "failed" | "cut" | "hung" | "limited" | "stalled" | "connections",
  number
>;

/** A foreign server as a process of its own. */
export class StubServer {
  readonly port: number;
  readonly #process: ChildProcess;

  private constructor(port: number, process: ChildProcess) {
    this.port = port;
    this.#process = process;
  }

  /** It ends with the test that starts it. */
  static async start(behaviour: StubBehaviour = {}): Promise<StubServer> {
    const stub = await StubServer.startForHook(behaviour);
    onTestFinished(() => stub.kill());
    return stub;
  }

  /** For a hook that several tests share: the caller kills it. */
  static async startForHook(behaviour: StubBehaviour): Promise<StubServer> {
    const program = ["--import", "tsx", "test/helpers/stub-program.ts", JSON.stringify(behaviour)];
    const child = spawn(process.execPath, program, {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return new StubServer(Number(line), child);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async counts(): Promise<StubCounts> {
    return (await (await fetch(`${this.url}/count`)).json()) as StubCounts;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  /**
   * Milliseconds of `count` requests one after the other, measured by as plain a client as can be.
   */
  async plainLatencies(count: number): Promise<number[]> {
    const socket = createConnection(this.port, "127.0.0.1").setNoDelay(true);
    await once(socket, "connect");
    const latencies: number[] = [];
    for (let index = 0; index < count; index++) {
      const began = process.hrtime.bigint();
      socket.write("GET /light HTTP/1.1\r\nHost: stub\r\n\r\n");
      let answer = "";
      while (!answer.includes("}")) answer += String((await once(socket, "data"))[0]);
      latencies.push(Number(process.hrtime.bigint() - began) / 1e6);
    }
    socket.destroy();
    return latencies.sort((a, b) => a - b);
  }
}
