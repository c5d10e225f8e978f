import { AUTO_WARMUP, type Configuration } from "../../../contract/configuration.js";
import type { GeneratorOutput, GroupOutput } from "../../../contract/generator-output.js";
import type { TurnLengths, TurnsSpec } from "../../../contract/turns.js";
import { halvesOf } from "../../../judge/steadiness.js";
import { definedOnly } from "../../../kit/defined-only.js";
import { sum } from "../../../kit/numbers.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import {
  lengthsFor,
  longTurns,
  SHORTEST_SEPARATE,
  secondsOfSlices,
} from "../../../traffic/turn-order.js";
import type { TurnEvent } from "../run-generators.js";
import type { RunSettings } from "../run-settings.js";
import { TurnGiver } from "./turn-giver.js";

/**
 * The turns of a round whose targets have their own generators, with the figures that need all of
 * the turns.
 */
export class TurnsOfRound extends TurnGiver {
  readonly #spec: TurnsSpec;
  readonly #planned_s: number;
  readonly #warmup_s: number;
  #lengths: TurnLengths;
  #measured: readonly (readonly TurnEvent[])[] = [];
  /** How often all generators have continued from a drained moment. */
  #moments = 0;

  constructor(
    parts: readonly RunningPart[],
    spec: TurnsSpec,
    { extent }: Configuration,
    warmupS: RunSettings["warmupS"],
  ) {
    super(parts);
    this.#spec = spec;
    this.#planned_s = "duration_s" in extent ? extent.duration_s : 0;
    this.#warmup_s = warmupS === "auto" ? AUTO_WARMUP.min_by_turns_s : warmupS;
    this.#lengths = spec.lengths ?? lengthsFor(0, spec.shortest ?? SHORTEST_SEPARATE);
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
    const turns = await this.give({ lengths: this.#lengths, seconds: this.#warmup_s, seed });
    const slowest_ms = Math.max(0, ...turns.map(meanLatencyMs));
    this.#lengths = lengths ?? lengthsFor(slowest_ms, shortest);
  }

  async #giveLong(): Promise<void> {
    await this.give(longTurns(this.#spec.seed));
  }

  async #giveMeasured(): Promise<void> {
    const seconds = secondsOfSlices(this.#planned_s, this.#lengths);
    // The window has another order than the warm-up.
    const seed = ~this.#spec.seed >>> 0;
    this.#measured = await this.give({ lengths: this.#lengths, seconds, seed });
  }

  /** The output of a generator, with the figures that need the turns of the others. */
  complete(generator: number, output: GeneratorOutput): GeneratorOutput {
    if (!output.turns) return output;
    const answersByTurn = this.#measured.map((turns) => turns.map(({ answers }) => answers));
    const halves = halvesOf(answersByTurn)[generator];
    return {
      ...output,
      turns: {
        ...output.turns,
        ...this.#lengths,
        group: this.#measured.length,
        ...definedOnly({ halves }),
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

function meanLatencyMs(turns: readonly TurnEvent[]): number {
  const answers = sum(turns.map((turn) => turn.answers + turn.followed));
  return answers > 0 ? sum(turns.map((turn) => turn.latency_sum_us)) / answers / 1000 : 0;
}
