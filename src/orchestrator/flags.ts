import { Command, Option } from "commander";
import { DEFAULT_COMPLEXITY } from "../contract/server-env.js";
import { DEFAULT_TRAFFIC, profiles } from "../traffic/profiles/index.js";
import { workloads } from "../traffic/workloads.js";

export interface Flags {
  clients?: string;
  workload?: string;
  durationMode?: string;
  concurrency?: string;
  complexity?: string;
  points?: string;
  window?: string;
  block?: string;
  runs?: string;
  warmup?: string;
  cooldown?: string;
  traffic?: string;
  runtime?: string;
  order?: string;
  seed?: string;
  output?: string;
  workers?: string;
  valkeyServer?: string;
  redisServer?: string;
  storeCpus?: string;
  storeMemory?: string;
  serverCpus?: string;
  loadtestCpus?: string;
  cpusetStore?: string;
  cpusetServer?: string;
  cpusetLoadtest?: string;
  storeUrl?: string;
  storeCa?: string;
  plugin?: string[];
  allowParallel?: boolean;
  quick?: boolean;
}

/** What `--quick` stands for; each flag that is given beside it wins. */
export const QUICK: Flags = {
  clients: "standalone,controls",
  workload: "light",
  concurrency: "50",
  durationMode: "custom:5",
  runs: "3",
  warmup: "2",
  cooldown: "0.5",
};

export const DEFAULTS = {
  workload: "light",
  durationMode: "dynamic",
  concurrency: "50 100",
  complexity: String(DEFAULT_COMPLEXITY),
  runs: "3",
  warmup: "10",
  cooldown: "5,10",
  traffic: DEFAULT_TRAFFIC,
  runtime: "auto",
  order: "interleaved",
  output: "results",
  workers: "1",
} satisfies Flags;

const EXAMPLES = `
Targets: client[@store][:topology], e.g. ioredis, ioredis@valkey, iovalkey:cluster
Groups:  all, standalone, cluster (valkey-glide, iovalkey, ioredis), controls (none, memory)
Traffic: ${profiles.map(({ id, summary }) => `${id}: ${summary}`).join("\n         ")}

Examples:
  run-all.sh --quick                                    a first report in four minutes
  run-all.sh --clients all --concurrency "50 100 500"   all clients, both topologies
  run-all.sh --clients "iovalkey,ioredis@valkey" --runs 10 --duration-mode fixed30
  run-all.sh --clients standalone --workload both --complexity 20
  run-all.sh --clients ioredis --traffic fixed --points 100 --window 60

Exit codes: 0 done, 2 bad usage, 3 environment not fit, 4 a configuration failed, 5 some runs are invalid,
            130 interrupted`;

/** The flags of a campaign, as commander knows them. */
export function campaignCommand(): Command {
  return new Command("run-all.sh")
    .description("Measures rate limiters: every configuration several times, interleaved, with a report.")
    .addOption(new Option("--clients <list>", "targets and groups, comma or space separated"))
    .addOption(new Option("--quick", "the three clients and the controls, 50 connections, 5 s, 3 runs"))
    .addOption(
      new Option("--workload <list>", `${workloads.map(({ id }) => id).join("|")}|both`).default(
        undefined,
        DEFAULTS.workload,
      ),
    )
    .addOption(
      new Option("--duration-mode <mode>", "dynamic|fixed30|fixed120|custom:N").default(
        undefined,
        DEFAULTS.durationMode,
      ),
    )
    .addOption(
      new Option("--concurrency <list>", "connections").default(undefined, `"${DEFAULTS.concurrency}"`),
    )
    .addOption(
      new Option("--traffic <list>", "which keys the requests carry").default(undefined, DEFAULTS.traffic),
    )
    .addOption(new Option("--runs <n>", "runs of each configuration").default(undefined, DEFAULTS.runs))
    .addOption(
      new Option("--warmup <s>", "seconds of load before each run, discarded").default(
        undefined,
        DEFAULTS.warmup,
      ),
    )
    .addOption(
      new Option(
        "--cooldown <a[,b]>",
        "seconds between runs, and between clients in consecutive order",
      ).default(undefined, DEFAULTS.cooldown),
    )
    .addOption(new Option("--order <order>", "interleaved|consecutive").default(undefined, DEFAULTS.order))
    .addOption(new Option("--seed <n>", "of order and traffic; random if not given"))
    .addOption(
      new Option("--complexity <n>", "rounds of CPU work of the heavy workload").default(
        undefined,
        DEFAULTS.complexity,
      ),
    )
    .addOption(new Option("--points <n>", "explicit quota of each key (also RATE_LIMIT_POINTS)"))
    .addOption(new Option("--window <s>", "explicit window of the quota (also RATE_LIMIT_DURATION)"))
    .addOption(new Option("--block <s>", "explicit block once exceeded (also RATE_LIMIT_BLOCK_DURATION)"))
    .addOption(
      new Option("--runtime <runtime>", "auto|docker|podman|local").default(undefined, DEFAULTS.runtime),
    )
    .addOption(
      new Option("--store-cpus <n>", "CPU cap of a store node in a container (also STORE_CPUS); else 2"),
    )
    .addOption(new Option("--store-memory <size>", "its memory cap, e.g. 512m (also STORE_MEMORY); else 2g"))
    .addOption(new Option("--server-cpus <n>", "CPU cap of the server (also SERVER_CPUS); else none"))
    .addOption(
      new Option("--loadtest-cpus <n>", "CPU cap of the load generator (also LOADTEST_CPUS); else none"),
    )
    .addOption(new Option("--cpuset-store <list>", "CPUs of the store nodes, e.g. 0-1 (also CPUSET_STORE)"))
    .addOption(new Option("--cpuset-server <list>", "CPUs of the server (also CPUSET_SERVER)"))
    .addOption(new Option("--cpuset-loadtest <list>", "CPUs of the load generator (also CPUSET_LOADTEST)"))
    .addOption(
      new Option("--workers <n>", "threads of the load generator").default(undefined, DEFAULTS.workers),
    )
    .addOption(new Option("--output <dir>", "results root").default(undefined, DEFAULTS.output))
    .addOption(
      new Option("--valkey-server <path>", "store program (also VALKEY_SERVER); else PATH, else embedded"),
    )
    .addOption(new Option("--redis-server <path>", "store program (also REDIS_SERVER); else PATH"))
    .addOption(
      new Option(
        "--store-url <url>",
        "measure a store that you already run: redis[s]://[user:password@]host[:port]; better as STORE_URL, which no process list shows",
      ),
    )
    .addOption(
      new Option("--store-ca <file>", "certificate (PEM) that vouches for rediss:// (also STORE_CA)"),
    )
    .addOption(
      new Option(
        "--plugin <path>",
        "a file or folder that adds clients, limiters, options or traffic; several times for several (also PLUGINS)",
      ).argParser((path: string, others: string[] = []) => [...others, path]),
    )
    .addOption(new Option("--allow-parallel", "start although another campaign is running"))
    .addHelpText("after", EXAMPLES)
    .allowExcessArguments(false)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
}
