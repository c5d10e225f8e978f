/** A named set of settings. Flags, variables and campaign files override them. */
export interface Preset {
  id: string;
  summary: string;
  settings: Readonly<Record<string, string>>;
  /** Refuses a machine that the doctor warns about, and pins each role to its own cores if there are enough. */
  strict?: true;
}

/** The clients of the original project on one store, and a route without a limiter: a group, with the reference's copy. */
const CLIENTS_ON_ONE_STORE = "ioredis@valkey,iovalkey@valkey,valkey-glide@valkey,none";

/** Four clients on one store, each with its own script and with the same one: two rankings. */
const CLIENTS_AND_SCRIPTS = [
  ...["iovalkey", "ioredis", "node-redis", "valkey-glide"].flatMap((client) => [
    `${client}@valkey`,
    `${client}@valkey+same-script`,
  ]),
  "none",
].join(",");

export const PRESETS: readonly Preset[] = [
  {
    id: "smoke",
    summary: "checks that everything works: one client and no limiter, one run of 2 s",
    settings: {
      clients: "iovalkey,none",
      concurrency: "10",
      "duration-mode": "custom:2",
      runs: "1",
      warmup: "1",
      cooldown: "0",
    },
  },
  {
    id: "quick",
    summary: "a first report in four minutes: three clients on one store, and none; 7 rounds of 3 s by turns",
    settings: {
      clients: CLIENTS_ON_ONE_STORE,
      concurrency: "50",
      "duration-mode": "custom:3",
      runs: "7",
      warmup: "1.5",
      cooldown: "0",
    },
  },
  {
    id: "standard",
    summary: "enough to name a winner: the clients of quick at two loads, 8 rounds of 5 s by turns",
    settings: {
      clients: CLIENTS_ON_ONE_STORE,
      concurrency: "50 100",
      "duration-mode": "custom:5",
      runs: "8",
      warmup: "1.5",
      cooldown: "0",
    },
  },
  {
    id: "publication",
    summary:
      "figures to publish: four clients on Valkey, each with its own script and the same one, 9 rounds of 10 s by turns, pinned cores, a fit machine",
    settings: {
      clients: CLIENTS_AND_SCRIPTS,
      concurrency: "50 100",
      "duration-mode": "custom:10",
      runs: "9",
      warmup: "1.5",
      cooldown: "2",
    },
    strict: true,
  },
];
