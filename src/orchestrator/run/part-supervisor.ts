import type { Part, RunningPart } from "../../runtimes/types.js";

/** A part ended although the run needed it: the run failed, and this says which part and why. */
export class PartFailed extends Error {
  readonly role: string;

  constructor(role: string, text: string) {
    super(text);
    this.name = "PartFailed";
    this.role = role;
  }
}

/** The parts of one run: those that must live until it is over end it when they end. */
export class PartSupervisor {
  readonly start: (part: Part) => Promise<RunningPart>;
  readonly #needed: RunningPart[] = [];

  constructor(start: (part: Part) => Promise<RunningPart>) {
    this.start = start;
  }

  /** Starts all of them and waits for all, so that none comes up unnoticed after another has failed. */
  async startAll(parts: readonly Part[]): Promise<RunningPart[]> {
    const starting = parts.map(this.start);
    await Promise.allSettled(starting);
    return Promise.all(starting);
  }

  /** From now on the run cannot do without them. */
  watch(parts: readonly RunningPart[]): void {
    this.#needed.push(...parts);
  }

  /** Waits, unless a part that the run needs ends first. @throws PartFailed */
  async waitFor<Value>(waited: Promise<Value>): Promise<Value> {
    const endings = this.#needed.map(async (part) => {
      const { code, signal } = await part.exited;
      const last = part.lastLines().at(-1);
      throw new PartFailed(
        part.role,
        `ended during the run with ${code ?? signal}${last ? `: ${last}` : ""}`,
      );
    });
    return Promise.race<Value>([waited, ...endings]);
  }
}
