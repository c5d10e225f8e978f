import { setTimeout as sleep } from "node:timers/promises";
import { measuredKinds, type RoleKind } from "../../contract/role.js";
import type { NodePlace } from "../../kit/env.js";
import { BenchError, EXIT, environmentError } from "../../kit/errors.js";
import { rounded } from "../../kit/numbers.js";
import { endMessage } from "../../runtimes/part-output.js";
import type { Part, RunningPart, Runtime } from "../../runtimes/runtime-types.js";
import type { Lease } from "../ownership/lease.js";
import type { Role } from "./layout.js";

export class PartFailed extends Error {
  readonly role: string;

  constructor(role: string, text: string) {
    super(text);
    this.name = "PartFailed";
    this.role = role;
  }
}

export interface RunningRole extends Pick<Role, "id" | "kind"> {
  part: RunningPart;
}

/** The machine of each role; empty where they all run on one. */
export function placementOf(parts: readonly RunningPart[]): { placement?: Record<string, string> } {
  const placement: Record<string, string> = {};
  for (const { role, machine } of parts) {
    const isMeasured = measuredKinds.some((kind) => role.startsWith(`${kind}-`));
    if (machine !== undefined && isMeasured) placement[role] = machine;
  }
  return Object.keys(placement).length > 0 ? { placement } : {};
}

/** The error with the troubles of the machines; the error itself where all of them answer. */
export async function withTroubles(
  error: unknown,
  parts: readonly RunningPart[],
): Promise<unknown> {
  const isOfPart = error instanceof PartFailed;
  if (!isOfPart && !(error instanceof BenchError && error.exitCode === EXIT.environment))
    return error;

  const troubles = new Map<string, string>();
  const ask = async (part: RunningPart): Promise<void> => {
    const trouble = await part.trouble?.();
    if (trouble !== undefined) troubles.set(part.machine ?? part.role, `${part.role}: ${trouble}`);
  };
  await Promise.all(parts.map(ask));
  if (troubles.size === 0) return error;
  const text = [error.message, ...troubles.values()].join("; ");
  return isOfPart ? new PartFailed(error.role, text) : environmentError(text, { cause: error });
}

/** The place where the parts of a run are started, and the log that gets their lines. */
export interface PartPlace {
  runtime: Runtime;
  lease: Lease;
  log(role: string, line: string): void;
  /** The name of the run among several that are up at once; absent where there is only one. */
  run?: string;
}

export interface RunParts {
  supervisor: PartSupervisor;
  startPart(part: Part): Promise<RunningPart>;
  started: readonly RunningPart[];
}

/** Lets `use` start parts, and stops all of them whatever happens. */
export async function withParts<Value>(
  roles: readonly Role[],
  { runtime, lease, log, run }: PartPlace,
  use: (parts: RunParts) => Promise<Value>,
): Promise<Value> {
  const started: RunningPart[] = [];
  const startPart = async (part: Part): Promise<RunningPart> => {
    const running = await lease.start(runtime, run === undefined ? part : { ...part, run });
    started.push(running);
    running.onLine((line) => log(part.role, line));
    return running;
  };
  const supervisor = new PartSupervisor(roles, startPart);
  try {
    return await use({ supervisor, startPart, started });
  } catch (error) {
    throw await withTroubles(await supervisor.causeOf(error), started);
  } finally {
    await lease.release(started);
  }
}

/** The time until an end is noticed. A part that fails because of it may be noticed before. */
const NOTICED_WITHIN_MS = 500;

async function ending({ id, part }: RunningRole): Promise<PartFailed> {
  const { code, signal } = await part.exited;
  const lastLine = endMessage(part.lastLines());
  const reason = lastLine ? `: ${lastLine}` : "";
  return new PartFailed(id, `ended during the run with ${code ?? signal}${reason}`);
}

/**
 * Starts the roles of one run. The run fails where a required role ends early, unless a fault has
 * killed it.
 */
