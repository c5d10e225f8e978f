import type { Exit } from "./types.js";

/** What parts that can be killed and started again have in common in all runtimes. */
export abstract class RestartablePart {
  readonly role: string;
  readonly exited: Promise<Exit>;
  isDown = false;
  protected isStopped = false;
  protected ended: (exit: Exit) => void = () => {};

  constructor(role: string) {
    this.role = role;
    this.exited = new Promise((resolve) => {
      this.ended = resolve;
    });
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

  /** Whoever stops the part meanwhile ends the new process, too. */
  protected abstract startAgain(onBegun: () => Promise<void>): Promise<void>;
  abstract stop(): Promise<void>;

  protected refuseIfStopped(): void {
    if (this.isStopped) throw new Error(`${this.role} was stopped`);
  }
}
