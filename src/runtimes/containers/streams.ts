import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import type Docker from "dockerode";

const KEPT_LINES = 40;

/** What a process prints, from the engine's one stream of both outputs. */
export class Outputs {
  readonly #stdout: Buffer[] = [];
  readonly #lines: string[] = [];
  readonly #listeners: ((line: string) => void)[] = [];
  #spoke: () => void = () => {};
  /** Resolves with the first output of any kind. */
  readonly spoken = new Promise<void>((resolve) => {
    this.#spoke = resolve;
  });
  readonly #ended: Promise<unknown>;
  /** Standard output as it comes. */
  readonly printed = new PassThrough();

  constructor(docker: Docker, stream: NodeJS.ReadableStream) {
    const stdout = this.printed;
    const stderr = new PassThrough();
    let rest = "";
    stdout.on("data", (chunk: Buffer) => {
      this.#stdout.push(chunk);
      this.#spoke();
    });
    stderr.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#heard(line);
    });
    docker.modem.demuxStream(stream, stdout, stderr);
    const finish = () => {
      stdout.end();
      stderr.end();
    };
    for (const event of ["end", "close", "error"]) stream.once(event, finish);
    this.#ended = Promise.all([finished(stdout), finished(stderr)]).then(() => {
      if (rest) this.#heard(rest);
    });
  }

  onLine(listener: (line: string) => void): void {
    this.#listeners.push(listener);
  }

  /** All of standard output; resolves when the process has ended. */
  async stdout(): Promise<string> {
    await this.#ended;
    return Buffer.concat(this.#stdout).toString("utf8");
  }

  lastLines(): readonly string[] {
    const printed = Buffer.concat(this.#stdout).toString("utf8").trimEnd().split("\n");
    return this.#lines.length > 0 ? this.#lines : printed.slice(-KEPT_LINES);
  }

  #heard(line: string): void {
    this.#spoke();
    this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}
