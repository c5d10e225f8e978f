import { setTimeout as sleep } from "node:timers/promises";
import type { MachineCounters } from "../../contract/machine-probe.js";
import { type MeasuredKind, measuredKinds } from "../../contract/role.js";
import type { HostLoad, MachineLoad, RoleResources } from "../../contract/role-resources.js";
import type { Throttling } from "../../kit/control-groups.js";
import { within } from "../../kit/deadline.js";
import { definedOnly } from "../../kit/defined-only.js";
import { grown, mean, rounded } from "../../kit/numbers.js";
import { type HostCpu, hostLoadOf, readHostCpu } from "../../machine/cpu-time.js";
import { readOwnLimits, readOwnThrottling } from "../../machine/own-limits.js";
import { cpuBetween, type RunDelays, runDelayBetween } from "../../runtimes/run-delay.js";
import type { PartCounters } from "../../runtimes/runtime-types.js";
import type { RunningRole } from "./part-supervisor.js";

/** The time between readings in the window. */
const PERIOD_MS = 1000;

/** The length of the second without load before a window by turns. */
const IDLE_MS = 1000;

/** The time for counters. A part whose counters cannot be read must not hold up the run. */
const READ_TIMEOUT_MS = 10_000;

interface Reading extends PartCounters {
  at_ms: number;
}

type CpuReading = Pick<Reading, "at_ms" | "cpu_us">;

interface EndReading {
  at_ms: number;
  host: HostCpu | undefined;
  own_throttling: Throttling | undefined;
  harness_us: number;
  cpu_us: ReadonlyMap<string, number>;
  run_delays: ReadonlyMap<string, RunDelays>;
  machines: Readonly<Record<string, MachineCounters>>;
}

export interface SeveralMachines {
  counters(): Promise<Record<string, MachineCounters>>;
  /** The names of all machines that are the same computer as this one, which is among them. */
  computerOf(name: string): readonly string[];
  /** Whether this process runs on that computer. */
  isHere(name: string): boolean;
}

function harnessCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

const inTime = <Value>(reading: Promise<Value>): Promise<Value> =>
  within(reading, READ_TIMEOUT_MS, () => `no answer within ${READ_TIMEOUT_MS / 1000} s`);

type NetworkBytes = NonNullable<PartCounters["network"]>;

/**
 * The bytes of a network between two readings. A counter that began anew, or whose link is just being replaced,
 * shows less than before, which counts as 0.
 */
const networkBytesSince = (from: NetworkBytes, to: NetworkBytes): NetworkBytes => ({
  received_bytes: Math.max(0, to.received_bytes - from.received_bytes),
  sent_bytes: Math.max(0, to.sent_bytes - from.sent_bytes),
});

const THROTTLING = ["periods", "throttled_periods", "throttled_us"] as const;

/** The throttling between two readings. A CPU quota has no counters before its first period ends. */
const throttlingSince = (from: Throttling | undefined, to: Throttling): Throttling =>
  grown(THROTTLING, from ?? {}, to);

function throttlingAndNetworkBetween(
  from: Reading,
  to: Reading,
): Pick<RoleResources, "throttling" | "network"> {
  const throttling = to.throttling && throttlingSince(from.throttling, to.throttling);
  const network = from.network && to.network && networkBytesSince(from.network, to.network);
  return definedOnly({ throttling, network });
}

/** How a role shares the time of a window with others. */
interface TimeShare {
  /** The share of the time in which it had the load. */
  loaded: number;
  /** The CPU time that it uses without load. */
  idle_us_per_s: number;
}

function sampleOf(
  first: Reading,
  before: Reading,
  reading: Reading,
  { loaded, idle_us_per_s }: TimeShare,
): RoleResources["samples"][number] {
  const elapsed_us = Math.max(1, (reading.at_ms - before.at_ms) * 1000);
  const idle_us = (idle_us_per_s * (1 - loaded) * elapsed_us) / 1e6;
  const used_us = Math.max(0, reading.cpu_us - before.cpu_us - idle_us);
  const { throttling, network } = throttlingAndNetworkBetween(before, reading);
  return {
    t_s: rounded((loaded * (reading.at_ms - first.at_ms)) / 1000, 3),
    cpu_percent: rounded((100 * used_us) / (loaded * elapsed_us), 1),
    resident_bytes: reading.resident_bytes,
    ...definedOnly({ throttled_periods: throttling?.throttled_periods }),
    ...network,
  };
}

