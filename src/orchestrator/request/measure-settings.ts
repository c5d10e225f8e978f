import { z } from "zod";
import { AUTO_WARMUP, DEFAULT_POOL, namedArrivals } from "../../contract/configuration.js";
import { namedFaults } from "../../contract/named-faults.js";
import { orders } from "../../contract/plan.js";
import { decimalText, RANGES, wholeText } from "../../contract/ranges.js";
import { MARGIN_SHARE, MIN_PAIRS } from "../../contract/statistics.js";
import { decimalOrAuto } from "../../kit/env.js";
import {
  CUSTOM_DURATION,
  DYNAMIC,
  DYNAMIC_DURATION,
  FIXED_DURATIONS,
  NAMED_DURATIONS,
  REQUESTS_DURATION,
} from "./durations.js";
import { PRESETS } from "./presets.js";
import { explained, flag, group, ids, valuesOnly } from "./setting-types.js";
import { AUTO } from "./setting-values.js";
import { offeredTargets } from "./target-settings.js";

/** The most runs of a configuration with `--runs auto`. */
export const DEFAULT_MAX_RUNS = "20";

/** The value of `diagnose` for runs with instruments and no others. */
export const ALONE = "alone";

export const measure = group("measure", "how it is measured", [
  flag("preset <name>", `${ids(PRESETS).join("|")}; every other flag overrides it`, {
    choices: () => valuesOnly(ids(PRESETS)),
  }),
  flag("quick", "same as --preset quick", { flagOnly: true }),
  flag(
    "duration-mode <mode>",
    `${NAMED_DURATIONS.join("|")}|${CUSTOM_DURATION}N|${REQUESTS_DURATION}N,… (requests instead of seconds)`,
    {
      defaultValue: DYNAMIC_DURATION,
      choices: () => [
        {
          value: DYNAMIC_DURATION,
          hint: `${DYNAMIC.seconds} s, ${DYNAMIC.seconds_above} s above ${DYNAMIC.most_connections} connections, ${DYNAMIC.more_in_a_cluster} s more for clusters`,
        },
        ...Object.entries(FIXED_DURATIONS).map(([value, seconds]) => ({
          value,
          label: `${seconds} s`,
        })),
        { value: CUSTOM_DURATION },
        { value: REQUESTS_DURATION },
      ],
      singleRun: {
        name: "DURATION",
        schema: wholeText("duration"),
        help: "measured seconds of a run",
        defaultValue: "30",
        toValue: (text) => `${CUSTOM_DURATION}${text}`,
      },
    },
  ),
  flag("concurrency <list>", "connections", {
    defaultValue: "50 100",
    singleRun: {
      name: "CONNECTIONS",
      schema: wholeText("connections"),
      defaultValue: "10",
      defaultText: `10; with RATE at most ${DEFAULT_POOL}`,
    },
  }),
  flag(
    "rate <list>",
    `open loop: requests/s, over up to --concurrency connections (${DEFAULT_POOL})`,
    {
      singleRun: { name: "RATE", schema: decimalText("rate"), help: "open loop: requests/s" },
    },
  ),
  flag(
    "rate-sweep <from:to:n>",
    "open loop at n rates, each the same factor above the last, e.g. 1000:20000:8",
  ),
  flag(
    "load-curve",
    "CPU and latency at several rates and at full load, by turns; without --rates, at 2 to 75 % of the slowest target's throughput",
  ),
  flag(
    "rates <list>",
    "load curve at these requests/s, e.g. 500,2000,8000; full load only with --load-curve",
  ),
  flag("arrivals <spread>", "spacing of the sends of an open loop: constant|poisson", {
    defaultText: "constant",
    choices: () => valuesOnly(namedArrivals),
    singleRun: { name: "ARRIVALS", schema: z.enum(namedArrivals, "must be constant or poisson") },
  }),
  flag("find-max-rate", "open loop: search the highest rate that meets --slo, starting at --rate"),
  flag(
    "slo <list>",
    'objectives of --find-max-rate, written like --threshold, e.g. "p99<10ms,errors<0.1%"',
  ),
  flag("runs <n>", "runs of each configuration; auto: as many as it takes to rank them", {
    defaultValue: "3",
    choices: () => valuesOnly([AUTO]),
    singleRun: {
      name: "RUNS",
      schema: wholeText("runs"),
      help: "number of runs",
      defaultValue: "1",
    },
  }),
  flag("max-runs <n>", "with --runs auto: most runs of each configuration", {
    defaultText: DEFAULT_MAX_RUNS,
  }),
  flag(
    "tolerate <percent>",
    "with --runs auto: a gate, which ends when every loss against the reference is bounded below this, or one is shown; compare --tolerate gives the verdict",
  ),
  flag(
    "budget <time>",
    "with --runs auto or --find-max-rate: time for the whole campaign, e.g. 90s, 20m, 1.5h",
  ),
  flag(
    "diagnose [alone]",
    "one more run of each configuration, with instruments: it never counts, and the report says where a request's time goes; alone: no other runs",
    { choices: () => valuesOnly([ALONE]) },
  ),
  flag(
    "warmup <s>",
    `seconds of load before each run, discarded; auto: until it is steady, up to ${AUTO_WARMUP.max_s} s of each target`,
    {
      defaultValue: "10",
      choices: () => [{ value: AUTO, hint: "until the load is steady" }],
      singleRun: { name: "WARMUP", schema: decimalOrAuto(RANGES.warmup.min, RANGES.warmup.max) },
    },
  ),
  flag("cooldown <a[,b]>", "seconds between runs, and between clients in consecutive order", {
    defaultValue: "5,10",
    singleRun: {
      name: "COOLDOWN",
      schema: decimalText("cooldown"),
      help: "seconds between runs",
      defaultValue: "5",
      toValue: (text) => `${text},0`,
    },
  }),
  flag("order <order>", orders.join("|"), {
    defaultValue: "turns",
    choices: () => valuesOnly(orders),
  }),
  flag(
    "turn <lead-in,slice>",
    "by turns: the shortest lead-in and slice of a turn, in milliseconds",
    { defaultText: "5,100, or 5,500 at the limiter layer" },
  ),
  flag(
    "reference <target>",
    "the target, or at the store layer the store, with which the others of its ranking are compared; auto adds one to a single target",
    { defaultText: "the first named", choices: () => valuesOnly([AUTO, ...offeredTargets]) },
  ),
  flag(
    "no-copy",
    `leave out the copy of each ranking's reference, which shows what the campaign cannot tell apart; it is measured from ${MIN_PAIRS} rounds on`,
  ),
  flag("margin <percent>", "a difference that is no larger does not matter to you", {
    defaultValue: `${100 * MARGIN_SHARE}%`,
  }),
  flag("seed <n>", "seed of order and traffic", {
    defaultText: "random",
    singleRun: { name: "SEED", schema: wholeText("seed"), defaultValue: "1" },
  }),
  flag("workers <n>", "threads of the load generator", {
    defaultValue: "1",
    singleRun: { name: "WORKERS", schema: wholeText("workers") },
  }),
  flag(
    "threshold <list>",
    'limits for every client, e.g. "p99<10ms,errors<0.1%,limited_share=0.1±0.01", by a load curve also "server_cores<0.3@1000/s"; exit code 6 if one is missed',
  ),
  flag(
    "plan-for <rate>",
    "by a load curve: the cores of server and store at this rate, e.g. 5000/s",
  ),
]);

export const faults = group("faults", "what breaks in the window", [
  flag(
    "fault <list>",
    "open loop, by default at a rate found by calibration: faults in the window; each a configuration of its own, none: without one; / joins those of one run",
    {
      choices: () => [{ value: "none" }, ...explained(namedFaults)],
      singleRun: {
        name: "FAULT",
        schema: z
          .string()
          .max(400)
          .regex(/^[^,\s]*$/, "must be one fault, or several joined by /"),
        help: "open loop: fault in the window, e.g. store-restart or pause:store-1@5s+2s",
      },
    },
  ),
]);
