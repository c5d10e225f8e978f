import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { askDirectly } from "../src/kit/direct-http.js";
import { freePort } from "../src/runtimes/local/ports.js";
import { TestStore } from "../test/helpers/store.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const reporter = fileURLToPath(new URL("./cpu-reporter.mjs", import.meta.url));

/** A server process that reports its CPU time; all scripts run with the same Node flags. */
export class MeasuredServer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  /**
   * @param script relative to the project's folder @param path that answers when the server is
   *   ready
   */
  static async start(
    script: string,
    env: Record<string, string>,
    path: string,
  ): Promise<MeasuredServer> {
    const port = await freePort();
    const child = spawn(process.execPath, ["--import", reporter, script], {
      cwd: root,
      env: { PATH: process.env.PATH, NODE_ENV: "production", PORT: String(port), ...env },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const server = new MeasuredServer(child, port);
    for (let attempt = 0; attempt < 400; attempt++) {
      if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`);
      const up = await askDirectly(server.url + path, { timeout_ms: 2_000 }).then(
        ({ status }) => status === 200,
        () => false,
      );
      if (up) return server;
      await sleep(25);
    }
    child.kill();
    throw new Error(`${script} did not become ready`);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** CPU time since its start, in microseconds. */
  async cpuUs(): Promise<number> {
    const { user, system } = await this.ask<NodeJS.CpuUsage>("cpu", "user");
    return user + system;
  }

  /** Asks the process, and resolves with its message that has this member. */
  async ask<Answer extends object>(question: string, member: keyof Answer): Promise<Answer> {
    const answer = new Promise<Answer>((resolve) => {
      const onMessage = (message: unknown) => {
        if (typeof message !== "object" || message === null || !(member in message)) return;
        this.#child.off("message", onMessage);
        resolve(message as Answer);
      };
      this.#child.on("message", onMessage);
    });
    this.#child.send(question);
    return answer;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/** A server with a store of its own. */
export async function withStore(
  script: string,
  mode: string,
): Promise<MeasuredServer & { store: TestStore }> {
  const store = await TestStore.start();
  const port = String(store.port);
  const places = {
    VALKEY_HOST: "127.0.0.1",
    VALKEY_PORT: port,
    REDIS_HOST: "127.0.0.1",
    REDIS_PORT: port,
  };
  const env = { MODE: mode, RATE_LIMIT_POINTS: "1000000", ...places };
  const server = await MeasuredServer.start(script, env, "/light").catch(async (error) => {
    await store.stop();
    throw error;
  });
  const stop = server.stop.bind(server);
  return Object.assign(server, { store, stop: () => stop().finally(() => store.stop()) });
}

/**
 * Runs a program of the project that prints one JSON document.
 * @param onLine called for each line on standard error
 */
export async function runProgram(
  script: string,
  env: Record<string, string>,
  onLine: (line: string) => void = () => {},
): Promise<unknown> {
  const child = spawn(process.execPath, [script], {
    cwd: root,
    env: { PATH: process.env.PATH, NODE_ENV: "production", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  let last = "";
  createInterface({ input: child.stderr }).on("line", (line) => {
    last = line;
    onLine(line);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${last}`);
  return JSON.parse(output);
}

/** Computes statistics with the code of the report. */
export async function statistics(request: unknown): Promise<Record<string, number>> {
  const python = spawn(`${root}.venv/bin/python`, [`${root}report`, "statistics"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  python.stdout.on("data", (chunk) => {
    output += chunk;
  });
  python.stdin.end(JSON.stringify(request));
  const [code] = await once(python, "close");
  if (code !== 0) throw new Error(`the statistics ended with ${code}`);
  return JSON.parse(output) as Record<string, number>;
}
