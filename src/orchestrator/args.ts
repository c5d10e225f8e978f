import { resolve } from "node:path";
import { CommanderError } from "commander";
import type { Limits } from "../contract/configuration.js";
import type { Environment } from "../contract/env.js";
import { usageError } from "../contract/errors.js";
import { decodePlugins } from "../contract/plugins.js";
import { storeAddressFrom } from "../contract/store-url.js";
import { workloads } from "../traffic/workloads.js";
import { CAPS, capsFrom } from "./caps.js";
import { campaignCommand, DEFAULTS, type Flags, QUICK } from "./flags.js";
import { durationMode, listOf, numberIn, type Request } from "./request.js";
import { flagOrVariable } from "./said.js";

const LIMITS = [
  { member: "points", range: "points", flag: "--points", option: "points", variable: "RATE_LIMIT_POINTS" },
  {
    member: "window_s",
    range: "window",
    flag: "--window",
    option: "window",
    variable: "RATE_LIMIT_DURATION",
  },
  {
    member: "block_s",
    range: "block",
    flag: "--block",
    option: "block",
    variable: "RATE_LIMIT_BLOCK_DURATION",
  },
] as const;

/** Explicit limits, by flag or environment; members that nobody set are absent. */
export function explicitLimits(
  flags: Pick<Flags, "points" | "window" | "block">,
  env: Environment,
  notices: string[],
): Partial<Limits> {
  const pairs = LIMITS.flatMap(({ member, range, flag, option, variable }) => {
    const said = flagOrVariable(flag, flags[option], variable, env, notices);
    return said ? [[member, numberIn(range, said.source, said.value)] as const] : [];
  });
  return Object.fromEntries(pairs);
}

const PROGRAMS = [
  { program: "valkey-server", flag: "--valkey-server", option: "valkeyServer", variable: "VALKEY_SERVER" },
  { program: "redis-server", flag: "--redis-server", option: "redisServer", variable: "REDIS_SERVER" },
] as const;

/** Paths of store programs that the user gave. */
export function programPaths(
  flags: Pick<Flags, "valkeyServer" | "redisServer">,
  env: Environment,
  notices: string[],
): Record<string, string> {
  const pairs = PROGRAMS.flatMap(({ program, flag, option, variable }) => {
    const said = flagOrVariable(flag, flags[option], variable, env, notices);
    return said ? [[program, said.value] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/**
 * The variables with which programs get into a store that the user already runs; none where we start our own.
 * @throws usageError which never repeats the address: it may hold a password
 */
export function storeAccess(
  flags: Pick<Flags, "storeUrl" | "storeCa">,
  env: Environment,
): Record<string, string> {
  const url = flags.storeUrl ?? env.STORE_URL;
  const ca = flags.storeCa ?? env.STORE_CA;
  if (ca && !url) throw usageError("--store-ca is of no use without --store-url");
  const access = { ...(url ? { STORE_URL: url } : {}), ...(url && ca ? { STORE_CA: resolve(ca) } : {}) };
  storeAddressFrom(access);
  return access;
}

/** Absolute, because parts run in folders of their own. */
export function pluginPaths(
  { plugin }: Pick<Flags, "plugin">,
  env: Environment,
  notices: string[],
): string[] {
  const inherited = decodePlugins(env);
  if (plugin && inherited.length > 0) notices.push(`--plugin ${plugin.join(" ")} wins over PLUGINS`);
  return [...new Set((plugin ?? inherited).map((path) => resolve(path)))];
}

/** The command's words without the address: whoever repeats it sets STORE_URL. */
function withoutSecrets(argv: readonly string[]): string[] {
  return argv.flatMap((word, index) => {
    if (word === "--store-url" || argv[index - 1] === "--store-url") return [];
    return word.startsWith("--store-url=") ? [] : [word];
  });
}

/** The variables that any campaign takes from the environment. */
export const INHERITED: readonly string[] = [
  ...[...LIMITS, ...PROGRAMS, ...CAPS].map(({ variable }) => variable),
  "PLUGINS",
];

/** The variables among `names` that are set, as a shell takes them before a command. */
export const assignments = (names: readonly string[], env: Environment): string[] =>
  names.flatMap((name) => (env[name] ? [`${name}=${quoted(env[name])}`] : []));

function oneOf<Word extends string>(flag: string, text: string, valid: readonly Word[]): Word {
  const found = valid.find((word) => word === text);
  if (found) return found;
  throw usageError(`${flag} ${JSON.stringify(text.slice(0, 60))}: give one of ${valid.join(", ")}`);
}

/** A word as a shell takes it. */
export const quoted = (word: string): string =>
  /^[\w@:+.,/=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** A seed that nobody chose: any will do, as long as it is written down. */
const anySeed = (): number => Math.floor(Math.random() * 4_294_967_295);

/**
 * Reads the flags of `run-all.sh`.
 * @returns undefined when help was asked for and has been printed
 * @throws usageError in one line
 */
export function parseCampaign(argv: readonly string[], env: Environment): Request | undefined {
  const command = campaignCommand();
  try {
    command.parse([...argv], { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return undefined;
      throw usageError(`${error.message.replace(/^error: /, "").replaceAll("\n", " ")}; see --help`, {
        cause: error,
      });
    }
    throw error;
  }
  const given: Flags = command.opts();
  const flags = { ...DEFAULTS, ...(given.quick ? QUICK : {}), ...given };
  if (flags.clients === undefined) {
    throw usageError("--clients is missing: give targets or groups, e.g. --clients all, or use --quick");
  }
  const notices: string[] = [];
  const access = storeAccess(flags, env);
  const [cooldown = "", clientCooldown = cooldown, ...more] = flags.cooldown.split(",");
  if (more.length > 0) throw usageError(`--cooldown ${flags.cooldown}: give one or two numbers of seconds`);
  const workload =
    flags.workload === "both" ? workloads.map(({ id }) => id) : listOf("--workload", flags.workload, notices);
  const seed = flags.seed === undefined ? anySeed() : numberIn("seed", "--seed", flags.seed);
  return {
    clients: listOf("--clients", flags.clients, notices),
    workloads: workload,
    duration: durationMode(flags.durationMode),
    connections: listOf("--concurrency", flags.concurrency, notices).map((text) =>
      numberIn("connections", "--concurrency", text),
    ),
    complexity: numberIn("complexity", "--complexity", flags.complexity),
    limits: explicitLimits(flags, env, notices),
    runs: numberIn("runs", "--runs", flags.runs),
    warmupS: numberIn("warmup", "--warmup", flags.warmup, false),
    cooldownS: numberIn("cooldown", "--cooldown", cooldown, false),
    clientCooldownS: numberIn("cooldown", "--cooldown", clientCooldown, false),
    traffic: listOf("--traffic", flags.traffic, notices),
    runtime: flags.runtime,
    caps: capsFrom(flags, env, notices),
    order: oneOf("--order", flags.order, ["interleaved", "consecutive"]),
    seed,
    output: flags.output,
    workers: numberIn("workers", "--workers", flags.workers),
    allowParallel: flags.allowParallel ?? false,
    programPaths: programPaths(flags, env, notices),
    plugins: pluginPaths(flags, env, notices),
    storeAccess: access,
    command: [
      ...(access.STORE_URL ? ["STORE_URL=…"] : []),
      ...assignments(INHERITED, env),
      "./scripts/run-all.sh",
      ...[...withoutSecrets(argv), ...(flags.seed === undefined ? ["--seed", String(seed)] : [])].map(quoted),
    ].join(" "),
    notices,
  };
}
