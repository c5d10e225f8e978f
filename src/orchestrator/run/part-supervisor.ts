import type { Part, RunningPart } from "../../runtimes/types.js";

/** The run failed because a part did. */
export class PartFailed extends Error {
  readonly role: string;

  constructor(role: string, text: string) {
    super(text);
    this.name = "PartFailed";
    this.role = role;
  }
}

/** Starts the parts of one run and fails the run when a watched part ends early. */
export class PartSupervisor {
  readonly start: (part: Part) => Promise<RunningPart>;
  readonly #watched: RunningPart[] = [];

  constructor(start: (part: Part) => Promise<RunningPart>) {
    this.start = start;
  }

  /** Starts all parts and waits for all, so that none starts unnoticed after another has failed. */
  async startAll(parts: readonly Part[]): Promise<RunningPart[]> {
    const starting = parts.map(this.start);
    await Promise.allSettled(starting);
    return Promise.all(starting);
  }

  /** From now on the run fails when one of these parts ends. */
  watch(parts: readonly RunningPart[]): void {
    this.#watched.push(...parts);
  }

  /** Waits for `work`. @throws PartFailed when a watched part ends first */
  async waitFor<Value>(work: Promise<Value>): Promise<Value> {
    const endings = this.#watched.map(async (part) => {
      const { code, signal } = await part.exited;
      const last = part.lastLines().at(-1);
      throw new PartFailed(
        part.role,
        `ended during the run with ${code ?? signal}${last ? `: ${last}` : ""}`,
      );
    });
    return Promise.race<Value>([work, ...endings]);
  }
}
