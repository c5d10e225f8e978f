import type { NodeCounters, NodeDiagnosis } from "../../contract/diagnosis.js";
import type { ProbeAction, ProbeRequest, StoreFault } from "../../contract/probe-env.js";
import { RELAY_LISTENS, type RelayMode, relayLine } from "../../contract/relay.js";
import { roleId } from "../../contract/role.js";
import type { ServiceSpec } from "../../contract/run-spec.js";
import type { ServiceEvidence } from "../../contract/service.js";
import {
  type ModuleFacts,
  type ProbeReport,
  probeReportSchema,
  type StoreEvidence,
} from "../../contract/store.js";
import { storeProgram, type Target } from "../../contract/target.js";
import { parseAnswer } from "../../kit/answers.js";
import { within } from "../../kit/deadline.js";
import type { Node } from "../../kit/env.js";
import { BenchError, EXIT, environmentError, messageOf } from "../../kit/errors.js";
import type { RunningPart, Runtime } from "../../runtimes/runtime-types.js";
import { findModule } from "../../targets/modules/index.js";
import { isEncrypted } from "../../targets/options.js";
import { findLimiter, findStore, findTopology } from "../../targets/resolve.js";
import { findService } from "../../targets/services/index.js";
import { moduleRefusal, sha256Of } from "../plan/module-files.js";
import { discoveryPart } from "./layout.js";
import { PartFailed, type PartSupervisor, type RunningRole } from "./part-supervisor.js";
import type { ExternalStore, RunSettings } from "./run-settings.js";
import { PROBE, SERVICE, serviceSettings, serviceSpec } from "./run-specs.js";

/** Nodes must start and, in a cluster, agree within this time. */
const FORM_TIMEOUT_S = 60;
/** An external store that hangs must not delay the following runs. */
const READ_TIMEOUT_S = 10;
const DISCOVER_TIMEOUT_S = 10;

export type RunStore = Pick<ProbedStore, keyof ProbedStore>;

/**
 * What is behind the servers: the evidence of the store and of the service; absent where there is
 * none.
 */
export interface StoreSide {
  store?: StoreEvidence;
  service?: ServiceEvidence;
  /**
   * Connections that the store's nodes accepted since the first reading, without the probe's;
   * absent where it is not known.
   */
  reconnections?: number;
  diagnosed?: NodeDiagnosis[];
}

/**
 * What a node did between two readings; its own percentiles only since its statistics were reset.
 */
function diagnosisOf(
  role: string,
  from: NodeCounters,
  to: NodeCounters,
  wasReset: boolean,
): NodeDiagnosis {
  const grown = (name: "received_bytes" | "sent_bytes") => {
    const [before, after] = [from[name], to[name]];
    return before === undefined || after === undefined
      ? {}
      : { [name]: Math.max(0, after - before) };
  };
  const commands = Object.entries(to.commands).map(([command, { calls, us, ...percentiles }]) => {
    const before = from.commands[command] ?? { calls: 0, us: 0 };
    const used = { calls: Math.max(0, calls - before.calls), us: Math.max(0, us - before.us) };
    return [command, { ...used, ...(wasReset ? percentiles : {}) }] as const;
  });
  return {
    role,
    commands: Object.fromEntries(commands),
    ...grown("received_bytes"),
    ...grown("sent_bytes"),
  };
}

/**
 * The probe ended instead of answering: the store is not in the expected state, or the probe itself
 * died.
 */
class ProbeEnded extends Error {
  override readonly name = "ProbeEnded";
}

/**
 * The probe answered with something that does not fit, because a program that it read tells
 * something impossible.
 */
class UnfitReport extends Error {
  override readonly name = "UnfitReport";
}

/**
 * A store or a service told something that does not fit. It runs on, so only what needs this answer
 * fails.
 */
export class UnfitAnswer extends PartFailed {}

/** Asks a running probe. @throws ProbeEnded with the last line that it printed; UnfitReport */
export async function askProbe(probe: RunningPart, request: ProbeRequest): Promise<ProbeReport> {
  const answer = await probe.ask?.(JSON.stringify(request));
  if (answer !== undefined) return reportIn(answer);
  const { code, signal } = await probe.exited;
  const last = code ? probe.lastLines().at(-1) : undefined;
  throw new ProbeEnded(last ?? `the probe ended with ${code ?? signal}`);
}

function reportIn(answer: string): ProbeReport {
  try {
    return parseAnswer(probeReportSchema, answer);
  } catch (error) {
    throw new UnfitReport(messageOf(error), { cause: error });
  }
}

