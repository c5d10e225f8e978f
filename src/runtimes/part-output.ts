import { createInterface } from "node:readline";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { deferred } from "./deferred.js";

/**
 * Writes lines to the input of a process that does not answer them; lines that come after its end
 * are dropped.
 */
export function lineWriter(input: NodeJS.WritableStream): (line: string) => void {
  // A process may end before it has read a line. Its end is seen elsewhere.
  input.on("error", () => {});
  return (line) => {
    if (input.writable) input.write(`${line}\n`);
  };
}

/** Talks to a process that answers each line of its input with one line of its output. */
export class LineClient {
  readonly #input: Writable;
  readonly #waiting: ((line: string | undefined) => void)[] = [];
  #hasEnded = false;

  constructor(input: Writable, output: Readable) {
    this.#input = input;
    // When the process ends, its output ends too, which is handled below.
    input.on("error", () => {});
    const lines = createInterface({ input: output });
    lines.on("line", (line) => this.#waiting.shift()?.(line));
    lines.once("close", () => {
      this.#hasEnded = true;
      for (const answer of this.#waiting.splice(0)) answer(undefined);
    });
  }

  /** Sends a line. @returns the answer, or undefined when the process ended without one */
  request(line: string): Promise<string | undefined> {
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#input.write(`${line}\n`);
    });
  }

  end(): void {
    this.#input.end();
  }
}

const KEPT_LINES = 40;

/**
 * The line that says why a program ended: that of a panic, which Go programs print before their
 * stack, else the last one.
 */
export const endMessage = (lines: readonly string[]): string | undefined =>
  lines.findLast((line) => line.startsWith("panic: ")) ?? lines.at(-1);

/** An empty line gives no reason. */
const isPrinted = (line: string): boolean => line.trim() !== "";

/** The output of a part: all of its standard output, and the last lines of its standard error. */
export class PartOutput {
  readonly #stdout: Buffer[] = [];
  readonly #lines: string[] = [];
  readonly #listeners: ((line: string) => void)[] = [];
  /** The unfinished last line of standard error. */
  #rest = "";
  readonly #first = deferred();
  readonly firstOutput = this.#first.promise;

  constructor(stdout: Readable, stderr: Readable) {
    this.follow(stdout, stderr);
  }

  /** Adds the output of a process, e.g. of one that replaces the first. */
  follow(stdout: Readable, stderr: Readable): void {
    stdout.on("data", (chunk: Buffer) => {
      this.#stdout.push(chunk);
      this.#first.resolve();
    });
    stderr.on("data", (chunk: Buffer) => {
      const lines = (this.#rest + chunk).split("\n");
      this.#rest = lines.pop() ?? "";
      for (const line of lines) this.#addLine(line);
    });
  }

  onLine(listener: (line: string) => void): void {
    for (const line of this.#lines) listener(line);
    this.#listeners.push(listener);
  }

  stdoutText(): string {
    return Buffer.concat(this.#stdout).toString("utf8");
  }

  lastLines(): readonly string[] {
    if (this.#lines.length > 0) return this.#lines;
    return this.stdoutText().split("\n").filter(isPrinted).slice(-KEPT_LINES);
  }

  /** Both streams have ended: an unfinished last line counts as a line. */
  finish(): void {
    if (this.#rest) this.#addLine(this.#rest);
    this.#rest = "";
  }

  #addLine(line: string): void {
    this.#first.resolve();
    if (isPrinted(line)) this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}

/** The output of a process whose two streams come in one, which is taken apart. */
export class SplitOutput extends PartOutput {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** Resolves once both streams have ended. */
  readonly ended: Promise<void>;

  constructor() {
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    super(stdout, stderr);
    this.stdout = stdout;
    this.stderr = stderr;
    this.ended = Promise.all([finished(stdout), finished(stderr)]).then(() => this.finish());
  }

  /** Nothing more comes. */
  end(): void {
    this.stdout.end();
    this.stderr.end();
  }

  /** All of standard output; resolves when the process has ended. */
  async completeStdout(): Promise<string> {
    await this.ended;
    return this.stdoutText();
  }
}
