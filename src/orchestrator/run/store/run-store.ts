import type { NodeDiagnosis } from "../../../contract/diagnosis.js";
import type { ProbeAction, ProbeRequest, StoreFault } from "../../../contract/probe-env.js";
import { roleId } from "../../../contract/role.js";
import type { ServiceSpec } from "../../../contract/run-spec.js";
import type { ServiceEvidence } from "../../../contract/service.js";
import type { ModuleIdentity, ProbeReport, StoreEvidence } from "../../../contract/store.js";
import { storeProgram, type Target } from "../../../contract/target.js";
import { definedOnly } from "../../../kit/defined-only.js";
import type { NodePlace } from "../../../kit/env.js";
import { BenchError, EXIT, environmentError } from "../../../kit/errors.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import { findModule } from "../../../targets/modules/index.js";
import { findLimiter, findStore, findTopology } from "../../../targets/resolve.js";
import { sha256Of } from "../../plan/module-files.js";
import { PartFailed, type PartSupervisor, type RunningRole } from "../part-supervisor.js";
import type { RunSettings } from "../run-settings.js";
import { PROBE, SERVICE, serviceSettings, serviceSpec } from "../run-specs.js";
import { askProbe, ProbeEnded, UnfitReport } from "./ask-probe.js";
import { diagnosisOf } from "./node-diagnosis.js";
import { RelayControl } from "./relay-control.js";
import {
  encryptionRefusal,
  type FailedStart,
  moduleRefusalOf,
  settingRefusal,
} from "./store-refusals.js";

/** The time in which nodes must start and, in a cluster, agree. */
const FORM_TIMEOUT_S = 60;
/** The time for a reading. An external store that hangs must not delay the following runs. */
const READ_TIMEOUT_S = 10;

export type RunStore = Pick<ProbedStore, keyof ProbedStore>;

/** The evidence of the store and of the service, which are absent where there is none. */
export interface StoreSide {
  store?: StoreEvidence;
  service?: ServiceEvidence;
  diagnosed?: NodeDiagnosis[];
}

/** What store and service counted at a drained moment. */
export interface StoreMoment {
  report: ProbeReport;
  /** The requests to the probe until then, each of which connects to every node. */
  requests: number;
}

/**
 * Says that an answer of a store or a service does not fit. The program runs on, so only what needs
 * this answer fails.
 */
export class UnfitAnswer extends PartFailed {}

export function storeOf(settings: StoreSettings, supervisor: PartSupervisor): RunStore {
  const { engine } = findStore(settings.configuration.target.store);
  return engine === undefined ? noStore : new ProbedStore(settings, supervisor);
}

const noStore: RunStore = {
  nodes: [],
  relays: [],
  async open() {},
  async readBefore() {},
  readAfter: async () => ({}),
  readMoment: async () => ({ report: {}, requests: 0 }),
  sideBetween: () => ({}),
  get first() {
    return { report: {}, requests: 0 };
  },
  readNumbers: async () => undefined,
  perform: async () => undefined,
  readBefore_ms: 0,
  async untilReady() {},
  withoutNodes() {},
  async restarted() {},
  async untilServiceReady() {},
  async inject({ action }) {
    throw new Error(`there is no store to ${action}`);
  },
};

type StoreSettings = Pick<
  RunSettings,
  "configuration" | "external" | "runNonce" | "modules" | "diagnose"
>;

/** The number of threads of the store that execute commands, where there are several. */
export function commandThreadsOf({ store }: Target): Pick<StoreEvidence, "command_threads"> {
  const { commandThreads = 1 } = findStore(store);
  return definedOnly({ command_threads: commandThreads > 1 ? commandThreads : undefined });
}

/**
 * A fresh store that the run starts, or one that the user already runs, which is read but never
 * emptied or reset.
 */
class ProbedStore {
  /** The nodes, the relays and the service that the run started, whose counters can be read. */
  nodes: readonly RunningRole[] = [];
  /** The relays between servers and nodes; empty where no fault of the run needs one. */
  relays: readonly RelayControl[] = [];
  readonly #supervisor: PartSupervisor;
  #probe: RunningPart | undefined;
  readonly #settings: StoreSettings;
  #service: ServiceSpec | undefined;
  #module: ModuleIdentity | undefined;
  #before: ProbeReport = {};
  /** Whether a failure belongs to this run. A failure before is for the user to fix. */
  #isMeasuring = false;
  /** The ids of nodes that stay down. */
  readonly #down = new Set<string>();
  /** The number of requests to the probe since the first reading. Each connects to every node. */
  #requests = 0;
  readonly #requestsBefore = new Map<string, number>();
  /** The time at which the store was emptied, or read first, in ms of the monotonic clock. */
  readBefore_ms = 0;

  constructor(settings: StoreSettings, supervisor: PartSupervisor) {
    this.#settings = settings;
    this.#supervisor = supervisor;
  }