/** What the user's store is; undefined where none was named. @throws environmentError */
export async function discoverStore(
  access: Readonly<Record<string, string>>,
  runtime: Runtime,
): Promise<ExternalStore | undefined> {
  if (!access.STORE_URL) return undefined;
  const probe = await runtime.start(discoveryPart(access), async () => {});
  try {
    const request: ProbeRequest = {
      actions: ["discover"],
      nodes: [],
      timeout_s: DISCOVER_TIMEOUT_S,
    };
    const { discovered } = await askProbe(probe, request);
    if (!discovered)
      throw environmentError("the type of the store that STORE_URL names was not detected");
    return { ...discovered, access };
  } catch (error) {
    if (error instanceof UnfitReport)
      throw environmentError(
        `an answer of the store that STORE_URL names does not fit: ${error.message}`,
      );
    if (!(error instanceof ProbeEnded)) throw error;
    // By TLS 1.3 a client counts itself as connected before the store refuses it, and may only see
    // a reset.
    const mayAsk =
      /^rediss:/.test(access.STORE_URL) &&
      !access.STORE_CERT &&
      /does not answer/.test(error.message);
    const remedy = mayAsk
      ? "; if it asks its clients for a certificate, give STORE_CERT and STORE_KEY"
      : "";
    throw environmentError(`the store that STORE_URL names: ${error.message}${remedy}`);
  } finally {
    await probe.stop();
  }
}

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

/** What programs without TLS say of `--tls-port`; older ones do not even know it. */
const WITHOUT_TLS = /Failed finding TLS support|tls-port[\s\S]*Bad directive/;

/** How many threads of the store execute commands, where those are several. */
export function commandThreadsOf({ store }: Target): Pick<StoreEvidence, "command_threads"> {
  const { commandThreads = 1 } = findStore(store);
  return commandThreads > 1 ? { command_threads: commandThreads } : {};
}

/**
 * A fresh store that the run starts, or one that the user already runs: that is read, but never
 * emptied or reset.
 */
class ProbedStore {
  /** The nodes, relays and the service, that the run started; only their counters can be read. */
  nodes: readonly RunningRole[] = [];
  /** Between the servers and the nodes; none where no fault of the run needs one. */
  relays: readonly RelayControl[] = [];
  readonly #supervisor: PartSupervisor;
  #probe: RunningPart | undefined;
  readonly #settings: StoreSettings;
  #service: ServiceSpec | undefined;
  #module: ModuleFacts | undefined;
  #before: ProbeReport = {};
  /** Whether a failure belongs to this run. Before that, the user has to fix the machine first. */
  #isMeasuring = false;
  readonly #down = new Set<string>();
  /** Requests to the probe since the first reading, each with a connection to every node. */
  #requests = 0;
  readonly #requestsBefore = new Map<string, number>();

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

