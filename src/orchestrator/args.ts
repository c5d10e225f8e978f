import { CommanderError } from "commander";
import type { Environment } from "../contract/env.js";
import { usageError } from "../contract/errors.js";
import { workloads } from "../traffic/workloads.js";
import { campaignCommand, DEFAULTS, type Flags, QUICK } from "./flags.js";
import { durationMode, listOf, numberIn, type Request } from "./request.js";

/** A variable of the environment, unless the flag says otherwise; when both speak and differ, that is noted. */
function flagOrVariable(
  flag: { name: string; value: string | undefined },
  variable: string,
  env: Environment,
  notices: string[],
): string | undefined {
  const inherited = env[variable] || undefined;
  if (flag.value !== undefined && inherited !== undefined && flag.value !== inherited) {
    notices.push(`${flag.name} ${flag.value} wins over ${variable}=${inherited}`);
  }
  return flag.value ?? inherited;
}

/** Explicit limits, by flag or environment; members that nobody set are absent. */
export function explicitLimits(
  flags: Pick<Flags, "points" | "window" | "block">,
  env: Environment,
  notices: string[],
) {
  const points = flagOrVariable({ name: "--points", value: flags.points }, "RATE_LIMIT_POINTS", env, notices);
  const window = flagOrVariable(
    { name: "--window", value: flags.window },
    "RATE_LIMIT_DURATION",
    env,
    notices,
  );
  const block = flagOrVariable(
    { name: "--block", value: flags.block },
    "RATE_LIMIT_BLOCK_DURATION",
    env,
    notices,
  );
  return {
    ...(points === undefined ? {} : { points: numberIn("points", "--points", points) }),
    ...(window === undefined ? {} : { window_s: numberIn("window", "--window", window) }),
    ...(block === undefined ? {} : { block_s: numberIn("block", "--block", block) }),
  };
}

/** Paths of store programs that the user gave. */
export function programPaths(
  flags: Pick<Flags, "valkeyServer" | "redisServer">,
  env: Environment,
): Record<string, string> {
  const valkey = flags.valkeyServer ?? env.VALKEY_SERVER;
  const redis = flags.redisServer ?? env.REDIS_SERVER;
  return { ...(valkey ? { "valkey-server": valkey } : {}), ...(redis ? { "redis-server": redis } : {}) };
}

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
    order: oneOf("--order", flags.order, ["interleaved", "consecutive"]),
    seed,
    output: flags.output,
    workers: numberIn("workers", "--workers", flags.workers),
    allowParallel: flags.allowParallel ?? false,
    programPaths: programPaths(flags, env),
    command: ["./scripts/run-all.sh", ...argv, ...(flags.seed === undefined ? ["--seed", String(seed)] : [])]
      .map(quoted)
      .join(" "),
    notices,
  };
}