/** The CPU time that roles reported themselves, by their id. */
type ReportedCpu = Readonly<Record<string, Pick<RoleResources, "cpu_us">>>;

/** The CPU time of the roles in µs; undefined where that of one role is not known. */
function usedBy(
  roles: readonly RunningRole[],
  from: EndReading,
  to: EndReading,
  reported: ReportedCpu,
): number | undefined {
  let total_us = 0;
  for (const { id } of roles) {
    const before_us = from.cpu_us.get(id);
    const after_us = to.cpu_us.get(id);
    const isRead = before_us !== undefined && after_us !== undefined;
    const used_us = isRead ? after_us - before_us : reported[id]?.cpu_us;
    if (used_us === undefined) return undefined;
    total_us += Math.max(0, used_us);
  }
  return total_us;
}

type MeasuredRole = RunningRole & { kind: MeasuredKind };

const isMeasured = (role: RunningRole): role is MeasuredRole =>
  measuredKinds.some((kind) => kind === role.kind);

/** Reads the counters of roles at both (drained) ends of a window, and once a second in between. */
export class CounterWatch {
  /** The measured roles, and helpers, whose use counts as that of the harness. */
  readonly #roles: readonly RunningRole[];
  readonly #readings = new Map<string, Reading[]>();
  readonly #ends: EndReading[] = [];
  /** The CPU time of each role without load, from the second before a window by turns. */
  readonly #idle = new Map<string, { us_per_s: number }>();
  /** The readings before the long turns of a round, and after them. It is empty without them. */
  readonly #aroundLongTurns: ReadonlyMap<string, CpuReading>[] = [];
  /** One line for each reading that failed. */
  readonly failures: string[] = [];
  readonly #readHost: () => HostCpu | undefined;
  readonly #machines: SeveralMachines | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasStopped = false;
  /** Whether the counters at the start of the window are read, and those at its end are not. */
  #isOpen = false;
  #isReadingBetween = false;
  /** The last reading of a queue, because readings take place one after the other. */
  #pending = Promise.resolve();

  constructor(roles: readonly RunningRole[], readHost = readHostCpu, machines?: SeveralMachines) {
    this.#roles = roles;
    this.#machines = machines;
    this.#readHost = readHost;
  }

  /**
   * Starts a watch by turns with a second without load, whose CPU time is subtracted from the
   * figures of a role.
   */
  startByTurns(): Promise<void> {
    if (this.#hasStopped) return this.#pending;
    this.#enqueue(async () => {
      if (this.#aroundLongTurns.length > 0) this.#aroundLongTurns.push(await this.#readCpu());
      const began_ms = performance.now();
      const before = await this.#readDelays();
      await sleep(IDLE_MS);
      const seconds = (performance.now() - began_ms) / 1000;
      for (const [id, delays] of await this.#readDelays()) {
        const earlier = before.get(id);
        if (earlier) this.#idle.set(id, { us_per_s: cpuBetween(earlier, delays) / seconds });
      }
    });
    this.#readEnd();
    this.#isOpen = true;
    return this.#pending;
  }

