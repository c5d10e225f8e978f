import { within } from "../../contract/deadline.js";
import { messageOf } from "../../contract/errors.js";
import {
  type LinkQuestion,
  MACHINE_PROBE_LISTENS,
  type MachineAnswer,
  type MachineCounters,
  type MachineFacts,
  type MachineQuestion,
  machineAnswerSchemas,
  machineRequestLine,
  parseMachineReply,
} from "../../contract/machine-probe.js";
import type { RunningPart, Runtime } from "../../runtimes/types.js";
import type { Lease } from "../ownership/lease.js";
import { machineProbePart } from "./layout.js";
import { type LinkEnds, linkOf, type MeasuredLink } from "./machine-links.js";

/** The longest answer, that of a slow link, takes some 10 s. A machine that is gone must not hold up the campaign. */
const ANSWERS_WITHIN_MS = 30_000;
/** The load waits while counters are read. */
const COUNTERS_WITHIN_MS = 3_000;

/** The probe answers, and says why it cannot. */
class ProbeRefused extends Error {}

class MachineProbe {
  readonly part: RunningPart;
  readonly #awaited = new Map<number, { answered(answer: unknown): void; failed(error: Error): void }>();
  readonly #listening: Promise<void>;
  #last = 0;

  constructor(part: RunningPart) {
    this.part = part;
    const listens = new Promise<void>((resolve) =>
      part.onLine((line) => {
        if (line === MACHINE_PROBE_LISTENS) resolve();
      }),
    );
    const late = () => `${part.role} did not begin to listen in time`;
    this.#listening = within(listens, ANSWERS_WITHIN_MS, late);
    part.onLine((line) => this.#read(line));
    // Whoever waits for an answer then gets none.
    part.exited.then(() => {
      const last = part.lastLines().at(-1);
      for (const { failed } of this.#awaited.values())
        failed(new Error(`${part.role} has ended${last ? `: ${last}` : ""}`));
    });
  }

  /** Resolves when it accepts connections. @throws Error when it does not in time */
  listening(): Promise<void> {
    return this.#listening;
  }

  async ask<Question extends MachineQuestion>(question: Question): Promise<MachineAnswer<Question["ask"]>> {
    const id = ++this.#last;
    const answer = new Promise<unknown>((answered, failed) => this.#awaited.set(id, { answered, failed }));
    this.part.write?.(machineRequestLine(id, question));
    const ms = question.ask === "counters" ? COUNTERS_WITHIN_MS : ANSWERS_WITHIN_MS;
    try {
      const found = await within(answer, ms, () => `${this.part.role} gave no answer in time`);
      return machineAnswerSchemas[question.ask].parse(found) as MachineAnswer<Question["ask"]>;
    } finally {
      this.#awaited.delete(id);
    }
  }

  #read(line: string): void {
    const reply = parseMachineReply(line);
    if (!reply) return;
    const awaited = this.#awaited.get(reply.id);
    if ("error" in reply) awaited?.failed(new ProbeRefused(reply.error));
    else awaited?.answered(reply.answer);
  }
}

/** A probe on each of several machines. One that fails is told once and costs knowledge, no run. */
export class MachineProbes {
  readonly #probes: Map<string, MachineProbe>;
  readonly #warn: (text: string) => void;

  private constructor(probes: Map<string, MachineProbe>, warn: (text: string) => void) {
    this.#probes = probes;
    this.#warn = warn;
  }

  static async open(runtime: Runtime, lease: Lease, warn: (text: string) => void): Promise<MachineProbes> {
    const { machines = [] } = runtime;
    const probes = new MachineProbes(new Map(), warn);
    const starting = machines.map(async ({ name }, index) => {
      const part = await lease.start(runtime, machineProbePart(`machine-probe-${index + 1}`, name));
      const probe = new MachineProbe(part);
      await probe.listening();
      return [name, probe] as const;
    });
    const found = await Promise.allSettled(starting);
    for (const [index, each] of found.entries()) {
      if (each.status === "fulfilled") probes.#probes.set(...each.value);
      else probes.#tell(machines[index]?.name ?? "", each.reason);
    }
    return probes;
  }

  facts(): Promise<Record<string, MachineFacts>> {
    return this.#askAll({ ask: "facts" });
  }

  counters(): Promise<Record<string, MachineCounters>> {
    return this.#askAll({ ask: "counters" });
  }

  /** From both ends, one after the other. @param bandwidth false: round trips and clocks alone */
  async links(pairs: readonly LinkEnds[], bandwidth: boolean): Promise<MeasuredLink[]> {
    const found: MeasuredLink[] = [];
    for (const [first, second] of pairs) {
      const there = await this.#link(first, second, bandwidth);
      const back = there && (await this.#link(second, first, false));
      if (there && back) found.push(linkOf([first, second], there, back));
    }
    return found;
  }

  /** A link that fails says nothing about its machines. */
  async #link(from: string, to: string, bandwidth: boolean): Promise<MachineAnswer<"link"> | undefined> {
    const probe = this.#probes.get(from);
    const other = this.#probes.get(to);
    if (!probe || !other) return undefined;
    const { host, port } = other.part.address;
    const question: LinkQuestion = { ask: "link", host, port, bandwidth };
    try {
      return await probe.ask(question).catch((error: unknown) => {
        if (!(error instanceof ProbeRefused)) throw error;
        // An overlay network may have learned only now where the other one is.
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
    const answers = await Promise.all(
      [...this.#probes.keys()].map(async (name) => [name, await this.#ask(name, question)] as const),
    );
    return Object.fromEntries(answers.flatMap(([name, answer]) => (answer ? [[name, answer]] : [])));
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
