import { deferred } from "./deferred.js";
import type { PartOutput } from "./part-output.js";
import type { Exit } from "./runtime-types.js";

/** A part that can be killed and started again, in any runtime. */
export abstract class RestartablePart {
  readonly role: string;
  /** The output of the part; undefined before it is started. */
  abstract readonly printed: PartOutput | undefined;
  readonly #end = deferred<Exit>();
  readonly exited = this.#end.promise;
  protected readonly ended = this.#end.resolve;
  isDown = false;
  protected isStopped = false;

  constructor(role: string) {
    this.role = role;
  }

  onLine(listener: (line: string) => void): void {
    this.printed?.onLine(listener);
  }

  lastLines(): readonly string[] {
    return this.printed?.lastLines() ?? [];
  }

  async restart(onBegun: () => Promise<void>): Promise<void> {
    this.refuseIfStopped();
    try {
      await this.startAgain(onBegun);
      this.refuseIfStopped();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Starts the part again. If somebody stops the part meanwhile, the new process ends, too. */
  protected abstract startAgain(onBegun: () => Promise<void>): Promise<void>;
  abstract stop(): Promise<void>;

  protected refuseIfStopped(): void {
    if (this.isStopped) throw new Error(`${this.role} was stopped`);
  }
}
