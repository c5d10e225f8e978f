import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const reporter = fileURLToPath(new URL("./cpu-reporter.mjs", import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** A server process that tells its CPU time; the same Node flags whatever it runs. */
export class MeasuredServer {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.url = `http://127.0.0.1:${port}`;
  }

  /** @param script relative to the project's folder @param path that answers once it is up */
  static async start(script: string, env: Record<string, string>, path: string): Promise<MeasuredServer> {
    const port = await freePort();
    const child = spawn(process.execPath, ["--import", reporter, script], {
      cwd: root,
      env: { PATH: process.env.PATH, NODE_ENV: "production", PORT: String(port), ...env },
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const server = new MeasuredServer(child, port);
    for (let attempt = 0; attempt < 400; attempt++) {
      if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}`);
      const up = await fetch(server.url + path).then(
        (response) => response.ok,
        () => false,
      );
      if (up) return server;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    child.kill();
    throw new Error(`${script} did not come up`);
  }

  /** Microseconds of CPU since it started. */
  async cpuUs(): Promise<number> {
    const answer = new Promise<NodeJS.CpuUsage>((resolve) => {
      const onMessage = (message: unknown) => {
        if (typeof message !== "object" || message === null || !("user" in message)) return;
        this.#child.off("message", onMessage);
        resolve(message as NodeJS.CpuUsage);
      };
      this.#child.on("message", onMessage);
    });
    this.#child.send("cpu");
    const { user, system } = await answer;
    return user + system;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}

/**
 * Runs a program of the project's that prints one JSON document.
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
  let rest = "";
  child.stderr.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(line);
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${rest}`);
  return JSON.parse(output);
}

/** Asks the statistics of the report, which hold all of them once. */
export async function statistics(question: unknown): Promise<Record<string, number>> {
  const python = spawn(`${root}.venv/bin/python`, [`${root}report`, "statistics"], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  let output = "";
  python.stdout.on("data", (chunk) => {
    output += chunk;
  });
  python.stdin.end(JSON.stringify(question));
  const [code] = await once(python, "close");
  if (code !== 0) throw new Error(`the statistics ended with ${code}`);
  return JSON.parse(output) as Record<string, number>;
}
