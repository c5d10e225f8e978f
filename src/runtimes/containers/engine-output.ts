import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import type Docker from "dockerode";
import { PartOutput } from "../part-output.js";

/** The output of a process in a container: the engine sends both outputs in one stream. */
export class EngineOutput extends PartOutput {
  /** Standard output as it arrives. */
  readonly stdout: PassThrough;
  readonly #ended: Promise<void>;
  readonly #end: () => void;

  constructor(docker: Docker, stream: NodeJS.ReadableStream) {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    super(stdout, stderr);
    this.stdout = stdout;
    docker.modem.demuxStream(stream, stdout, stderr);
    const end = () => {
      stdout.end();
      stderr.end();
    };
    this.#end = () => {
      // The engine may never end it.
      (stream as NodeJS.ReadableStream & { destroy?(): void }).destroy?.();
      end();
    };
    for (const event of ["end", "close", "error"]) stream.once(event, end);
    this.#ended = Promise.all([finished(stdout), finished(stderr)]).then(() => this.finish());
  }

  /** All of standard output; resolves when the process has ended. */
  async completeStdout(): Promise<string> {
    await this.#ended;
    return this.stdoutText();
  }

  /** Ends it here: nothing more is expected from the engine. */
  cut(): void {
    this.#end();
  }
}
