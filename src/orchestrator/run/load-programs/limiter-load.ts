import type { PrintedResult } from "../../../contract/result.js";
import { DEFAULT_KEY_PREFIX } from "../../../contract/server-env.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { sum } from "../../../kit/numbers.js";
import type { LoadProgram, LoadWork } from "../../../targets/load-programs/load-program.js";
import { findLoadProgram } from "../../../targets/load-programs/load-programs.js";
import { describeClient } from "../../../targets/resolve.js";
import { callsOf } from "../../plan/load-program-targets.js";
import { GENERATOR } from "../layout.js";
import { PartFailed } from "../part-supervisor.js";
import type { RunSettings } from "../run-settings.js";
import type { RunStore, StoreSide } from "../store/run-store.js";
import type { ProgramEvidence, ProgramFigures, ProgramLoad } from "./program-load.js";

/** The load of a program that calls a service, or a store that decides, as a client does. */
export class LimiterLoad implements ProgramLoad {
  readonly program: string;
  readonly runsFor: LoadProgram["runsFor"];
  readonly moreAtMost: number;
  readonly #loadProgram: LoadProgram;
  readonly #settings: RunSettings;
  readonly #store: RunStore;
  readonly #work: LoadWork;
  readonly #files: Readonly<Record<string, string>>;
  #after: StoreSide = {};

  constructor(settings: RunSettings, store: RunStore) {
    const { target, load } = settings.configuration;
    this.#loadProgram = findLoadProgram(target.program ?? "");
    this.#settings = settings;
    this.#store = store;
    this.#work = workOf(this.#loadProgram, settings, store);
    this.#files = this.#loadProgram.files(this.#work);
    const { id, runsFor, opensWith } = this.#loadProgram;
    this.program = id;
    this.runsFor = runsFor;
    // Requests under way when the program ended had reached the service.
    this.moreAtMost = opensWith + (runsFor === "time" ? load.connections : 0);
  }

  command(amount: number) {
    return {
      files: this.#files,
      arguments: (folder: string) => this.#loadProgram.arguments(this.#work, amount, folder),
    };
  }

  figuresIn(output: string): ProgramFigures {
    return this.#loadProgram.figuresIn(output);
  }

  /** Reads the store, and empties it, because keys of the warm-up are not those of the run. */
  readBefore(): Promise<void> {
    return this.#store.readBefore();
  }

  async readAfter(): Promise<void> {
    this.#after = await this.#store.readAfter();
  }

  evidence(figures: ProgramFigures): ProgramEvidence {
    const { store, service } = this.#after;
    requireDecisions(figures, service);
    if (!store) throw new Error("a target of a load program has a store");
    const { cost = 1 } = this.#settings.configuration.limits;
    return {
      ...definedOnly({ calls: decisionsOf({ store, service }, cost) }),
      store,
      ...definedOnly({ service }),
    };
  }
}

function workOf(program: LoadProgram, settings: RunSettings, store: RunStore): LoadWork {
  const { configuration, seed, runNonce } = settings;
  const { target, load } = configuration;
  const { native } = describeClient(target);
  const calledKind = target.service ? "service" : "store";
  const called = store.nodes.find(({ kind }) => kind === calledKind);
  if (!native || !called) throw new Error(`${target.label} cannot be called by ${program.id}`);
  const run = { nonce: runNonce, keyPrefix: DEFAULT_KEY_PREFIX };
  return {
    protocol: native,
    place: called.part.address,
    ...callsOf(program, configuration, seed, run),
    connections: load.connections,
  };
}

/** @throws PartFailed where calls had no decision, because the throughput counts them, too (M9) */
function requireDecisions(
  { refused = 0, failures }: ProgramFigures,
  service: StoreSide["service"],
): void {
  if (failures) throw new PartFailed(GENERATOR, `calls failed: ${failures}`);
  // A service that denies with an error status has counted at least as many denials.
  const limited = (service?.at_end.limited ?? 0) - (service?.at_start.limited ?? 0);
  if (refused > limited)
    throw new PartFailed(
      GENERATOR,
      `${refused} answers had an error status, of which ${limited} can be denials`,
    );
}

/** The decisions of a run. A service counts them by their cost, and the nodes of a store one by one. */
function decisionsOf(
  { store, service }: { store: PrintedResult["store"]; service: StoreSide["service"] },
  cost: number,
): PrintedResult["calls"] {
  if (service) {
    const { at_start, at_end } = service;
    return {
      before: Math.round(at_start.decisions / cost),
      after: Math.round(at_end.decisions / cost),
    };
  }
  const before = store.nodes.flatMap(({ at_start }) => at_start.decisions ?? []);
  const after = store.nodes.flatMap(({ at_end }) => at_end.decisions ?? []);
  return after.length > 0 ? { before: sum(before), after: sum(after) } : undefined;
}
