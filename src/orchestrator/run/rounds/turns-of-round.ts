import type { Configuration, Load } from "../../../contract/configuration.js";
import type { GeneratorOutput, GroupOutput } from "../../../contract/generator-output.js";
import type { TurnLengths, TurnsSpec } from "../../../contract/turns.js";
import { halvesOf, levelChangesOf } from "../../../judge/steadiness.js";
import { type WarmupSlice, WarmupWatch } from "../../../judge/warmup-watch.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { sum } from "../../../kit/numbers.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import {
  curveOrder,
  lengthsFor,
  longTurns,
  SHORTEST_SEPARATE,
  secondsOfSlices,
} from "../../../traffic/turn-order.js";
import type { TurnEvent } from "../run-generators.js";
import type { RunSettings } from "../run-settings.js";
import { TurnGiver } from "./turn-giver.js";

/** The turn of a run of a load curve. */
interface TurnOfCurve {
  generator: number;
  /** The index of the run among those of its generator. */
  run: number;
  load: Load;
}

/**
 * The turns of a round whose targets have their own generators, with the figures that need all of
 * the turns.
 */
export class TurnsOfRound extends TurnGiver {
  readonly #spec: TurnsSpec;
  readonly #generators: number;
  readonly #planned_s: number;
  readonly #warmup_s: RunSettings["warmupS"];
  /** Whether each generator was steady at the end of a warm-up of `auto`; empty for a fixed one. */
  #steady: readonly boolean[] = [];
  /** The turns of the runs of a load curve. It is empty where targets have turns over and over. */
  readonly #ofCurve: readonly TurnOfCurve[];
  #lengths: TurnLengths;
  #measured: readonly (readonly TurnEvent[])[] = [];
  /** How often all generators have continued from a drained moment. */
  #moments = 0;

  constructor(
    parts: readonly RunningPart[],
    spec: TurnsSpec,
    { extent }: Configuration,
    warmupS: RunSettings["warmupS"],
    ofCurve: readonly TurnOfCurve[] = [],
  ) {
    super(parts);
    this.#spec = spec;
    this.#planned_s = "duration_s" in extent ? extent.duration_s : 0;
    this.#generators = parts.length;
    this.#warmup_s = warmupS;
    this.#ofCurve = ofCurve;
    // The lengths of a load curve are those of its runs, and its warm-up has the shortest ones.
    const lengths = spec.curve ? undefined : spec.lengths;
    this.#lengths = lengths ?? lengthsFor(0, spec.shortest ?? SHORTEST_SEPARATE);
  }

  /** Begins the turns of the next phase after the readings before it. */
  async goOn(): Promise<void> {
    const phases = [
      () => this.#warmUp(),
      ...(this.#spec.long ? [() => this.#giveLong()] : []),
      () => this.#giveMeasured(),
    ];
    await phases[this.#moments++]?.();
  }

  /** Gives the turns of the warm-up, and finds the lengths of turns unless an earlier round has. */
  async #warmUp(): Promise<void> {
    const { seed, lengths, shortest = SHORTEST_SEPARATE } = this.#spec;
    const turns =
      this.#warmup_s === "auto"
        ? await this.#warmUpUntilSteady()
        : await this.give({ lengths: this.#lengths, seconds: this.#warmup_s, seed });
    this.endTurns();
    const slowest_ms = Math.max(0, ...turns.map(meanLatencyMs));
    this.#lengths = lengths ?? lengthsFor(slowest_ms, shortest);
  }

  async #giveLong(): Promise<void> {
    await this.give(longTurns(this.#spec.seed));
    this.endTurns();
  }

  /**
   * Gives turns to each generator until its warm-up is over. A generator reads its CPU time at the
   * edges of its own turns, so these need not be as long as those of the window.
   */
  async #warmUpUntilSteady(): Promise<TurnEvent[][]> {
    const isSlow = this.#lengths.slice_ms > SHORTEST_SEPARATE.slice_ms;
    const lengths = isSlow ? this.#lengths : lengthsFor(0);
    const seconds = lengths.slice_ms / 1000;
    const watches = Array.from({ length: this.#generators }, () => new WarmupWatch("closed"));
    const turns: TurnEvent[][] = watches.map(() => []);
    for (let seed = this.#spec.seed; ; seed++) {
      const generators = [...watches.keys()].filter(
        (generator) => !watches[generator]?.isOver && !this.isGone(generator),
      );
      if (generators.length === 0) break;

      const cycle = await this.give({ lengths, seconds, seed }, generators);
      for (const [generator, events] of cycle.entries()) {
        turns[generator]?.push(...events);
        for (const event of events) watches[generator]?.add(sliceOf(event));
      }
    }
    this.#steady = watches.map(({ isSteady }) => isSteady);
    return turns;
  }

  async #giveMeasured(): Promise<void> {
    if (this.#ofCurve.length > 0) return this.#giveCurve();
    const seconds = secondsOfSlices(this.#planned_s, this.#lengths);
    // The window has another order than the warm-up.
    const seed = ~this.#spec.seed >>> 0;
    this.#measured = await this.give({ lengths: this.#lengths, seconds, seed });
    this.endTurns();
  }

  /** Gives each run of a load curve its turn. */
  async #giveCurve(): Promise<void> {
    for (const { generator, run } of curveOrder(this.#ofCurve, ({ load }) => load, this.#spec.seed))
      await this.giveTurn(generator, { ...this.#lengths, run });
    this.endTurns();
  }

  /** The output of a generator, with the end of its warm-up. */
  withSteadiness(generator: number, output: GeneratorOutput): GeneratorOutput {
    const steady = this.#steady[generator];
    return { ...output, warmup: { ...output.warmup, ...definedOnly({ steady }) } };
  }

  /** The output of a generator, with the figures that need the turns of the others. */
  complete(generator: number, output: GeneratorOutput): GeneratorOutput {
    if (!output.turns) return output;
    const answersByTurn = this.#measured.map((turns) => turns.map(({ answers }) => answers));
    const halves = halvesOf(answersByTurn)[generator];
    const level_change = levelChangesOf(answersByTurn)[generator];
    return {
      ...this.withSteadiness(generator, output),
      turns: {
        ...output.turns,
        ...this.#lengths,
        group: this.#measured.length,
        ...definedOnly({ halves, level_change }),
      },
    };
  }
}

/**
 * The output with the longest gap of the group, because all generators wait while one stands still
 * (M36).
 */
export function withLongestGap(output: GeneratorOutput, group: GroupOutput): GeneratorOutput {
  const members = group.flatMap((member) => ("failed" in member ? [] : member.generators));
  const gaps_ms = members.flatMap(({ longest_gap_ms }) => longest_gap_ms ?? []);
  if (gaps_ms.length === 0) return output;
  const longest_gap_ms = Math.max(...gaps_ms);
  const generators = output.generators.map((generator) => ({ ...generator, longest_gap_ms }));
  return { ...output, generators };
}

/** A turn as a slice of a warm-up. At this layer the generator itself calls the limiter. */
const sliceOf = ({
  took_ms,
  requests,
  answers,
  followed,
  latency_sum_us,
  cpu_us,
}: TurnEvent): WarmupSlice => ({
  took_s: took_ms / 1000,
  requests,
  answers: answers + followed,
  latency_sum_us,
  cpu_us_per_request: cpu_us / requests,
});

function meanLatencyMs(turns: readonly TurnEvent[]): number {
  const answers = sum(turns.map((turn) => turn.answers + turn.followed));
  return answers > 0 ? sum(turns.map((turn) => turn.latency_sum_us)) / answers / 1000 : 0;
}
