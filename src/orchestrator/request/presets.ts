import { numberWord } from "../../kit/numbers.js";
import { CUSTOM_DURATION, DYNAMIC_DURATION } from "./durations.js";

/** A named set of settings. Flags, variables and campaign files override them. */
export interface Preset {
  id: string;
  summary: string;
  settings: Readonly<Record<string, string>>;
  /**
   * Whether the preset refuses a machine that the doctor warns about, and pins each role to its own
   * cores if there are enough.
   */
  strict?: true;
  /** The preset that measures more of the same targets, which the end of a campaign names. */
  leadsTo?: { preset: string; why: string };
}

/**
 * The clients of the original project on one store, and a route without a limiter. With the copy of
 * the reference they fill one group.
 */
const CLIENTS_ON_ONE_STORE = "ioredis@valkey,iovalkey@valkey,valkey-glide@valkey,none";

/** Four clients on one store, each with its own script and with the same one, in two rankings. */
const CLIENTS_AND_SCRIPTS = [
  ...["iovalkey", "ioredis", "node-redis", "valkey-glide"].flatMap((client) => [
    `${client}@valkey`,
    `${client}@valkey+same-script`,
  ]),
  "none",
].join(",");

/** The values that run-all.sh of the original took for flags that were left out. */
export const ORIGINAL: Readonly<
  Record<"clients" | "workload" | "concurrency" | "duration-mode", string>
> = {
  clients: "all",
  workload: "both",
  concurrency: "50 100 500 1000",
  "duration-mode": DYNAMIC_DURATION,
};

const SMOKE = {
  clients: "iovalkey,none",
  concurrency: "10",
  "duration-mode": `${CUSTOM_DURATION}2`,
  runs: "1",
  warmup: "1",
  cooldown: "0",
};

const QUICK = {
  clients: CLIENTS_ON_ONE_STORE,
  concurrency: "50",
  "duration-mode": `${CUSTOM_DURATION}3`,
  runs: "7",
  warmup: "auto",
  cooldown: "0",
};

const STANDARD = {
  clients: CLIENTS_ON_ONE_STORE,
  concurrency: "50 100",
  "duration-mode": `${CUSTOM_DURATION}5`,
  runs: "8",
  warmup: "auto",
  cooldown: "0",
};

const PUBLICATION = {
  clients: CLIENTS_AND_SCRIPTS,
  concurrency: "50 100",
  "duration-mode": `${CUSTOM_DURATION}7`,
  runs: "9",
  warmup: "auto",
  cooldown: "0",
};

/**
 * The clients of `quick` at six rates and at full load, by turns. Ten rounds can decide the 14
 * comparisons of two targets with the reference at seven loads.
 */
const RATES = {
  clients: CLIENTS_ON_ONE_STORE,
  "load-curve": "true",
  concurrency: "50",
  "duration-mode": `${CUSTOM_DURATION}3`,
  runs: "10",
  warmup: "auto",
  cooldown: "0",
};

const secondsOf = (settings: typeof QUICK): string =>
  settings["duration-mode"].slice(CUSTOM_DURATION.length);

/** A text such as `7 rounds of 3 s by turns`. */
const roundsOf = (settings: typeof QUICK): string =>
  `${settings.runs} rounds of ${secondsOf(settings)} s by turns`;

export const PRESETS: readonly Preset[] = [
  {
    id: "smoke",
    summary: `checks that everything works: one client and no limiter, ${numberWord(Number(SMOKE.runs))} run of ${secondsOf(SMOKE)} s`,
    settings: SMOKE,
  },
  {
    id: "quick",
    summary: `a first report in five minutes: three clients on one store, and none; ${roundsOf(QUICK)}`,
    settings: QUICK,
    leadsTo: { preset: "rates", why: "what a request costs at the rates of a service" },
  },
  {
    id: "standard",
    summary: `enough to name a winner: the clients of quick at two loads, ${roundsOf(STANDARD)}`,
    settings: STANDARD,
  },
  {
    id: "rates",
    summary: `what a request costs at the rates of a service: the clients of quick at six rates and at full load, ${roundsOf(RATES)}, half an hour`,
    settings: RATES,
  },
  {
    id: "publication",
    summary: `figures to publish: four clients on Valkey, each with its own script and the same one, ${roundsOf(PUBLICATION)}, pinned cores, a fit machine`,
    settings: PUBLICATION,
    strict: true,
  },
];
