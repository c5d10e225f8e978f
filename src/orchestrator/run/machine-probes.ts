import {
  type LinkQuestion,
  type LinkReading,
  MACHINE_PROBE_LISTENS,
  type MachineAnswer,
  type MachineCounters,
  type MachineQuestion,
  machineAnswerSchemas,
  machineRequestLine,
  type ProbedMachine,
  parseMachineReply,
} from "../../contract/machine-probe.js";
import type { MachineLink, PlacedKind } from "../../contract/machines.js";
import { within } from "../../kit/deadline.js";
import { definedOnly } from "../../kit/defined-only.js";
import { messageOf } from "../../kit/errors.js";
import type { RunningPart, Runtime } from "../../runtimes/runtime-types.js";
import type { Lease } from "../ownership/lease.js";
import { machineProbePart } from "./layout.js";

/**
 * The time for an answer. The longest one, for a slow link, takes some 10 s, and a machine that is
 * gone must not hold up the campaign.
 */
const ANSWERS_WITHIN_MS = 30_000;

/** The time for counters, which is short because the load waits while they are read. */
const COUNTERS_WITHIN_MS = 3_000;

/** Says that a probe answered with a reason why it cannot measure. */
class ProbeRefused extends Error {}

/** The probe on one machine. */
class MachineProbe {
  readonly part: RunningPart;
  /** The questions without an answer yet, by their id. */
  readonly #questions = new Map<
    number,
    { resolve(answer: unknown): void; reject(error: Error): void }
  >();
  /** Resolves when the probe accepts connections, and rejects where it does not in time. */
  readonly listening: Promise<void>;
  #lastId = 0;

  constructor(part: RunningPart) {
    this.part = part;
    const listens = new Promise<void>((resolve) =>
      part.onLine((line) => {
        if (line === MACHINE_PROBE_LISTENS) resolve();
      }),
    );
    const lateText = () => `${part.role} did not begin to listen in time`;
    this.listening = within(listens, ANSWERS_WITHIN_MS, lateText);
    part.onLine((line) => this.#read(line));
    // Questions that are open when the probe ends get no answer.
    part.exited.then(() => {
      const lastLine = part.lastLines().at(-1);
      const error = new Error(`${part.role} has ended${lastLine ? `: ${lastLine}` : ""}`);
      for (const { reject } of this.#questions.values()) reject(error);
    });
  }

  async ask<Question extends MachineQuestion>(
    question: Question,
  ): Promise<MachineAnswer<Question["ask"]>> {
    this.#lastId++;
    const id = this.#lastId;
    const answer = new Promise<unknown>((resolve, reject) =>
      this.#questions.set(id, { resolve, reject }),
    );
    this.part.write?.(machineRequestLine(id, question));
    const timeout_ms = question.ask === "counters" ? COUNTERS_WITHIN_MS : ANSWERS_WITHIN_MS;
    const lateText = () => `${this.part.role} gave no answer in time`;
    try {
      const reply = await within(answer, timeout_ms, lateText);
      return machineAnswerSchemas[question.ask].parse(reply) as MachineAnswer<Question["ask"]>;
    } finally {
      this.#questions.delete(id);
    }
  }

  #read(line: string): void {
    const reply = parseMachineReply(line);
    if (!reply) return;

    const question = this.#questions.get(reply.id);
    if ("error" in reply) question?.reject(new ProbeRefused(reply.error));
    else question?.resolve(reply.answer);
  }
}

/** The probes of several machines. One that fails is reported once, and fails no run. */
export class MachineProbes {
  readonly #probes: Map<string, MachineProbe>;
  readonly #warn: (text: string) => void;

  private constructor(probes: Map<string, MachineProbe>, warn: (text: string) => void) {
    this.#probes = probes;
    this.#warn = warn;
  }

  static async open(
    runtime: Runtime,
    lease: Lease,
    warn: (text: string) => void,
  ): Promise<MachineProbes> {
    const { machines = [] } = runtime;
    const probes = new MachineProbes(new Map(), warn);
    const starting = machines.map(async ({ name }, index) => {
      const part = await lease.start(runtime, machineProbePart(`machine-probe-${index + 1}`, name));
      const probe = new MachineProbe(part);
      await probe.listening;
      return [name, probe] as const;
    });
    const started = await Promise.allSettled(starting);
    for (const [index, start] of started.entries()) {
      if (start.status === "fulfilled") probes.#probes.set(...start.value);
      else probes.#tell(machines[index]?.name ?? "", start.reason);
    }
    return probes;
  }