export class PartSupervisor {
  readonly #roles: readonly Role[];
  readonly #startPart: (part: Part) => Promise<RunningPart>;
  readonly #places = new Map<string, NodePlace>();
  readonly #watched: RunningRole[] = [];
  readonly #started: RunningRole[] = [];
  readonly #readyS = new Map<string, number>();

  constructor(roles: readonly Role[], startPart: (part: Part) => Promise<RunningPart>) {
    this.#roles = roles;
    this.#startPart = startPart;
  }

  async start(...kinds: RoleKind[]): Promise<RunningRole[]> {
    const started = new Map<string, RunningRole>();
    const requested = this.#roles.filter(({ kind }) => kinds.includes(kind));
    while (started.size < requested.length) {
      const isNext = ({ id, dependsOn }: Role): boolean =>
        !started.has(id) && dependsOn.every((other) => this.#places.has(other));
      const wave = requested.filter(isNext);
      if (wave.length === 0) throw new Error(`${kinds.join(", ")} depend on what was not started`);
      for (const role of await this.#startWave(wave)) started.set(role.id, role);
    }
    return requested.flatMap(({ id }) => started.get(id) ?? []);
  }

  get places(): ReadonlyMap<string, NodePlace> {
    return this.#places;
  }

  roles(kindOrId: string): RunningRole[] {
    return this.#started.filter(({ id, kind }) => id === kindOrId || kind === kindOrId);
  }

  readyS(kind: RoleKind): Record<string, number> {
    return Object.fromEntries(this.roles(kind).map(({ id }) => [id, this.#readyS.get(id) ?? 0]));
  }

  /**
   * Starts roles at the same time, and waits for all of them, so that none starts unnoticed after
   * another has failed.
   */
  async #startWave(wave: readonly Role[]): Promise<RunningRole[]> {
    const starting = wave.map(async (role) => {
      const { id, kind } = role;
      const began_ms = performance.now();
      const part = await this.#startPart({ ...role.part(this.#places), kind });
      this.#readyS.set(id, rounded((performance.now() - began_ms) / 1000, 3));
      return { id, kind, part };
    });
    await Promise.allSettled(starting);
    const started = await Promise.all(starting);
    for (const { id, part } of started) this.#places.set(id, part.address);
    this.#started.push(...started);
    const required = wave.filter((role) => role.required).map(({ id }) => id);
    this.#watched.push(...started.filter(({ id }) => required.includes(id)));
    return started;
  }

  /**
   * Waits for some work.
   * @param mayEnd whether the end of a part is a result of this work
   * @throws PartFailed where another part ends first
   */
  async waitFor<Value>(
    work: Promise<Value>,
    mayEnd: (role: RunningRole) => boolean = () => false,
  ): Promise<Value> {
    const watched = this.#watched.filter((role) => !mayEnd(role));
    const endings = watched.map(async (role) => {
      throw await ending(role);
    });
    return Promise.race<Value>([work, ...endings]);
  }

  /** The end of a store or service because of which another part failed; otherwise the failure. */
  async causeOf(failure: unknown): Promise<unknown> {
    const isOfStart = failure instanceof BenchError && failure.exitCode === EXIT.environment;
    if (!isOfStart && !(failure instanceof PartFailed)) return failure;

    const failedRole = failure instanceof PartFailed ? failure.role : "";
    if (failedRole.startsWith("store")) return failure;

    const kinds = failedRole.startsWith("service") ? ["store"] : ["store", "service"];
    // A part that is down was ended by a fault on purpose.
    const candidates = this.#watched.filter(
      ({ kind, part }) => kinds.includes(kind) && !part.isDown,
    );
    const end = await Promise.race([...candidates.map(ending), sleep(NOTICED_WITHIN_MS)]);
    if (!end) return failure;

    const texts = [end.message, failedRole, failure.message].filter(Boolean);
    return new PartFailed(end.role, texts.join("; "));
  }
}
