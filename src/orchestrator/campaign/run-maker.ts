import { join } from "node:path";
import { isProgramLayer } from "../../contract/layers.js";
import type { Manifest } from "../../contract/manifest.js";
import { type Plan, type PlannedRun, plannedConfiguration, roundOf } from "../../contract/plan.js";
import type { PluginIdentity } from "../../contract/plugins.js";
import type { Result } from "../../contract/result.js";
import {
  CURVE_LEAD_IN_MS,
  hasLongTurns,
  type TurnLengths,
  type TurnsSpec,
} from "../../contract/turns.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf } from "../../kit/errors.js";
import type { PartFaults, Runtime } from "../../runtimes/runtime-types.js";
import { abortable } from "../ownership/abort.js";
import type { Lease } from "../ownership/lease.js";
import { type Filler, GroupTargets } from "../plan/group-fillers.js";
import { moduleFiles } from "../plan/module-files.js";
import type { Request } from "../request/request.js";
import {
  executeRun,
  type MachinesOfRun,
  type RawRun,
  type RunListener,
} from "../run/execute-run.js";
import { executeLoadProgramRun } from "../run/load-programs/execute-load-program-run.js";
import { measuredDocument, printedDocument, type RunIdentity } from "../run/result-documents.js";
import { executeRound } from "../run/rounds/execute-round.js";
import type { RoundEnd, RoundMember } from "../run/rounds/round-types.js";
import type { ExternalStore, RequestedRun } from "../run/run-settings.js";
import type { StoreAuthority } from "../run/store/store-authority.js";
import { type EventLog, lineLog } from "../ui/event-log.js";
import { startedApp } from "./campaign-apps.js";
import type { CampaignMachines } from "./campaign-machines.js";
import type { CampaignProgress } from "./campaign-progress.js";
import { checkPlugins } from "./used-plugins.js";

/** The number of seeds, which are unsigned numbers of 32 bits. */
const SEEDS = 2 ** 32;
/** The number of seeds that the groups of a round can have before those of the next round. */
const SEEDS_PER_ROUND = 1000;

export interface RunMakerOptions {
  campaign: string;
  folder: string;
  plan: Plan;
  /** The manifest, which takes the lengths of turns once they are found. */
  manifest: Pick<Manifest, "turns">;
  runtime: Runtime;
  lease: Lease;
  eventLog: EventLog;
  progress: CampaignProgress;
  signal: AbortSignal;
  request: Request;
  external: ExternalStore | undefined;
  /** The plugins with which the campaign started. */
  plugins?: readonly PluginIdentity[];
  machines?: CampaignMachines;
  partFaults?: PartFaults;
  authority?: StoreAuthority;
}

/** How a run ended: with a document of its result, or with what made it fail. */
export type RunEnd = { result: Result } | { error: unknown };

/** Takes what a filler does. Nothing of it is kept, because it counts nowhere. */
const UNHEARD: RunListener = {
  phase: () => {},
  second: () => {},
  fault: () => {},
  log: () => {},
  record: () => {},
};

/** Makes the runs of a plan. */
export class RunMaker {
  readonly #options: RunMakerOptions;

  constructor(options: RunMakerOptions) {
    this.#options = options;
  }

  identity({ configuration_hash, run, diagnose }: PlannedRun): RunIdentity {
    const { plan, campaign, runtime, request, plugins = [] } = this.#options;
    const planned = plannedConfiguration(plan, configuration_hash);
    return { campaign, planned, run, runtime, caps: request.place.caps, plugins, diagnose };
  }