  machines(): Promise<Record<string, ProbedMachine>> {
    return this.#askAll({ ask: "facts" });
  }

  counters(): Promise<Record<string, MachineCounters>> {
    return this.#askAll({ ask: "counters" });
  }

  /** Measures each link from both ends, one after the other. */
  async links(pairs: readonly LinkEnds[]): Promise<MachineLink[]> {
    const links: MachineLink[] = [];
    for (const [first, second] of pairs) {
      const there = await this.#link(first, second, true);
      const back = there && (await this.#link(second, first, false));
      if (there && back) links.push(linkOf([first, second], there, back));
    }
    return links;
  }

  /** The reading of a link from one end; undefined where it fails, which costs no machine. */
  async #link(
    from: string,
    to: string,
    bandwidth: boolean,
  ): Promise<MachineAnswer<"link"> | undefined> {
    const probe = this.#probes.get(from);
    const otherProbe = this.#probes.get(to);
    if (!probe || !otherProbe) return undefined;

    const { host, port } = otherProbe.part.address;
    const question: LinkQuestion = { ask: "link", host, port, bandwidth };
    try {
      return await probe.ask(question).catch((error: unknown) => {
        if (!(error instanceof ProbeRefused)) throw error;
        // An overlay network may have learned only now where the other machine is.
        return probe.ask(question);
      });
    } catch (error) {
      this.#warn(`from ${from} to ${to}: ${messageOf(error)}`);
      return undefined;
    }
  }

  async #askAll<Question extends MachineQuestion>(
    question: Question,
  ): Promise<Record<string, MachineAnswer<Question["ask"]>>> {
    const asking = [...this.#probes.keys()].map(
      async (name) => [name, await this.#ask(name, question)] as const,
    );
    const answers = await Promise.all(asking);
    return Object.fromEntries(
      answers.flatMap(([name, answer]) => (answer ? [[name, answer] as const] : [])),
    );
  }

  async #ask<Question extends MachineQuestion>(
    name: string,
    question: Question,
  ): Promise<MachineAnswer<Question["ask"]> | undefined> {
    const probe = this.#probes.get(name);
    if (!probe) return undefined;
    try {
      return await probe.ask(question);
    } catch (error) {
      this.#probes.delete(name);
      this.#tell(name, error);
      return undefined;
    }
  }

  #tell(name: string, error: unknown): void {
    this.#warn(`machine ${name} is not measured: ${messageOf(error)}`);
  }
}

export type LinkEnds = readonly [string, string];

/** The roles that talk to each other over the network: load goes from one to the next. */
const TALKING: readonly (readonly [PlacedKind, PlacedKind])[] = [
  ["generator", "server"],
  ["server", "store"],
];

/** The pairs of machines over which roles may talk to each other, each once. */
export function linksBetween(machinesFor: (kind: PlacedKind) => readonly string[]): LinkEnds[] {
  const pairs = new Map<string, LinkEnds>();
  for (const [caller, called] of TALKING) {
    for (const from of machinesFor(caller)) {
      for (const to of machinesFor(called)) {
        const key = [from, to].toSorted().join("\n");
        if (from !== to && !pairs.has(key)) pairs.set(key, [from, to]);
      }
    }
  }
  return [...pairs.values()];
}

/** The smallest value that at least this share of the values does not exceed. */
const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.max(0, Math.ceil(share * ascending.length) - 1)] ?? 0;

export function linkOf(between: LinkEnds, there: LinkReading, back: LinkReading): MachineLink {
  const trips = [...there.round_trips_us, ...back.round_trips_us].sort((a, b) => a - b);
  const { sent_bits_per_second: sent, received_bits_per_second: received } = there;
  const bits_per_second = sent && received ? { there: sent, back: received } : undefined;
  return {
    between: [...between],
    round_trip_us: { p50: quantile(trips, 0.5), p90: quantile(trips, 0.9), count: trips.length },
    ...definedOnly({ bits_per_second }),
  };
}
