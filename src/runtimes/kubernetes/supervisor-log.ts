import { hash } from "node:crypto";
import { Writable } from "node:stream";
import { definedOnly } from "../../kit/defined-only.js";

/** What the supervisor says in the log. */
export type SupervisorMessage =
  | { is: "started" }
  | { is: "down" }
  /** Standard output, whole: by the log, or to be fetched. */
  | { is: "output"; bytes: number; sha256: string; text?: Buffer }
  | { is: "end"; code: number; forMemory: boolean };

/** Standard output that is being read. */
interface ExpectedOutput {
  bytes: number;
  sha256: string;
  chunks: Buffer[];
  /** Bytes that have not come yet. */
  missing: number;
}

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);
/** In bytes. A longer line is the program's. */
const LONGEST_MESSAGE = 256;

/** Takes the log of a pod apart into the program's standard error and the supervisor's messages. */
export class LogReader extends Writable {
  readonly #mark: string;
  readonly #onStderr: (chunk: Buffer) => void;
  readonly #onMessage: (message: SupervisorMessage) => void;
  /** The beginning of a line whose end has not come yet. */
  #lineStart = NOTHING;
  #output: ExpectedOutput | undefined;
  /** Whether the last line was empty, and so may belong to a message that follows it. */
  #hasEmptyLine = false;
  /** Bytes of the log that were read. A log that is followed again begins after them. */
  bytes = 0;

  constructor(
    mark: string,
    onStderr: (chunk: Buffer) => void,
    onMessage: (message: SupervisorMessage) => void,
  ) {
    super();
    this.#mark = mark;
    this.#onStderr = onStderr;
    this.#onMessage = onMessage;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.bytes += chunk.length;
    this.#read(chunk);
    done();
  }

  #read(chunk: Buffer): void {
    let unread = chunk;
    while (unread.length > 0) {
      unread = this.#output ? this.#readOutput(this.#output, unread) : this.#readToNewline(unread);
    }
  }

  /** @returns the bytes behind the output */
  #readOutput(output: ExpectedOutput, bytes: Buffer): Buffer {
    const part = bytes.subarray(0, output.missing);
    output.chunks.push(part);
    output.missing -= part.length;
    if (output.missing === 0) this.#endOutput(output);
    return bytes.subarray(part.length);
  }

  /** @returns the bytes behind the line; none where the line does not end yet */
  #readToNewline(bytes: Buffer): Buffer {
    const end = bytes.indexOf(NEWLINE);
    if (end < 0) {
      this.#lineStart = Buffer.concat([this.#lineStart, bytes]);
      return NOTHING;
    }

    const line = Buffer.concat([this.#lineStart, bytes.subarray(0, end)]);
    this.#lineStart = NOTHING;
    this.#readLine(line);
    return bytes.subarray(end + 1);
  }

  #endOutput({ bytes, sha256, chunks }: ExpectedOutput): void {
    this.#output = undefined;
    const text = Buffer.concat(chunks);
    // A text that is not whole is fetched instead.
    const isWhole = hash("sha256", text) === sha256;
    this.#onMessage({
      is: "output",
      bytes,
      sha256,
      ...definedOnly({ text: isWhole ? text : undefined }),
    });
  }

  #readLine(line: Buffer): void {
    const words = line.length < LONGEST_MESSAGE ? line.toString("utf8").split(" ") : [];
    if (words[0] !== this.#mark) {
      this.#passOn(line);
      return;
    }

    // The supervisor begins a line of its own: an unfinished line of the program is then a line, an
    // empty one nothing.
    this.#hasEmptyLine = false;
    this.#readMessage(words.slice(1));
  }

  /** Passes a line of the program's standard error on. */
  #passOn(line: Buffer): void {
    if (this.#hasEmptyLine) this.#onStderr(Buffer.from("\n"));
    this.#hasEmptyLine = line.length === 0;
    if (!this.#hasEmptyLine) this.#onStderr(Buffer.concat([line, Buffer.from("\n")]));
  }

  #readMessage([is, first = "", second = ""]: string[]): void {
    switch (is) {
      case "started":
      case "down":
        this.#onMessage({ is });
        break;
      case "stored":
        this.#onMessage({ is: "output", bytes: Number(first), sha256: second });
        break;
      case "end":
        this.#onMessage({ is, code: Number(first), forMemory: second === "memory" });
        break;
      case "output":
        this.#beginOutput(Number(first), second);
    }
  }

  #beginOutput(bytes: number, sha256: string): void {
    this.#output = { bytes, sha256, chunks: [], missing: bytes };
    if (bytes === 0) this.#endOutput(this.#output);
  }
}
