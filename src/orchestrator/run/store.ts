import type { Configuration } from "../../contract/configuration.js";
import type { Node } from "../../contract/env.js";
import { BenchError, EXIT, environmentError } from "../../contract/errors.js";
import type { ProbeAction, ProbeRequest } from "../../contract/probe-env.js";
import {
  type Discovery,
  type ProbeReport,
  probeReportSchema,
  type StoreEvidence,
} from "../../contract/store.js";
import type { Caps, RunningPart, Runtime } from "../../runtimes/types.js";
import { findStore } from "../../targets/resolve.js";
import { PartFailed, type PartSupervisor } from "./part-supervisor.js";
import { probePart, storeParts } from "./parts.js";

/** Nodes must start and, in a cluster, agree within this time. */
const FORM_TIMEOUT_S = 60;
/** An external store that hangs must not delay the following runs. */
const READ_TIMEOUT_S = 10;
const DISCOVER_TIMEOUT_S = 10;

/** A store that the user already runs, with the variables that give programs access to it. */
export interface ExternalStore extends Discovery {
  access: Readonly<Record<string, string>>;
}

/** The store of one run. */
export interface RunStore {
  /** The nodes that the run started; only their counters can be read. */
  readonly parts: readonly RunningPart[];
  readonly nodes: readonly Node[];
  /** The variables that give the server access; only for an external store. */
  readonly access?: Readonly<Record<string, string>>;
  /** Makes the store usable. */
  open(): Promise<void>;
  /** Takes the reading before any load. */
  readBefore(): Promise<void>;
  /** Takes the reading after the last answer. */
  readAfter(): Promise<StoreEvidence | undefined>;
}

/** The probe ended instead of answering: the store is not in the expected state, or the probe itself died. */
class ProbeEnded extends Error {
  override readonly name = "ProbeEnded";
}

/**
 * Sends a request to a running probe and waits for its report.
 * @throws ProbeEnded with the last line that the probe printed
 */
export async function askProbe(probe: RunningPart, request: ProbeRequest): Promise<ProbeReport> {
  const answer = await probe.ask?.(JSON.stringify(request));
  if (answer !== undefined) return probeReportSchema.parse(JSON.parse(answer));
  const { code, signal } = await probe.exited;
  const last = code ? probe.lastLines().at(-1) : undefined;
  throw new ProbeEnded(last ?? `the probe ended with ${code ?? signal}`);
}

/**
 * Detects the type and topology of the store that the user already runs; undefined where none was named.
 * @throws environmentError when it cannot be reached or is not supported
 */
export async function discoverStore(
  access: Readonly<Record<string, string>>,
  runtime: Runtime,
): Promise<ExternalStore | undefined> {
  if (!access.STORE_URL) return undefined;
  const probe = await runtime.start(probePart(access), async () => {});
  try {
    const { discovered } = await askProbe(probe, {
      actions: ["discover"],
      nodes: [],
      store: "valkey",
      topology: "standalone",
      timeout_s: DISCOVER_TIMEOUT_S,
    });
    if (!discovered) throw environmentError("the type of the store that STORE_URL names was not detected");
    return { ...discovered, access };
  } catch (error) {
    if (!(error instanceof ProbeEnded)) throw error;
    throw environmentError(`the store that STORE_URL names: ${error.message}`);
  } finally {
    await probe.stop();
  }
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
    ? new ExternalRunStore(configuration, external, supervisor)
    : new OwnRunStore(configuration, supervisor, caps);
}

const noStore: RunStore = {
  parts: [],
  nodes: [],
  async open() {},
  async readBefore() {},
  async readAfter() {
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
  /** Whether a failure belongs to this run. Before that, the user has to fix the machine first. */
  #isMeasuring = false;

  constructor(configuration: Configuration, supervisor: PartSupervisor) {
    this.configuration = configuration;
    this.supervisor = supervisor;
  }

  abstract open(): Promise<void>;
  protected abstract firstActions(): ProbeAction[];

  async readBefore(): Promise<void> {
    this.#before = await this.ask(this.firstActions());
    this.#isMeasuring = true;
  }

  async readAfter(): Promise<StoreEvidence> {
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

  /** Sends actions to the run's probe; one process serves all of them. */
  protected async ask(actions: ProbeAction[]): Promise<ProbeReport> {
    const { store, topology } = this.configuration.target;
    const timeout_s = this.#isMeasuring ? READ_TIMEOUT_S : FORM_TIMEOUT_S;
    const request = { actions, nodes: [...this.nodes], store, topology, timeout_s };
    if (!this.probe) throw new Error("the store was not opened");
    try {
      return await this.supervisor.waitFor(askProbe(this.probe, request));
    } catch (error) {
      if (!(error instanceof ProbeEnded)) throw error;
      throw this.#isMeasuring
        ? new PartFailed("store", error.message)
        : environmentError(`store: ${error.message}`);
    }
  }
}

/** A fresh store that the run starts. */
class OwnRunStore extends ProbedStore {
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
    this.supervisor.watch(this.parts);
    await this.ask([this.configuration.target.topology === "cluster" ? "form" : "ready"]);
  }

  /** After a reset the store counts only this run's calls. */
  protected firstActions(): ProbeAction[] {
    return ["reset", "read", "settings"];
  }
}

/** A store that the user already runs: it is read, but never emptied or reset. */
class ExternalRunStore extends ProbedStore {
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
