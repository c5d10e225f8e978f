import type { MachineCounters, ProbedMachine } from "../../contract/machine-probe.js";
import type { MachineLink, RuntimeMachine } from "../../contract/machines.js";
import type { CampaignMachine } from "../../contract/manifest.js";
import { bitRateText } from "../../judge/limit.js";
import { definedOnly } from "../../kit/defined-only.js";
import { sum } from "../../kit/numbers.js";
import { kernelInstance } from "../../machine/describe-machine.js";
import type { Runtime } from "../../runtimes/runtime-types.js";
import type { Lease } from "../ownership/lease.js";
import type { SeveralMachines } from "../run/counter-watch.js";
import { type LinkEnds, linksBetween, MachineProbes } from "../run/machine-probes.js";
import type { EventLog } from "../ui/event-log.js";

/** The most links that are measured. More would hold up a campaign for minutes. */
const MOST_LINKS = 64;

const tripText = (us: number): string =>
  us < 1_000 ? `${Math.round(us)} µs` : `${(us / 1_000).toFixed(1)} ms`;

function linkText({ between, round_trip_us, bits_per_second }: MachineLink): string {
  return [
    `${between.join(" ⇄ ")}: round trip ${tripText(round_trip_us.p50)} (p90 ${tripText(round_trip_us.p90)})`,
    bits_per_second
      ? bitRateText(Math.min(bits_per_second.there, bits_per_second.back))
      : "bandwidth not known (a CPU cap held the probe back)",
  ].join(", ");
}

/** The machines of a campaign, with the links between them. */
export class CampaignMachines implements SeveralMachines {
  readonly described: CampaignMachine[];
  readonly #probes: MachineProbes;
  readonly #pairs: readonly LinkEnds[];
  readonly #eventLog: EventLog;
  readonly #kernels: ReadonlyMap<string, string | undefined>;
  #links: MachineLink[] = [];

  private constructor(
    machines: readonly RuntimeMachine[],
    probedMachines: Readonly<Record<string, ProbedMachine>>,
    probes: MachineProbes,
    pairs: readonly LinkEnds[],
    eventLog: EventLog,
  ) {
    this.described = describedMachines(machines, probedMachines);
    this.#kernels = new Map(
      Object.entries(probedMachines).map(([name, machine]) => [name, machine.kernel_instance]),
    );
    this.#probes = probes;
    this.#pairs = pairs;
    this.#eventLog = eventLog;
  }

  /**
   * Starts a probe on each machine, which the lease ends; undefined where the runtime has only one
   * machine.
   */
  static async open(
    runtime: Runtime,
    lease: Lease,
    eventLog: EventLog,
  ): Promise<CampaignMachines | undefined> {
    const { machines } = runtime;
    if (!machines || machines.length === 0) return undefined;
    const names = machines.map(({ name }) => name);
    eventLog.setUp(`${names.length} machines: ${names.join(", ")}`);
    const probes = await MachineProbes.open(runtime, lease, (text) => eventLog.warn(text));

    const pairs = linksBetween((kind) => {
      const allowed = runtime.machinesFor?.(kind) ?? [];
      return allowed.length > 0 ? allowed : names;
    });
    if (pairs.length > MOST_LINKS)
      eventLog.warn(`${pairs.length} links between machines: the first ${MOST_LINKS} are measured`);

    const probedMachines = await probes.machines();
    return new CampaignMachines(
      machines,
      probedMachines,
      probes,
      pairs.slice(0, MOST_LINKS),
      eventLog,
    );
  }

  /** Measures round trips and bandwidth, just before the first run. */
  async measureLinks(): Promise<MachineLink[]> {
    this.#links = await this.#probes.links(this.#pairs);
    for (const link of this.#links) this.#eventLog.info(linkText(link));
    return this.#links;
  }

  counters(): Promise<Record<string, MachineCounters>> {
    return this.#probes.counters();
  }

  computerOf(name: string): readonly string[] {
    const { shares_kernel_with = [] } =
      this.described.find((machine) => machine.name === name) ?? {};
    return [name, ...shares_kernel_with];
  }

  isHere(name: string): boolean {
    const ourKernel = kernelInstance();
    return ourKernel !== undefined && this.#kernels.get(name) === ourKernel;
  }

  linksOf(placement: Readonly<Record<string, string>>): MachineLink[] {
    const used = new Set(Object.values(placement));
    return this.#links.filter(({ between }) => between.every((name) => used.has(name)));
  }
}

function describedMachines(
  machines: readonly RuntimeMachine[],
  probedMachines: Readonly<Record<string, ProbedMachine>>,
): CampaignMachine[] {
  return machines.map((machine) => {
    const { name } = machine;
    const probed = probedMachines[name];
    if (!probed) return machine;

    const kernel = probed.kernel_instance;
    const sharesKernel = (other: RuntimeMachine): boolean =>
      other.name !== name &&
      kernel !== undefined &&
      probedMachines[other.name]?.kernel_instance === kernel;
    const others = machines.filter(sharesKernel).map((other) => other.name);
    return {
      ...machine,
      facts: probed.machine,
      ...definedOnly({ shares_kernel_with: others.length > 0 ? others : undefined }),
    };
  });
}

/** The machines without those that are the same computer as an earlier one. */
const computersOf = (machines: readonly CampaignMachine[]): CampaignMachine[] =>
  machines.filter(
    ({ shares_kernel_with = [] }, index) =>
      !machines.slice(0, index).some(({ name }) => shares_kernel_with.includes(name)),
  );

/** The CPUs of all machines, with those of each computer counted once. */
export const cpusOf = (machines: readonly CampaignMachine[]): number =>
  sum(computersOf(machines).map(({ cpus }) => cpus));

/** Sentences on what the machines do to the figures of a campaign. */
export function machineConditions(machines: readonly CampaignMachine[]): string[] {
  const conditions: string[] = [];
  for (const { name, shares_kernel_with } of computersOf(machines)) {
    if (!shares_kernel_with) continue;
    const names = [name, ...shares_kernel_with].join(", ");
    conditions.push(
      `${names} are one computer with one kernel: they share its CPUs and memory, and what lies between them is no real network`,
    );
  }
  for (const { name, facts: properties } of machines) {
    if (properties?.governor && properties.governor !== "performance")
      conditions.push(`the CPU governor of ${name} is ${properties.governor}, not performance`);
  }
  for (const { name, facts: properties } of machines) {
    if (!properties)
      conditions.push(
        `the facts and links of ${name} are not known: nothing could be measured there`,
      );
  }
  return conditions;
}