  get #target(): Target {
    return this.#settings.configuration.target;
  }

  get #isExternal(): boolean {
    return this.#settings.external !== undefined;
  }

  /** The places of the nodes, in the order of roles. */
  get #places(): readonly NodePlace[] {
    const { external } = this.#settings;
    if (external) return external.nodes;
    return this.nodes.filter(({ kind }) => kind === "store").map(({ part }) => part.address);
  }

  async open(): Promise<void> {
    await this.#openStore();
    await this.#requireModule();

    const { service: id } = this.#target;
    if (!id) return;
    try {
      await this.#openService(id);
    } catch (error) {
      const { service_env } = this.#settings.configuration;
      throw settingRefusal(id, service_env, this.#failedStart(error)) ?? error;
    }
  }

  async #openStore(): Promise<void> {
    const { primaries, replicas } = findTopology(this.#target.topology);
    const isFormed = !this.#isExternal && primaries + replicas > 1;
    try {
      const started = this.#isExternal
        ? await this.#supervisor.start("helper")
        : await this.#supervisor.start("store", "helper");
      this.nodes = started.filter(({ id }) => id !== PROBE);
      this.relays = this.nodes
        .filter(({ kind }) => kind === "helper")
        .map(({ part }) => new RelayControl(part));
      await Promise.all(this.relays.map((relay) => relay.listening));
      this.#probe = started.find(({ id }) => id === PROBE)?.part;
      await this.#ask([isFormed ? "form" : "ready"]);
    } catch (error) {
      const failedStart = this.#failedStart(error);
      throw (
        moduleRefusalOf(this.#target, this.#moduleFile, failedStart) ??
        encryptionRefusal(this.#target, failedStart) ??
        error
      );
    }
  }

  async #openService(id: string): Promise<void> {
    const [service] = await this.#supervisor.start("service");
    if (!service) return;
    this.nodes = [...this.nodes, service];
    this.#service = serviceSpec(id, this.#settings.runNonce, service.part.address);
    await this.#ask(["ready-service"]);
  }

  #failedStart(error: unknown): FailedStart {
    return { error, roles: this.nodes };
  }

  get #moduleFile(): string | undefined {
    return this.#isExternal ? undefined : this.#settings.modules?.[this.#target.module ?? ""];
  }

  async #requireModule(): Promise<void> {
    const { module: id } = this.#target;
    if (!id) return;
    const { modules = {} } = await this.#ask(["modules"]);
    const { command, remedy } = findModule(id);
    const version = modules[id];
    if (version === undefined) {
      const file = this.#moduleFile;
      throw environmentError(
        file
          ? `${id}: ${file} is another module: the store has no command ${command} with it: ${remedy}`
          : `the store has not loaded ${id}: start it with --loadmodule and the module's file`,
      );
    }
    const sha256 = this.#moduleFile ? await sha256Of(this.#moduleFile) : undefined;
    this.#module = { id, ...definedOnly({ version: version || undefined, sha256 }) };
  }

  async readBefore(): Promise<void> {
    this.readBefore_ms = performance.now();
    // After a reset the store counts only this run's calls.
    const reset: ProbeAction[] = this.#isExternal ? [] : ["reset"];
    this.#before = await this.#ask([...reset, "read", "settings", ...this.#furtherActions()]);
    this.#isMeasuring = true;
    this.#requests = 0;
  }

  /**
   * Waits until every node answers and, in a cluster, all agree and every replica follows its
   * primary.
   */
  async untilReady(): Promise<void> {
    await this.#ask(["ready"]);
  }

  /** Takes that these nodes stay down, so that they are not asked any more. */
  withoutNodes(ids: readonly string[]): void {
    for (const id of ids) this.#down.add(id);
  }

  async restarted(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.#requestsBefore.set(id, this.#requests);
    await this.#ask(["ready"]);
  }

  async untilServiceReady(): Promise<void> {
    await this.#ask(["ready-service"]);
  }

  async inject(fault: StoreFault): Promise<void> {
    const { settings } = this.#before;
    await this.#ask(["fault"], { fault: { ...fault, ...definedOnly({ settings }) } });
  }

  /** The nodes that can be asked, with the ids of their roles. */
  get #answering(): readonly (NodePlace & { id: string; index: number })[] {
    return this.#places
      .map((place, index) => ({ ...place, id: roleId("store", index + 1), index }))
      .filter(({ id }) => !this.#down.has(id));
  }

  async readAfter(): Promise<StoreSide> {
    return this.sideBetween(this.first, await this.readMoment());
  }

  /** The reading before any load. */
  get first(): StoreMoment {
    return { report: this.#before, requests: 0 };
  }

  async readMoment(): Promise<StoreMoment> {
    const report = await this.#ask(["read", ...this.#furtherActions()]);
    return { report, requests: this.#requests };
  }

  /** The evidence of store and service between two moments of the load. */
  sideBetween(from: StoreMoment, to: StoreMoment): StoreSide {
    const connections = this.#connectionsReceived(from, to);
    return {
      store: {
        ...this.#storeEvidence(from.report, to.report),
        ...definedOnly({ connections_under_load: connections }),
      },
      ...definedOnly({
        service: this.#serviceEvidence(from.report, to.report),
        diagnosed: this.#settings.diagnose ? this.#diagnosed(from.report, to.report) : undefined,
      }),
    };
  }

  async readNumbers(keys: readonly string[]): Promise<readonly (number | null)[] | undefined> {
    return (await this.#ask(["numbers"], { keys: [...keys] })).numbers;
  }

  /** Performs actions of the probe. @throws PartFailed, because a failure is one of the run now */
  perform(
    actions: ProbeAction[],
    members?: Partial<ProbeRequest>,
  ): Promise<ProbeReport | undefined> {
    this.#isMeasuring = true;
    return this.#ask(actions, members);
  }

  #furtherActions(): ProbeAction[] {
    const actions: ProbeAction[] = [];
    if (this.#settings.diagnose) actions.push("diagnose");
    if (this.#service) actions.push("read-service");
    return actions;
  }

  #diagnosed(before: ProbeReport, after: ProbeReport): NodeDiagnosis[] {
    return this.#places.flatMap((_, index) => {
      const from = before.diagnosed?.[index];
      const to = after.diagnosed?.[index];
      if (!from || !to) return [];
      return [diagnosisOf(roleId("store", index + 1), from, to, !this.#isExternal)];
    });
  }

  #serviceEvidence(
    { service_reading: at_start }: ProbeReport,
    { service_reading: at_end }: ProbeReport,
  ): ServiceEvidence | undefined {
    if (!this.#service || !at_start || !at_end) return undefined;
    const settings = serviceSettings(this.#settings.configuration);
    return { id: this.#service.id, role: SERVICE, at_start, at_end, settings };
  }

  /**
   * The connections that all nodes received between two moments, without the probe's own; undefined
   * for an external store, to which others may connect.
   */
  #connectionsReceived(from: StoreMoment, to: StoreMoment): number | undefined {
    if (this.#isExternal) return undefined;
    const { report: after, requests } = to;
    let connections = 0;
    for (const [place, { id, index }] of this.#answering.entries()) {
      // A node that is down is not asked, so a later reading has fewer places than the first.
      const receivedBefore = from.report.readings?.[index]?.connections_received;
      const receivedNow = after.readings?.[place]?.connections_received;
      if (receivedBefore === undefined || receivedNow === undefined) return undefined;

      const requestsBefore = this.#requestsBefore.get(id);
      if (requestsBefore === undefined) {
        connections += receivedNow - receivedBefore - (requests - from.requests);
        continue;
      }
      // A restarted process has counted from 0.
      connections += receivedNow - (requests - requestsBefore);
    }
    return Math.max(0, connections);
  }

  #storeEvidence(before: ProbeReport, after: ProbeReport): StoreEvidence {
    return {
      nodes: this.#answering.map(({ id: role, index }, place) => {
        const at_start = before.readings?.[index];
        const at_end = after.readings?.[place];
        if (!at_start || !at_end)
          throw new BenchError(`the probe gave no reading of ${role}`, EXIT.defect);
        return { role, at_start, at_end };
      }),
      settings: this.#before.settings ?? {},
      ...commandThreadsOf(this.#target),
      ...definedOnly({ modules: this.#module && [this.#module] }),
      external: this.#isExternal,
    };
  }

  async #ask(actions: ProbeAction[], members: Partial<ProbeRequest> = {}): Promise<ProbeReport> {
    this.#requests++;
    const timeout_s = this.#isMeasuring ? READ_TIMEOUT_S : FORM_TIMEOUT_S;
    if (!this.#probe) throw new Error("the store was not opened");
    const { decisionCommands } = findLimiter(this.#target.limiter);
    const request: ProbeRequest = {
      actions,
      nodes: this.#answering.map(({ id: _id, index: _index, ...place }) => place),
      timeout_s,
      ...definedOnly({
        service: this.#service,
        decision_commands: decisionCommands && [...decisionCommands],
      }),
      ...members,
    };
    try {
      return await this.#supervisor.waitFor(askProbe(this.#probe, request));
    } catch (error) {
      if (error instanceof UnfitReport) throw this.#unfitAnswer(error);
      if (!(error instanceof ProbeEnded)) throw error;
      const role = actions.includes("ready-service") ? SERVICE : "store";
      if (this.#isMeasuring) throw new PartFailed(role, error.message);
      throw environmentError(`${role}: ${error.message}`);
    }
  }

  #unfitAnswer({ message }: UnfitReport): Error {
    const isOfService = message.startsWith("service_");
    const program = isOfService ? this.#target.service : storeProgram(this.#target);
    const text = `an answer of ${program} does not fit: ${message}`;
    const role = isOfService ? SERVICE : "store";
    return this.#isMeasuring ? new UnfitAnswer(role, text) : environmentError(`${role}: ${text}`);
  }
}
