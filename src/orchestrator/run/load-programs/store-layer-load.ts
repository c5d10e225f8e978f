import type { PrintedResult } from "../../../contract/result.js";
import { roleId } from "../../../contract/role.js";
import type { ProbeReport, StoreEvidence } from "../../../contract/store.js";
import { definedOnly } from "../../../kit/defined-only.js";
import type { NodePlace } from "../../../kit/env.js";
import { BenchError, EXIT } from "../../../kit/errors.js";
import { rounded } from "../../../kit/numbers.js";
import { parseRespLoadCsv, respLoadArguments } from "../../../targets/load-programs/index.js";
import { findOperation, KEYSPACE } from "../../../targets/load-programs/operations.js";
import type { RunSettings } from "../run-settings.js";
import { askStore } from "../store/ask-store.js";
import { commandThreadsOf, type RunStore } from "../store/run-store.js";
import type { ProgramEvidence, ProgramLoad } from "./program-load.js";

/** The load of the store layer, in which a load program of the store repeats one operation. */
export class StoreLayerLoad implements ProgramLoad {
  readonly program: string;
  /** The amount of a run is in calls, because no load program of a store runs for a time. */
  readonly runsFor = "calls";
  readonly figuresIn = parseRespLoadCsv;
  readonly #settings: RunSettings;
  readonly #store: RunStore;
  readonly #place: NodePlace;
  readonly #empty: ProbeReport;
  readonly #script: readonly string[];
  #before: ProbeReport = {};
  #after: ProbeReport = {};

  private constructor(
    settings: RunSettings,
    store: RunStore,
    place: NodePlace,
    empty: ProbeReport,
    script: readonly string[],
  ) {
    this.program = settings.configuration.target.client;
    this.#settings = settings;
    this.#store = store;
    this.#place = place;
    this.#empty = empty;
    this.#script = script;
  }

  /** Reads the empty store, and prepares the operation. */
  static async open(settings: RunSettings, store: RunStore): Promise<StoreLayerLoad> {
    const { workload } = settings.configuration;
    const place = store.nodes[0]?.part.address;
    if (!place) throw new Error("the store was not started");
    const decision_commands = decisionCommands(settings);
    const empty = await askStore(store, ["read", "settings"], { decision_commands });
    const { prepared } = await askStore(store, ["prepare"], { operation: workload });
    return new StoreLayerLoad(settings, store, place, empty, prepared?.script ?? []);
  }

  command(amount: number) {
    const { workload, load } = this.#settings.configuration;
    const benchmark = {
      test: findOperation(workload.id).test([...this.#script]),
      connections: load.connections,
      requests: Math.max(amount, load.connections),
      keys: workload.keys ?? KEYSPACE,
      payloadBytes: workload.payload_bytes,
    };
    return { arguments: () => respLoadArguments(this.#place, benchmark) };
  }

  async readBefore(): Promise<void> {
    this.#before = await this.#read();
  }

  async readAfter(): Promise<void> {
    this.#after = await this.#read();
  }

  evidence(): ProgramEvidence {
    const at_start = this.#before.readings?.[0];
    const at_end = this.#after.readings?.[0];
    if (!at_start || !at_end)
      throw new BenchError("the probe gave no reading of the store", EXIT.defect);
    const before = at_start.decisions;
    const after = at_end.decisions;
    const calls = before === undefined || after === undefined ? undefined : { before, after };
    const store: StoreEvidence = {
      nodes: [{ role: roleId("store", 1), at_start, at_end }],
      settings: this.#empty.settings ?? {},
      ...commandThreadsOf(this.#settings.configuration.target),
      external: false,
    };
    return { ...definedOnly({ calls, memory: memoryOf(this.#empty, this.#after) }), store };
  }

  #read(): Promise<ProbeReport> {
    return askStore(this.#store, ["read"], { decision_commands: decisionCommands(this.#settings) });
  }
}

const decisionCommands = ({ configuration }: RunSettings): string[] => [
  ...findOperation(configuration.workload.id).commands,
];

function memoryOf(empty: ProbeReport, after: ProbeReport): PrintedResult["memory"] {
  const emptyBytes = empty.readings?.[0]?.used_memory_bytes;
  const { keys, used_memory_bytes } = after.readings?.[0] ?? {};
  if (!keys || emptyBytes === undefined || used_memory_bytes === undefined) return undefined;
  const used_bytes = used_memory_bytes - emptyBytes;
  return { keys, used_bytes, bytes_per_key: rounded(used_bytes / keys, 2) };
}
