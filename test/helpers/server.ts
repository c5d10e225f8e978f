import { type ChildProcess, spawn } from "node:child_process";
import { Agent, get, type IncomingHttpHeaders } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  type Health,
  healthSchema,
  type Usage,
  usageSchema,
} from "../../src/contract/server-api.js";
import { definedOnly } from "../../src/kit/defined-only.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** How a server process ended. */
export interface End {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** The server as a process of its own, as the harness starts it. */
export class TestServer {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  readonly #output = { stdout: "", stderr: "" };
  readonly process: ChildProcess;
  readonly ended: Promise<End>;
  url = "";

  private constructor(process: ChildProcess) {
    this.process = process;
    process.stdout?.on("data", (text) => {
      this.#output.stdout += text;
    });
    process.stderr?.on("data", (text) => {
      this.#output.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      process.once("close", (code) => resolve({ code, ...this.#output }));
    });
  }

  /** Starts it and does not wait: for servers that are to fail. */
  static spawn(environment: Record<string, string>): TestServer {
    const child = spawn(process.execPath, ["dist/server/index.js"], {
      cwd: ROOT,
      env: { PATH: process.env.PATH, PORT: "0", ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    return new TestServer(child);
  }

  /** Starts it and waits until it says its address. @throws Error with what it said instead */
  static async start(environment: Record<string, string>): Promise<TestServer> {
    const server = TestServer.spawn(environment);
    const { stdout } = server.process;
    if (!stdout) throw new Error("no standard output");
    const line = new Promise<string>((resolve) =>
      createInterface({ input: stdout }).once("line", resolve),
    );
    const first = await Promise.race([line, server.ended]);
    if (typeof first !== "string")
      throw new Error(`the server ended with ${first.code}: ${first.stderr}`);
    server.url = (JSON.parse(first) as { url: string }).url;
    return server;
  }

  /** @param signal aborts the request: the client goes away */
  request(path: string, signal?: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const options = definedOnly({ agent: this.#agent, signal });
      const request = get(`${this.url}${path}`, options, (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (text) => {
          body += text;
        });
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
        );
      });
      request.on("error", reject);
    });
  }

  /** The statuses of `count` requests that are all open at once. */
  statuses(count: number, path: (n: number) => string): Promise<number[]> {
    const requests = Array.from(
      { length: count },
      async (_, n) => (await this.request(path(n))).status,
    );
    return Promise.all(requests);
  }

  async health(): Promise<Health> {
    return healthSchema.parse(JSON.parse((await this.request("/healthz")).body));
  }

  async usage(): Promise<Usage> {
    return usageSchema.parse(JSON.parse((await this.request("/usage")).body));
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<End> {
    this.process.kill(signal);
    const end = await this.ended;
    this.#agent.destroy();
    return end;
  }
}
