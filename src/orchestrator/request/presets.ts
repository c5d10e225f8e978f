/** A named set of settings. Flags, variables and campaign files override them. */
export interface Preset {
  id: string;
  summary: string;
  settings: Readonly<Record<string, string>>;
  /** Refuses a machine that the doctor warns about, and pins each role to its own cores if there are enough. */
  strict?: true;
}

/** Each client on its default store, and `ioredis` on both stores, which shows the effect of the store. */
const CLIENTS_AND_STORES = "standalone,ioredis@valkey,controls";

/** Four clients on one store, each with its own script and with the same one: two rankings. */
const CLIENTS_AND_SCRIPTS = [
  ...["iovalkey", "ioredis", "node-redis", "valkey-glide"].flatMap((client) => [
    `${client}@valkey`,
    `${client}@valkey+same-script`,
  ]),
  "controls",
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
    summary: "a first report in four minutes: three clients, ioredis on both stores, controls, 3 runs of 4 s",
    settings: {
      clients: CLIENTS_AND_STORES,
      concurrency: "50",
      "duration-mode": "custom:4",
      runs: "3",
      warmup: "auto",
      cooldown: "0",
    },
  },
  {
    id: "standard",
    summary: "enough to name a winner: the clients of quick, 10 rounds of 10 s",
    settings: {
      clients: CLIENTS_AND_STORES,
      concurrency: "50 100",
      "duration-mode": "custom:10",
      runs: "10",
      warmup: "auto",
      cooldown: "2",
    },
  },
  {
    id: "publication",
    summary:
      "figures to publish: four clients on Valkey, each with its own script and the same one, 10 rounds of 30 s, pinned cores, a fit machine",
    settings: {
      clients: CLIENTS_AND_SCRIPTS,
      concurrency: "50 100",
      "duration-mode": "fixed30",
      runs: "10",
      warmup: "10",
      cooldown: "2",
      order: "interleaved",
    },
    strict: true,
  },
];