  /** In the order of roles. */
  get #places(): readonly Node[] {
    const own = this.nodes.filter(({ kind }) => kind === "store").map(({ part }) => part.address);
    return this.#settings.external?.nodes ?? own;
  }

  async open(): Promise<void> {
    await this.#openStore();
    await this.#requireModule();
    const { service: id } = this.#target;
    if (!id) return;
    try {
      await this.#openService(id);
    } catch (error) {
      throw this.#settingRefused(id, error) ?? error;
    }
  }

  async #openStore(): Promise<void> {
    const { primaries, replicas } = findTopology(this.#target.topology);
    const isFormed = !this.#isExternal && primaries + replicas > 1;
    try {
      const started = await this.#supervisor.start(
        ...(this.#isExternal ? [] : ["store" as const]),
        "helper",
      );
      this.nodes = started.filter(({ id }) => id !== PROBE);
      this.relays = this.nodes
        .filter(({ kind }) => kind === "helper")
        .map(({ part }) => new RelayControl(part));
      await Promise.all(this.relays.map((relay) => relay.listening));
      this.#probe = started.find(({ id }) => id === PROBE)?.part;
      await this.#ask([isFormed ? "form" : "ready"]);
    } catch (error) {
      throw this.#moduleRefused(error) ?? this.#encryptionRefused(error) ?? error;
    }
  }

  async #openService(id: string): Promise<void> {
    const [service] = await this.#supervisor.start("service");
    if (!service) return;
    this.nodes = [...this.nodes, service];
    this.#service = serviceSpec(id, this.#settings.runNonce, service.part.address);
    await this.#ask(["ready-service"]);
  }

  /** A service that cannot read a setting of the user ends, and its last lines name it. */
  #settingRefused(id: string, error: unknown): Error | undefined {
    const { cause } = error as Error;
    const beforeReady = cause instanceof Error ? cause.message.split("\n") : [];
    const lines = this.nodes.flatMap(({ kind, part }) =>
      kind === "service" ? part.lastLines() : [],
    );
    const refused = findService(id).refusedSetting?.([...beforeReady, ...lines]);
    const value = refused && this.#settings.configuration.service_env?.[refused.name];
    if (!refused || value === undefined) return undefined;
    const { name, takes } = refused;
    return environmentError(
      `--service-env ${id}:${name}=${value}: the service cannot read this value: give ${takes}`,
      { cause: error },
    );
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
    const sha256 = this.#moduleFile && (await sha256Of(this.#moduleFile));
    this.#module = { id, ...(version ? { version } : {}), ...(sha256 ? { sha256 } : {}) };
  }

  /** When the store was emptied, or read first, monotonic milliseconds. */
  readBefore_ms = 0;

  async readBefore(): Promise<void> {
    this.readBefore_ms = performance.now();
    // After a reset the store counts only this run's calls.
    const first: ProbeAction[] = this.#isExternal
      ? ["read", "settings"]
      : ["reset", "read", "settings"];
    this.#before = await this.#ask([...first, ...this.#moreActions()]);
    this.#isMeasuring = true;
    this.#requests = 0;
  }

  /**
   * Until every node answers and, in a cluster, all agree and every replica follows its primary.
   */
  async untilReady(): Promise<void> {
    await this.#ask(["ready"]);
  }

  /** These nodes stay down: they are not asked any more. */
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
    await this.#ask(["fault"], { fault: { ...fault, ...(settings ? { settings } : {}) } });
  }

  /** The nodes that can be asked, with the ids of their roles. */
  get #answering(): readonly (Node & { id: string; index: number })[] {
    return this.#places
      .map((place, index) => ({ ...place, id: roleId("store", index + 1), index }))
      .filter(({ id }) => !this.#down.has(id));
  }

  async readAfter(): Promise<StoreSide> {
    const after = await this.#ask(["read", ...this.#moreActions()]);
    return {
      store: this.#storeEvidence(after),
      ...this.#reconnections(after),
      ...this.#serviceEvidence(after),
      ...(this.#settings.diagnose ? { diagnosed: this.#diagnosed(after) } : {}),
    };
  }

  async readNumbers(keys: readonly string[]): Promise<readonly (number | null)[] | undefined> {
    return (await this.#ask(["numbers"], { keys: [...keys] })).numbers;
  }

  /** @throws PartFailed: from here on a failure is the run's */
  perform(actions: ProbeAction[], more?: Partial<ProbeRequest>): Promise<ProbeReport | undefined> {
    this.#isMeasuring = true;
    return this.#ask(actions, more);
  }

  #moreActions(): ProbeAction[] {
    return [
      ...(this.#settings.diagnose ? ["diagnose" as const] : []),
      ...(this.#service ? ["read-service" as const] : []),
    ];
  }

  #diagnosed(after: ProbeReport): NodeDiagnosis[] {
    return this.#places.flatMap((_, index) => {
      const from = this.#before.diagnosed?.[index];
      const to = after.diagnosed?.[index];
      return from && to
        ? [diagnosisOf(roleId("store", index + 1), from, to, !this.#isExternal)]
        : [];
    });
  }

  #serviceEvidence({ service_reading: at_end }: ProbeReport): Pick<StoreSide, "service"> {
    const at_start = this.#before.service_reading;
    if (!this.#service || !at_start || !at_end) return {};
    const settings = serviceSettings(this.#settings.configuration);
    return { service: { id: this.#service.id, role: SERVICE, at_start, at_end, settings } };
  }

  /** Others may connect to an external store. */
  #reconnections(after: ProbeReport): Pick<StoreSide, "reconnections"> {
    if (this.#isExternal) return {};
    let reconnections = 0;
    for (const [place, { id, index }] of this.#answering.entries()) {
      const before = this.#before.readings?.[index]?.connections_received;
      const now = after.readings?.[place]?.connections_received;
      if (before === undefined || now === undefined) return {};
      const requestsBefore = this.#requestsBefore.get(id);
      // A new process has counted from 0.
      reconnections +=
        requestsBefore === undefined
          ? now - before - this.#requests
          : now - (this.#requests - requestsBefore);
    }
    return { reconnections: Math.max(0, reconnections) };
  }

  #storeEvidence(after: ProbeReport): StoreEvidence {
    return {
      nodes: this.#answering.map(({ id: role, index }, place) => {
        const at_start = this.#before.readings?.[index];
        const at_end = after.readings?.[place];
        if (!at_start || !at_end)
          throw new BenchError(`the probe gave no reading of ${role}`, EXIT.defect);
        return { role, at_start, at_end };
      }),
      settings: this.#before.settings ?? {},
      ...commandThreadsOf(this.#target),
      ...(this.#module ? { modules: [this.#module] } : {}),
      external: this.#isExternal,
    };
  }

  async #ask(actions: ProbeAction[], more: Partial<ProbeRequest> = {}): Promise<ProbeReport> {
    this.#requests++;
    const timeout_s = this.#isMeasuring ? READ_TIMEOUT_S : FORM_TIMEOUT_S;
    if (!this.#probe) throw new Error("the store was not opened");
    const { decisionCommands } = findLimiter(this.#target.limiter);
    try {
      return await this.#supervisor.waitFor(
        askProbe(this.#probe, {
          actions,
          nodes: this.#answering.map(({ id: _id, index: _index, ...place }) => place),
          timeout_s,
          ...(this.#service ? { service: this.#service } : {}),
          ...(decisionCommands ? { decision_commands: [...decisionCommands] } : {}),
          ...more,
        }),
      );
    } catch (error) {
      if (error instanceof UnfitReport) throw this.#unfitAnswer(error);
      if (!(error instanceof ProbeEnded)) throw error;
      const role = actions.includes("ready-service") ? SERVICE : "store";
      throw this.#isMeasuring
        ? new PartFailed(role, error.message)
        : environmentError(`${role}: ${error.message}`);
    }
  }

  #unfitAnswer({ message }: UnfitReport): Error {
    const isOfService = message.startsWith("service_");
    const program = isOfService ? this.#target.service : storeProgram(this.#target);
    const text = `an answer of ${program} does not fit: ${message}`;
    const role = isOfService ? SERVICE : "store";
    return this.#isMeasuring ? new UnfitAnswer(role, text) : environmentError(`${role}: ${text}`);
  }

  /** What the store said before it failed. */
  #lastLines({ cause }: Error): string[] {
    const beforeReady = cause instanceof Error ? cause.message.split("\n") : [];
    return [...this.nodes.flatMap(({ part }) => part.lastLines()), ...beforeReady];
  }

  /** A program that was built without TLS ends, and its log says so. */
  #encryptionRefused(error: unknown): Error | undefined {
    if (!isEncrypted(this.#target)) return undefined;
    const said = [messageOf(error), ...this.#lastLines(error as Error)].join("\n");
    if (!WITHOUT_TLS.test(said)) return undefined;
    const program = storeProgram(this.#target);
    return environmentError(
      `+tls: the program of ${program} was built without TLS: name one with it by --program ${program}=PATH, or use containers`,
      { cause: error },
    );
  }

  /**
   * A store that cannot load its module ends, and its log says why; one that a module crashes just
   * ends.
   */
  #moduleRefused(error: unknown): Error | undefined {
    const { module: id } = this.#target;
    const file = this.#moduleFile;
    if (!id || !file) return undefined;
    // A container reports a signal as a code above 128.
    const [, crash] =
      / ended (?:during the run )?with (SIG[A-Z]+|1[3-5]\d)\b/.exec(` ${messageOf(error)}`) ?? [];
    const reason =
      moduleRefusal(this.#lastLines(error as Error)) ??
      (crash ? `it ended with ${crash}` : undefined);
    if (!reason) return undefined;
    const { remedy } = findModule(id);
    return environmentError(`${id}: the store does not load ${file}: ${reason}: ${remedy}`, {
      cause: error,
    });
  }
}

/** How long a relay may take to do as it is told. */
const ANSWERS_WITHIN_MS = 5_000;

/** A running relay, which stands between the servers and a store node. */
class RelayControl {
  readonly #part: RunningPart;
  /** Lines that it is to print, each with who waits for it. */
  readonly #awaited: { line: string; seen(): void }[] = [];
  /** Resolves when it accepts connections. @throws Error when it does not in time */
  readonly listening: Promise<void>;

  constructor(part: RunningPart) {
    this.#part = part;
    this.listening = this.#line(RELAY_LISTENS);
    // What it has printed so far comes at once.
    part.onLine((line) => {
      const index = this.#awaited.findIndex((each) => each.line === line);
      if (index >= 0) this.#awaited.splice(index, 1)[0]?.seen();
    });
  }

  /** Resolves when it is so. @throws Error when it is not in time */
  async set(mode: RelayMode): Promise<void> {
    const line = relayLine(mode);
    const seen = this.#line(line);
    this.#part.write?.(line);
    await seen;
  }

  #line(line: string): Promise<void> {
    const seen = new Promise<void>((resolve) => this.#awaited.push({ line, seen: resolve }));
    return within(
      seen,
      ANSWERS_WITHIN_MS,
      () => `${this.#part.role} did not say "${line}" in time`,
    );
  }
}
