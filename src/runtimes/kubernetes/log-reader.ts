import { createHash } from "node:crypto";
import { Writable } from "node:stream";

/** What the supervisor says in the log. */
export type SupervisorMessage =
  | { is: "started" }
  | { is: "down" }
  /** Standard output, whole: by the log, or to be fetched. */
  | { is: "output"; bytes: number; sha256: string; text?: Buffer }
  | { is: "end"; code: number; forMemory: boolean };

const NEWLINE = 0x0a;

export class LogReader extends Writable {
  readonly #mark: string;
  readonly #onStderr: (chunk: Buffer) => void;
  readonly #onMessage: (message: SupervisorMessage) => void;
  #rest = Buffer.alloc(0);
  /** Standard output that is being read: how many bytes are expected, and those so far. */
  #output: { bytes: number; sha256: string; chunks: Buffer[]; missing: number } | undefined;
  /** An empty line that may belong to a message that follows it. */
  #emptyLine = false;
  #bytes = 0;

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

  /** Bytes of the log that were read. A log that is followed again begins after them. */
  get bytes(): number {
    return this.#bytes;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#bytes += chunk.length;
    this.#read(chunk);
    done();
  }

  #read(given: Buffer): void {
    let chunk = given;
    while (chunk.length > 0) {
      if (this.#output) {
        const part = chunk.subarray(0, this.#output.missing);
        this.#output.chunks.push(part);
        this.#output.missing -= part.length;
        chunk = chunk.subarray(part.length);
        if (this.#output.missing === 0) this.#endOutput();
        continue;
      }
      const at = chunk.indexOf(NEWLINE);
      if (at < 0) {
        this.#rest = Buffer.concat([this.#rest, chunk]);
        return;
      }
      const line = Buffer.concat([this.#rest, chunk.subarray(0, at)]);
      this.#rest = Buffer.alloc(0);
      chunk = chunk.subarray(at + 1);
      this.#readLine(line);
    }
  }

  #endOutput(): void {
    if (!this.#output) return;
    const { bytes, sha256, chunks } = this.#output;
    this.#output = undefined;
    const text = Buffer.concat(chunks);
    const isWhole = createHash("sha256").update(text).digest("hex") === sha256;
    this.#onMessage({ is: "output", bytes, sha256, ...(isWhole ? { text } : {}) });
  }

  #readLine(line: Buffer): void {
    const words = line.length < 256 ? line.toString("utf8").split(" ") : [];
    if (words[0] !== this.#mark) {
      if (this.#emptyLine) this.#onStderr(Buffer.from("\n"));
      this.#emptyLine = line.length === 0;
      if (!this.#emptyLine) this.#onStderr(Buffer.concat([line, Buffer.from("\n")]));
      return;
    }
    // The supervisor begins a line of its own: an unfinished line of the program is then a line, an empty one nothing.
    this.#emptyLine = false;
    const [, is, first = "", second = ""] = words;
    if (is === "started" || is === "down") this.#onMessage({ is });
    else if (is === "stored") this.#onMessage({ is: "output", bytes: Number(first), sha256: second });
    else if (is === "end")
      this.#onMessage({ is: "end", code: Number(first), forMemory: second === "memory" });
    else if (is === "output") {
      this.#output = { bytes: Number(first), sha256: second, chunks: [], missing: Number(first) };
      if (this.#output.missing === 0) this.#endOutput();
    }
  }
}