  /** Makes one run, or the runs of a group at the same time. @returns their ends, in order */
  async make(planned: readonly PlannedRun[]): Promise<RunEnd[]> {
    const [first, ...others] = planned;
    const fillers = this.#fillersBeside(planned);
    // The only run of a load curve goes by turns, too.
    const isAlone = first && others.length === 0 && fillers.length === 0;
    if (!isAlone || this.#options.plan.load_curve) return this.#makeRound(planned, fillers);
    return [await endOf(() => this.#makeSingle(first))];
  }

  async #makeSingle(planned: PlannedRun): Promise<Result> {
    const { runtime, lease, signal, machines } = this.#options;
    const identity = this.identity(planned);
    const settings = this.#settings(planned);
    const [listener] = this.#listeners([planned]) as [RunListener];
    const { layer, target } = settings.configuration;

    if (isProgramLayer(layer) || target.program !== undefined) {
      const printed = await abortable(
        signal,
        executeLoadProgramRun(settings, runtime, lease, listener),
      );
      return printedDocument(identity, { ...printed, ...this.#linksOf(printed) });
    }

    const raw = await abortable(
      signal,
      executeRun(settings, runtime, lease, listener, { machines }),
    );
    return this.#document(identity, raw);
  }

  /** The targets that are up beside these runs, and whose turns count nowhere. */
  #fillersBeside(planned: readonly PlannedRun[]): Filler[] {
    const [first] = planned;
    const hashes = new GroupTargets(this.#options.plan).fillersBeside(planned);
    return hashes.map((hash) => ({
      round: first ? roundOf(first) : 1,
      group: first?.group ?? 1,
      configuration_hash: hash,
    }));
  }

  async #makeRound(planned: readonly PlannedRun[], fillers: readonly Filler[]): Promise<RunEnd[]> {
    const { runtime, lease, signal, manifest, progress, request } = this.#options;
    const listeners = this.#listeners(planned, planned.length + fillers.length);
    const members = planned.map(
      (run, index): RoundMember => ({
        request: this.#settings(run),
        listener: listeners[index] as RunListener,
      }),
    );
    for (const filler of fillers)
      members.push({ request: this.#settings({ ...filler, run: 1 }), listener: UNHEARD });
    // The lengths that the first round of this load has found hold for all its rounds.
    const [lengths] = planned.flatMap((run) => manifest.turns?.[run.configuration_hash] ?? []);
    const turns: TurnsSpec = {
      seed: this.#turnsSeed(planned),
      ...(this.#options.plan.load_curve
        ? { curve: true, lengths: this.#curveLengths(planned) }
        : definedOnly({
            lengths,
            shortest: request.rounds.turn,
            long: planned.every((run) => this.#hasLongTurns(run)) || undefined,
          })),
    };
    const showLine = (role: string, line: string): void => progress.programLine(role, line);

    let ends: RoundEnd[];
    try {
      ends = await abortable(signal, executeRound(members, turns, runtime, lease, showLine));
    } catch (error) {
      return planned.map(() => ({ error }));
    }
    for (const end of ends.slice(planned.length)) {
      if ("error" in end) this.#warnOfFiller(fillers, end.error);
    }
    return Promise.all(
      planned.map((run, index) => this.#endOfMember(run, ends[index] as RoundEnd, lengths)),
    );
  }

  /** The lengths of the turns of a load curve, which are the same in all of its runs. */
  #curveLengths(planned: readonly PlannedRun[]): TurnLengths {
    const seconds = planned.map((run) => {
      const { extent } = this.#settings(run).configuration;
      return "duration_s" in extent ? extent.duration_s : 0;
    });
    return { lead_in_ms: CURVE_LEAD_IN_MS, slice_ms: 1000 * Math.max(...seconds) };
  }

  /** A group whose filler fails is smaller than the others of its targets, which figures show. */
  #warnOfFiller([filler]: readonly Filler[], error: unknown): void {
    const group = `group ${filler?.group} of round ${filler?.round}`;
    this.#options.eventLog.warn(`a target that fills ${group} failed: ${messageOf(error)}`);
  }

  #hasLongTurns(run: PlannedRun): boolean {
    const { extent } = this.#settings(run).configuration;
    return "duration_s" in extent && hasLongTurns(extent.duration_s);
  }

  #turnsSeed([first]: readonly PlannedRun[]): number {
    const { seed } = this.#options.plan;
    if (!first) return seed;
    const group = SEEDS_PER_ROUND * roundOf(first) + (first.group ?? 0);
    return (seed + group) % SEEDS;
  }

  /** @param lengths the lengths of turns that an earlier round has found */
  async #endOfMember(
    planned: PlannedRun,
    end: RoundEnd,
    lengths: TurnLengths | undefined,
  ): Promise<RunEnd> {
    if ("error" in end) return end;
    this.#rememberTurns(planned, lengths ?? end.raw.result.turns);
    return endOf(async () => this.#document(this.identity(planned), end.raw));
  }

  /** Keeps the lengths of turns, which the first round of a load decides. */
  #rememberTurns({ configuration_hash: hash }: PlannedRun, lengths: TurnLengths | undefined): void {
    const { manifest } = this.#options;
    if (!lengths || manifest.turns?.[hash]) return;
    const { lead_in_ms, slice_ms } = lengths;
    manifest.turns = { [hash]: { lead_in_ms, slice_ms }, ...manifest.turns };
  }

  #settings(
    planned: Pick<PlannedRun, "configuration_hash" | "round" | "run" | "diagnose">,
  ): RequestedRun {
    const { plan, request, external, partFaults, authority } = this.#options;
    const { configuration } = plannedConfiguration(plan, planned.configuration_hash);
    return {
      configuration,
      // All configurations of a round meet the same requests.
      seed: (plan.seed + roundOf(planned)) % SEEDS,
      warmupS: plan.warmup_s,
      workers: request.place.workers,
      caps: request.place.caps,
      modules: moduleFiles(request.place.programs),
      ...definedOnly({ partFaults, external, authority, diagnose: planned.diagnose }),
      ...definedOnly({ app: startedApp(request.apps, configuration.target) }),
    };
  }

  #document(identity: RunIdentity, raw: RawRun): Result {
    checkPlugins(identity.plugins ?? [], raw.result);
    return measuredDocument(identity, { ...raw, ...this.#linksOf(raw) });
  }

  #linksOf({ placement = {} }: MachinesOfRun): Pick<MachinesOfRun, "links"> {
    const { machines } = this.#options;
    return definedOnly({ links: machines?.linksOf(placement) });
  }

  #listeners(planned: readonly PlannedRun[], targets?: number): RunListener[] {
    return this.#options.progress.listeners(
      planned.map((run) => ({ planned: run, log: this.#log(run.file) })),
      targets,
    );
  }

  /** A function that writes a line of a role to the log of a run. */
  #log(file: string): (role: string, line: string) => void {
    const { folder, eventLog } = this.#options;
    const append = lineLog(join(folder, `${file}.log`), (text) => eventLog.warn(text));
    return (role, line) => append(`${new Date().toISOString()} ${role}: ${line}`);
  }
}

async function endOf(run: () => Promise<Result>): Promise<RunEnd> {
  try {
    return { result: await run() };
  } catch (error) {
    return { error };
  }
}