  readBeforeLongTurns(): Promise<void> {
    if (!this.#hasStopped)
      this.#enqueue(async () => {
        this.#aroundLongTurns.push(await this.#readCpu());
      });
    return this.#pending;
  }

  readBetweenTurns(): Promise<void> {
    if (this.#isOpen) this.#enqueue(() => this.#readParts());
    return this.#pending;
  }

  /**
   * Starts the watch, and resolves when the counters are read. It does nothing after `stop`, because
   * a generator that has ended opens no window.
   */
  start(): Promise<void> {
    if (this.#hasStopped) return this.#pending;
    this.#readEnd();
    this.#isOpen = true;
    this.#timer = setInterval(() => this.#readBetween(), PERIOD_MS);
    return this.#pending;
  }

  /** Starts the watch of one turn of a load curve, in which nothing is read. */
  startTurn(): Promise<void> {
    if (this.#hasStopped) return this.#pending;
    this.#readEnd();
    this.#isOpen = true;
    return this.#pending;
  }

  stop(): Promise<void> {
    this.#hasStopped = true;
    clearInterval(this.#timer);
    if (this.#isOpen) {
      this.#isOpen = false;
      this.#readEnd();
    }
    return this.#pending;
  }

  /** @param in_long_turns_s how long the role's target had the load in long turns */
  async resources(
    source: string,
    loaded_s: number,
    requests: number,
    in_long_turns_s = 0,
  ): Promise<Record<string, RoleResources>> {
    await this.#pending;
    const roles: Record<string, RoleResources> = {};
    for (const role of this.#roles.filter(isMeasured)) {
      const resources = this.#resourcesOf(role, source, loaded_s, requests);
      const long_turns_cpu_us = this.#longTurnsCpuUs(role.id, in_long_turns_s);
      if (resources) roles[role.id] = { ...resources, ...definedOnly({ long_turns_cpu_us }) };
    }
    return roles;
  }

  /** The resources of a role; undefined where not both ends of the window were read. */
  #resourcesOf(
    { id, kind, part: { caps } }: MeasuredRole,
    source: string,
    loaded_s: number,
    requests: number,
  ): RoleResources | undefined {
    const readings = this.#readings.get(id) ?? [];
    const first = readings[0];
    const last = readings.at(-1);
    if (!first || !last || first === last) return undefined;

    const elapsed_s = (last.at_ms - first.at_ms) / 1000;
    const idle = this.#idle.get(id);
    // The CPU time that the role used while others had the load.
    const idle_us = idle && Math.round(idle.us_per_s * Math.max(0, elapsed_s - loaded_s));
    const loaded = idle && elapsed_s > loaded_s ? loaded_s / elapsed_s : 1;
    const share = { loaded, idle_us_per_s: idle?.us_per_s ?? 0 };
    const cpu_us = Math.max(0, last.cpu_us - first.cpu_us - (idle_us ?? 0));
    const cpu_us_per_request = requests > 0 ? rounded(cpu_us / requests, 2) : undefined;
    const residentBytes = readings.map(({ resident_bytes }) => resident_bytes);
    return {
      kind,
      source,
      cpu_us,
      cpu_percent: rounded(cpu_us / loaded_s / 10_000, 2),
      ...definedOnly({ cpu_us_per_request, run_delay_us: this.#runDelayUs(id), idle_us }),
      resident_bytes_mean: Math.round(mean(residentBytes)),
      resident_bytes_max: Math.max(...residentBytes),
      resident_bytes_at_window_open: first.resident_bytes,
      resident_bytes_at_end: last.resident_bytes,
      ...definedOnly({ caps }),
      ...throttlingAndNetworkBetween(first, last),
      samples: readings
        .slice(1)
        .map((reading, index) => sampleOf(first, readings[index] ?? first, reading, share)),
    };
  }

  /**
   * The load of the machine; undefined where a counter is not known.
   * @param reported CPU time that roles reported themselves, for readings that come too late
   * @param external_us the CPU time of an external store, which is no part of the run
   */
  async hostLoad(
    loaded_s: number,
    reported: ReportedCpu,
    external_us = 0,
  ): Promise<HostLoad | undefined> {
    await this.#pending;
    const [from, to] = this.#ends;
    if (!from?.host || !to?.host) return undefined;
    if (!this.#roles.every(({ part }) => part.onThisMachine)) return undefined;
    const roles_us = usedBy(this.#roles, from, to, reported);
    if (roles_us === undefined) return undefined;

    const ours_us = to.harness_us - from.harness_us + external_us + roles_us;
    const load = hostLoadOf(from.host, to.host, ours_us, loaded_s);
    const { cpus_allowed } = readOwnLimits();
    const isNarrowed = load && this.#isInOurGroups() && cpus_allowed < load.cpus;
    return isNarrowed ? { ...load, cpus_allowed } : load;
  }

  /**
   * The throttling of harness and roles together; undefined where they share no control group with a
   * CPU quota.
   */
  async ownThrottling(): Promise<Throttling | undefined> {
    await this.#pending;
    const [from, to] = this.#ends;
    if (!to?.own_throttling || !this.#isInOurGroups()) return undefined;
    return throttlingSince(from?.own_throttling, to.own_throttling);
  }

  #isInOurGroups(): boolean {
    return this.#roles.some(({ part }) => part.isInOurGroups);
  }

  /** The load of each of several machines whose counters are known. */
  async machineLoads(
    loaded_s: number,
    reported: ReportedCpu,
  ): Promise<Record<string, MachineLoad>> {
    await this.#pending;
    const [from, to] = this.#ends;
    const machines = this.#machines;
    if (!from || !to || !machines) return {};
    const loads: Record<string, MachineLoad> = {};
    for (const [name, closing] of Object.entries(to.machines)) {
      const opening = from.machines[name];
      const names = machines.computerOf(name);
      const roles = this.#roles.filter(({ part: { machine = "" } }) => names.includes(machine));
      const ours_us = usedBy(roles, from, to, reported);
      if (!opening?.cpu || !closing.cpu || ours_us === undefined) continue;

      const harness_us = machines.isHere(name) ? to.harness_us - from.harness_us : 0;
      const load = hostLoadOf(opening.cpu, closing.cpu, ours_us + harness_us, loaded_s);
      const network =
        opening.network && closing.network && networkBytesSince(opening.network, closing.network);
      if (load) loads[name] = { ...load, ...definedOnly({ network }) };
    }
    return loads;
  }

  /** The seconds between the readings at both ends. */
  get elapsedS(): number {
    const [from, to] = this.#ends;
    return from && to ? (to.at_ms - from.at_ms) / 1000 : 0;
  }

  /** The CPU time of a role in long turns, less its idle use; undefined where it is not known. */
  #longTurnsCpuUs(id: string, loaded_s: number): number | undefined {
    const [before, after] = this.#aroundLongTurns.map((readings) => readings.get(id));
    const idle = this.#idle.get(id);
    if (!before || !after || !idle || loaded_s === 0) return undefined;

    const unloaded_s = Math.max(0, (after.at_ms - before.at_ms) / 1000 - loaded_s);
    const used_us = after.cpu_us - before.cpu_us - idle.us_per_s * unloaded_s;
    return Math.max(0, Math.round(used_us));
  }

  async #readCpu(): Promise<ReadonlyMap<string, CpuReading>> {
    const cpu = new Map<string, CpuReading>();
    const reading = this.#roles.map(async ({ id, part }) => {
      const counters = await inTime(part.counters()).catch(() => undefined);
      if (counters) cpu.set(id, { at_ms: performance.now(), cpu_us: counters.cpu_us });
    });
    await Promise.all(reading);
    return cpu;
  }

  async #readDelays(): Promise<ReadonlyMap<string, RunDelays>> {
    const delays = new Map<string, RunDelays>();
    const reading = this.#roles.map(async ({ id, part }) => {
      const roleDelays = await inTime(part.runDelays()).catch(() => undefined);
      if (roleDelays) delays.set(id, roleDelays);
    });
    await Promise.all(reading);
    return delays;
  }

  #runDelayUs(id: string): number | undefined {
    const [from, to] = this.#ends.map(({ run_delays }) => run_delays.get(id));
    return from && to && runDelayBetween(from, to);
  }

  #enqueue(read: () => Promise<unknown>): void {
    this.#pending = this.#pending.then(async () => {
      await read();
    });
  }

  /**
   * Reads counters in the window, unless a reading is under way. Slow readings must not queue up,
   * because the one at the end of the window would have to wait for all of them.
   */
  #readBetween(): void {
    if (this.#isReadingBetween) return;
    this.#isReadingBetween = true;
    this.#enqueue(async () => {
      await this.#readParts();
      this.#isReadingBetween = false;
    });
  }

  #readEnd(): void {
    this.#enqueue(async () => {
      const host = this.#readHost();
      const own_throttling = readOwnThrottling();
      const harness_us = harnessCpuUs();
      const at_ms = performance.now();
      const [cpu_us, machines, run_delays] = await Promise.all([
        this.#readParts(),
        // The machine probes themselves report a machine that does not answer.
        inTime(this.#machines?.counters() ?? Promise.resolve({})).catch(() => ({})),
        this.#readDelays(),
      ]);
      this.#ends.push({ at_ms, host, own_throttling, harness_us, cpu_us, run_delays, machines });
    });
  }

  /** @returns the CPU time of each role that could be read */
  async #readParts(): Promise<ReadonlyMap<string, number>> {
    const cpu_us = new Map<string, number>();
    await Promise.all(
      this.#roles.map(async ({ id, part }) => {
        if (part.isDown) {
          // The last reading has the CPU time until the part was killed.
          const lastReading = this.#readings.get(id)?.at(-1);
          if (lastReading) cpu_us.set(id, lastReading.cpu_us);
          return;
        }
        try {
          const counters = await inTime(part.counters());
          const readings = this.#readings.get(id) ?? [];
          readings.push({ ...counters, at_ms: performance.now() });
          this.#readings.set(id, readings);
          cpu_us.set(id, counters.cpu_us);
        } catch (error) {
          // The part was killed while its counters were read.
          if (part.isDown) return;
          this.failures.push(`counters of ${id} could not be read: ${String(error)}`);
        }
      }),
    );
    return cpu_us;
  }
}
