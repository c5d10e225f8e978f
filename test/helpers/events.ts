import { type CampaignEvent, type EventOf, eventSchema } from "../../src/contract/events.js";
import type { Plan } from "../../src/contract/plan.js";
import { definedOnly } from "../../src/kit/defined-only.js";
import { makePlan } from "../../src/orchestrator/plan/make-plan.js";
import type { Output, Outputs, Screen } from "../../src/orchestrator/ui/screen-types.js";
import { everything, requestOf } from "./request.js";

export const STARTED_MS = Date.parse("2026-01-01T12:00:00.000Z");
const atS = (second: number): string => new Date(STARTED_MS + 1000 * second).toISOString();

/** The plan of two runs of iovalkey at 8 connections and 10 s, unless flags change it. */
export const planOf = (...flags: readonly string[]): Plan =>
  makePlan(
    requestOf("--runs", "2", "--concurrency", "8", "--duration-mode", "custom:10", ...flags),
    everything,
  );

const TWO_VALID = {
  valid: 2,
  suspect: 0,
  invalid: 0,
  failed: 0,
  aborted: 0,
  kept: 0,
  not_begun: 0,
};

type Change<Kind extends CampaignEvent["event"]> = Partial<Omit<EventOf<Kind>, "event" | "at">>;

/**
 * The events of a campaign; each fits the schema. `second` counts from the start of the campaign.
 */
export class EventFixture {
  readonly plan: Plan;

  constructor(plan = planOf()) {
    this.plan = plan;
  }

  #event<Kind extends CampaignEvent["event"]>(
    event: Kind,
    second: number,
    rest: object,
  ): EventOf<Kind> {
    return eventSchema.parse({ event, at: atS(second), ...rest }) as EventOf<Kind>;
  }

  opened = () => this.#event("opened", 0, { schema: "ratelimit-bench/event", schema_version: 1 });

  notice = (text: string, level: "info" | "setup" | "warning" = "info") =>
    this.#event("notice", 0, { level, text });

  detail = (text: string, role?: string) => this.#event("detail", 0, definedOnly({ text, role }));

  campaign = (change: Change<"campaign"> = {}) =>
    this.#event("campaign", 0, {
      campaign: "20260101_120000",
      folder: "/results/20260101_120000",
      runtime: "local",
      runs: this.plan.runs.length,
      configurations: this.plan.configurations,
      runs_per_configuration: this.plan.runs_per_configuration,
      order: this.plan.order,
      seed: 1,
      estimate_s: 100,
      skips: [],
      ...change,
    });

  #place(number: number) {
    const run = this.plan.runs[number - 1];
    if (!run) throw new Error("no such run");
    const { file, run: repetition, round, configuration_hash: hash } = run;
    const of = this.plan.runs.length;
    return definedOnly({ number, of, file, run: repetition, round, hash });
  }

  kept(
    number: number,
    status: EventOf<"run_kept">["status"] = "valid",
    change: Change<"run_kept"> = {},
  ) {
    const { of, file } = this.#place(number);
    return this.#event("run_kept", 0, { number, of, file, status, ...change });
  }

  started(number: number, second = 0, change: Change<"run_started"> = {}) {
    const { hash, ...place } = this.#place(number);
    const planned = this.plan.configurations.find((configuration) => configuration.hash === hash);
    return this.#event("run_started", second, {
      ...place,
      runs_per_configuration: this.plan.runs_per_configuration,
      configuration_hash: hash,
      configuration: planned?.configuration,
      time_left_s: 100 - second,
      ...change,
    });
  }

  /** Of a round whose group has all runs of the plan. */
  round(kind: "round_started" | "round_finished", second = 0) {
    const runs = this.plan.runs.map((_, index) => index + 1);
    const members = {
      round: 1,
      of: this.plan.runs_per_configuration,
      runs,
      time_left_s: 100 - second,
    };
    return this.#event(
      kind,
      second,
      kind === "round_finished" ? { ...members, took_s: second } : members,
    );
  }

  phase = (phase: EventOf<"phase">["phase"], second = 0, lasts_s?: number) =>
    this.#event("phase", second, {
      number: 1,
      phase,
      ...definedOnly({ lasts_s }),
    });

  second = (second: number, change: Change<"second"> = {}) =>
    this.#event("second", second, {
      number: 1,
      t_s: second,
      requests_per_second: 5012,
      limited_share: 0.1,
      p99_ms: 12.31,
      generator_event_loop_utilisation: 0.45,
      server_event_loop_utilisation: 0.78,
      server_cpu_percent: 96,
      time_left_s: 100 - second,
      ...change,
    });

  finished(number: number, change: Change<"run_finished"> = {}, second = 12) {
    const { hash, ...place } = this.#place(number);
    return this.#event("run_finished", second, {
      ...place,
      configuration_hash: hash,
      status: "valid",
      reasons: [],
      figures: { requests_per_second: 5000.4, p50_ms: 1.5, p99_ms: 12.25, limited_share: 0.1 },
      took_s: 12,
      time_left_s: 100 - second,
      ...change,
    });
  }

  failed = (number: number, text: string) =>
    this.finished(number, {
      status: "failed",
      figures: undefined,
      reasons: [{ rule: "M20", severity: "invalid", text: `failed: ${text}` }],
    });

  report = (change: Partial<EventOf<"report">["configurations"][number]>[] = []) =>
    this.#event("report", 90, {
      path: "/results/20260101_120000/report/index.html",
      screen: [],
      thresholds: [],
      configurations: this.plan.configurations.map(
        ({ hash, configuration: { target, ...rest } }, index) => ({
          configuration_hash: hash,
          label: target.label,
          store: target.store,
          topology: target.topology,
          workload: rest.workload.id,
          traffic: rest.traffic,
          control: false,
          runs: 2,
          valid_runs: 2,
          served_runs: 2,
          spoiled_runs: 0,
          missing_runs: 0,
          median_run: 1,
          requests_per_second: { median: 5000 + index, min: 4900, max: 5100 },
          latency_p50_ms: 1.5,
          latency_p99_ms: 12.25,
          verdict: "valid",
          ...change[index],
        }),
      ),
    });

  ended = (
    change: Partial<Omit<EventOf<"ended">, "runs">> & {
      runs?: Partial<EventOf<"ended">["runs"]>;
    } = {},
  ) =>
    this.#event("ended", 100, {
      exit_code: 0,
      folder: "/results/20260101_120000",
      ...change,
      runs: { ...TWO_VALID, ...change.runs },
    });
}

/** A stream that captures what is written to it. */
export class CapturedOutput implements Output {
  text = "";
  readonly isTTY: boolean;
  columns = 80;
  rows = 24;
  readonly #colors: boolean;

  constructor(terminal = false, colors = false) {
    this.isTTY = terminal;
    this.#colors = colors;
  }

  write(text: string): void {
    this.text += text;
  }

  hasColors(): boolean {
    return this.#colors;
  }

  get lines(): string[] {
    return this.text.split("\n").slice(0, -1);
  }
}

/** What a screen writes about these events. */
export function render(
  open: (outputs: Outputs) => Screen,
  events: readonly CampaignEvent[],
  out = new CapturedOutput(),
): { out: CapturedOutput; err: CapturedOutput } {
  const err = new CapturedOutput();
  const screen = open({ out, err });
  for (const event of events) screen.show(event);
  screen.close();
  return { out, err };
}
