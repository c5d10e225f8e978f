import type { Configuration } from "../../contract/configuration.js";
import type { Node } from "../../contract/env.js";
import { BenchError, EXIT, environmentError } from "../../contract/errors.js";
import type { ProbeAction } from "../../contract/probe-env.js";
import type { Discovery, ProbeReport, StoreEvidence } from "../../contract/store.js";
import type { Caps, RunningPart } from "../../runtimes/types.js";
import { findStore } from "../../targets/resolve.js";
import { PartFailed, type PartSupervisor } from "./part-supervisor.js";
import { probePart, storeParts } from "./parts.js";
import { askProbe, ProbeEnded } from "./probe.js";

/** For nodes to come up and, in a cluster, to agree. */
const FORMING_TIMEOUT_S = 60;
/** For a store that was there before: one that hangs must not hold up the runs after it. */
const READING_TIMEOUT_S = 10;

/** A store that the user already runs: what it is, and the variables by which a program gets in. */
export interface ExternalStore extends Discovery {
  access: Readonly<Record<string, string>>;
}

/** The store of one run, as the run sees it. */
export interface RunStore {
  /** Those of its nodes that the run has started, and whose counters it can read. */
  readonly parts: readonly RunningPart[];
  readonly nodes: readonly Node[];
  /** Variables with which the server gets in; only for a store of somebody else's. */
  readonly access?: Readonly<Record<string, string>>;
  /** Makes it usable. */
  open(): Promise<void>;
  /** The reading before any load. */
  begin(): Promise<void>;
  /** The reading after the last answer. */
  end(): Promise<StoreEvidence | undefined>;
}

/** The store that this configuration needs. */
export function storeOf(
  configuration: Configuration,
  external: ExternalStore | undefined,
  supervisor: PartSupervisor,
  caps: Caps,
): RunStore {
  if (findStore(configuration.target.store).program === undefined) return noStore;
  return external
    ? new OthersStore(configuration, external, supervisor)
    : new OwnStore(configuration, supervisor, caps);
}

const noStore: RunStore = {
  parts: [],
  nodes: [],
  async open() {},
  async begin() {},
  async end() {
    return undefined;
  },
};

abstract class ProbedStore implements RunStore {
  abstract readonly nodes: readonly Node[];
  protected abstract readonly external: boolean;
  readonly access?: Readonly<Record<string, string>>;
  protected readonly configuration: Configuration;
  protected readonly supervisor: PartSupervisor;
  parts: readonly RunningPart[] = [];
  protected probe: RunningPart | undefined;
  #before: ProbeReport = {};
  /** From here on a failure is one of this run, no longer of a machine that the user must mend first. */
  #begun = false;

  constructor(configuration: Configuration, supervisor: PartSupervisor) {
    this.configuration = configuration;
    this.supervisor = supervisor;
  }

  abstract open(): Promise<void>;
  protected abstract firstActions(): ProbeAction[];

  async begin(): Promise<void> {
    this.#before = await this.ask(this.firstActions());
    this.#begun = true;
  }

  async end(): Promise<StoreEvidence> {
    const after = await this.ask(["read"]);
    return {
      nodes: this.nodes.map((_, index) => {
        const role = `store-${index + 1}`;
        const at_start = this.#before.readings?.[index];
        const at_end = after.readings?.[index];
        if (!at_start || !at_end) throw new BenchError(`the probe gave no reading of ${role}`, EXIT.defect);
        return { role, at_start, at_end };
      }),
      settings: this.#before.settings ?? {},
      external: this.external,
    };
  }

  /** Has the probe of this run do that; one process serves all of them. */
  protected async ask(actions: ProbeAction[]): Promise<ProbeReport> {
    const { store, topology } = this.configuration.target;
    const timeout_s = this.#begun ? READING_TIMEOUT_S : FORMING_TIMEOUT_S;
    const request = { actions, nodes: [...this.nodes], store, topology, timeout_s };
    if (!this.probe) throw new Error("the store was not opened");
    try {
      return await this.supervisor.whileNeeded(askProbe(this.probe, request));
    } catch (error) {
      if (!(error instanceof ProbeEnded)) throw error;
      throw this.#begun
        ? new PartFailed("store", error.message)
        : environmentError(`store: ${error.message}`);
    }
  }
}

/** A fresh store that the run starts itself. */
class OwnStore extends ProbedStore {
  protected readonly external = false;
  readonly #caps: Caps;

  constructor(configuration: Configuration, supervisor: PartSupervisor, caps: Caps) {
    super(configuration, supervisor);
    this.#caps = caps;
  }

  get nodes(): readonly Node[] {
    return this.parts.map(({ address }) => address);
  }

  async open(): Promise<void> {
    const parts = storeParts(this.configuration, this.#caps);
    [this.probe, ...this.parts] = await this.supervisor.startAll([probePart(), ...parts]);
    this.supervisor.need(this.parts);
    await this.ask([this.configuration.target.topology === "cluster" ? "form" : "ready"]);
  }

  /** Emptied and reset, it counts this run's calls alone. */
  protected firstActions(): ProbeAction[] {
    return ["reset", "read", "settings"];
  }
}

/** A store that somebody else runs: it is only read, never emptied, and never reset. */
class OthersStore extends ProbedStore {
  protected readonly external = true;
  override readonly access: Readonly<Record<string, string>>;
  readonly nodes: readonly Node[];

  constructor(configuration: Configuration, { nodes, access }: ExternalStore, supervisor: PartSupervisor) {
    super(configuration, supervisor);
    this.nodes = nodes;
    this.access = access;
  }

  async open(): Promise<void> {
    this.probe = await this.supervisor.start(probePart(this.access));
    await this.ask(["ready"]);
  }

  protected firstActions(): ProbeAction[] {
    return ["read", "settings"];
  }
}
