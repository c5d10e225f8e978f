import { createInterface } from "node:readline";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { finished } from "node:stream/promises";
import { deferred } from "./deferred.js";

/**
 * A function that writes lines to the input of a process which does not answer them. Lines after its
 * end are dropped.
 */
export function lineWriter(input: NodeJS.WritableStream): (line: string) => void {
  // A process may end before it has read a line, which is noticed elsewhere.
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

  /** Sends a line. @returns the answer, or undefined where the process ended without one */
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
 * The line that says why a program ended, which is that of a panic or else the last one. Go programs
 * print a panic before their stack.
 */
export const endMessage = (lines: readonly string[]): string | undefined =>
  lines.findLast((line) => line.startsWith("panic: ")) ?? lines.at(-1);

/** Whether a line has text. An empty line gives no reason. */
const isPrinted = (line: string): boolean => line.trim() !== "";

/** Keeps all of a part's standard output, and the last lines of its standard error. */
export class PartOutput {
  readonly #stdout: Buffer[] = [];
  readonly #lines: string[] = [];
  readonly #listeners: ((line: string) => void)[] = [];
  /** The unfinished last line of standard error. */
  #unfinishedLine = "";
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
      const lines = (this.#unfinishedLine + chunk).split("\n");
      this.#unfinishedLine = lines.pop() ?? "";
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

  /** Takes that both streams have ended, so that an unfinished last line counts as a line. */
  finish(): void {
    if (this.#unfinishedLine) this.#addLine(this.#unfinishedLine);
    this.#unfinishedLine = "";
  }

  #addLine(line: string): void {
    this.#first.resolve();
    if (isPrinted(line)) this.#lines.push(line);
    if (this.#lines.length > KEPT_LINES) this.#lines.shift();
    for (const listener of this.#listeners) listener(line);
  }
}

/** The output of a process whose two streams come in one, which others take apart. */
export class SplitOutput extends PartOutput {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
  /** Resolves once both streams have ended. */
  readonly ended: Promise<void>;

  constructor() {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    super(stdout, stderr);
    this.stdout = stdout;
    this.stderr = stderr;
    this.ended = Promise.all([finished(stdout), finished(stderr)]).then(() => this.finish());
  }

  /** Ends both streams. */
  end(): void {
    this.stdout.end();
    this.stderr.end();
  }

  /** Waits until the process has ended. @returns all of its standard output */
  async completeStdout(): Promise<string> {
    await this.ended;
    return this.stdoutText();
  }
}
