import type Docker from "dockerode";
import { SplitOutput } from "../part-output.js";

export class EngineOutput extends SplitOutput {
  readonly #stream: NodeJS.ReadableStream & { destroy?(): void };

  constructor(docker: Docker, stream: NodeJS.ReadableStream) {
    super();
    this.#stream = stream;
    docker.modem.demuxStream(stream, this.stdout, this.stderr);
    for (const event of ["end", "close", "error"]) stream.once(event, () => this.end());
  }

  /** Ends it here: nothing more is expected from the engine, which may never end it. */
  cut(): void {
    this.#stream.destroy?.();
    this.end();
  }
}
