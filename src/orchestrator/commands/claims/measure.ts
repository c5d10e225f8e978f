import { basename } from "node:path";
import { displayPath } from "../../../contract/display-path.js";
import type { Environment } from "../../../contract/env.js";
import { BenchError, EXIT, type ExitCode, usageError } from "../../../contract/errors.js";
import { parseCampaign } from "../../request/parse-request.js";
import type { Request } from "../../request/request.js";
import { settingOf } from "../../request/settings.js";
import { counted } from "../../ui/text.js";
import type { CliContext } from "../types.js";
import { campaignRoot, campaignsIn, hasSettings, missingRuns } from "./measured.js";
import { campaignFile, type Register, type RegisteredClaim } from "./register.js";

/** What is measured, and where it goes. */
interface Measurement {
  register: Register;
  chosen: readonly RegisteredClaim[];
  /** Ids of the campaigns. */
  campaigns: readonly string[];
  /** Folder of what was measured for claims. */
  folder: string;
  /** Settings that override those of the campaigns' files. */
  flags: readonly string[];
  /** Complete campaigns are measured again. */
  again: boolean;
}

/** A campaign that has ended so can be reported. */
const USABLE: readonly ExitCode[] = [EXIT.done, EXIT.runsInvalid, EXIT.configurationFailed];

/**
 * Measures campaigns one after the other. One that cannot be measured here does not keep the others from it.
 * @returns the worst exit code
 */
export async function measureCampaigns(measurement: Measurement, context: CliContext): Promise<ExitCode> {
  if (context.env.STORE_URL)
    throw usageError("STORE_URL: claims are measured on stores of their own; unset it to go on");
  for (const campaign of measurement.campaigns) requireFixedRuns(campaign, measurement, context);
  let worst: ExitCode = EXIT.done;
  for (const [index, campaign] of measurement.campaigns.entries()) {
    const place = `${campaign} (${index + 1} of ${measurement.campaigns.length})`;
    const remedy = missingProgram(campaign, measurement);
    if (remedy !== undefined) {
      context.print(`${place}: skipped: ${remedy}`);
      continue;
    }
    const code = await measureCampaign(campaign, place, measurement, context).catch((error: unknown) =>
      reportUnmeasured(error, place, context),
    );
    if (!USABLE.includes(code)) return code;
    if (USABLE.indexOf(code) > USABLE.indexOf(worst)) worst = code;
  }
  return worst;
}

/** What to do about a program that must be named and is not. */
function missingProgram(campaign: string, { chosen, flags }: Measurement): string | undefined {
  const named = PROGRAM_FLAGS.flatMap((flag) =>
    (flags[flags.indexOf(flag) + 1] ?? "").split(",").map(nameOf),
  );
  const missing = needsOf(campaign, chosen).find(({ program }) => !named.includes(program));
  if (!missing) return undefined;
  const { program, from } = missing;
  return `name it with --program ${program}=PATH, in containers --image ${program}=REF (${from})`;
}

/** Programs that the claims of a campaign bring. */
const needsOf = (campaign: string, claims: readonly RegisteredClaim[]) =>
  claims.flatMap(({ needs, comparisons = [] }) =>
    needs && comparisons.some((comparison) => comparison.campaign === campaign) ? [needs] : [],
  );

/** The flags without the programs that claims of other campaigns bring: a campaign knows only its own. */
function withoutOthersPrograms(
  campaign: string,
  { claims }: Register,
  flags: readonly string[],
): readonly string[] {
  const own = needsOf(campaign, claims).map(({ program }) => program);
  const others = claims.flatMap(({ needs }) =>
    needs && !own.includes(needs.program) ? [needs.program] : [],
  );
  return PROGRAM_FLAGS.reduce<readonly string[]>((words, flag) => {
    if (!words.includes(flag)) return words;
    const pairs = (words[words.indexOf(flag) + 1] ?? "").split(",");
    const kept = pairs.filter((pair) => !others.includes(nameOf(pair)));
    return [...without([flag], words), ...(kept.length > 0 ? [flag, kept.join(",")] : [])];
  }, flags);
}

/** Each is there once, with all of its pairs. */
const PROGRAM_FLAGS = ["--program", "--image"];

const nameOf = (pair: string): string => pair.split("=", 1)[0] ?? "";

/**
 * Where no target of a campaign is left on this machine, that is so of this campaign alone. A machine that is not fit, or
 * another campaign that runs, keeps every campaign from starting.
 */
function reportUnmeasured(error: unknown, place: string, { print }: CliContext): ExitCode {
  if (!(error instanceof BenchError) || error.exitCode !== EXIT.usage) throw error;
  print(`${place}: not measured: ${error.message}`);
  return EXIT.configurationFailed;
}

async function measureCampaign(
  campaign: string,
  place: string,
  { register, folder, flags, again }: Measurement,
  { campaign: runCampaign, env, print }: CliContext,
): Promise<ExitCode> {
  const root = campaignRoot(folder, campaign);
  const request = requestFor(campaign, { register, folder, flags }, env);
  if (request.dryRun || again) {
    print(`${place}:`);
    return (await runCampaign(request)).exitCode;
  }
  const started = campaignsIn(root).find(({ manifest }) => hasSettings(manifest, request.settings));
  const missing = started && (await missingRuns(started));
  if (started && missing === 0) {
    print(`${place}: measured in ${started.folder}; --again measures it once more`);
    return EXIT.done;
  }
  const own = resumable(withoutOthersPrograms(campaign, register, flags));
  const resumed = started && parseCampaign([...resumeFlags(started.folder, root), ...own], env);
  print(`${place}: ${started ? `continued, ${counted(missing ?? 0, "run")} missing` : `into ${root}`}`);
  return (await runCampaign(resumed ?? request)).exitCode;
}

/** @throws usageError for flags that are wrong of any campaign, before the first one starts */
function requireFixedRuns(campaign: string, measurement: Measurement, { env }: CliContext): void {
  if (missingProgram(campaign, measurement) !== undefined) return;
  if (requestFor(campaign, measurement, env).adaptive)
    throw usageError("--runs auto: claims need a fixed number of runs");
}

/** The campaign of its file, with the flags that were given. */
function requestFor(
  campaign: string,
  { register, folder, flags }: Pick<Measurement, "register" | "folder" | "flags">,
  env: Environment,
): Request {
  // Both are published in the campaign's command: where this machine keeps the project says nothing to others.
  const file = displayPath(campaignFile(register, campaign));
  const config = ["--config", file, "--output", displayPath(campaignRoot(folder, campaign))];
  const own = withoutOthersPrograms(campaign, register, flags);
  return requestOf([...config, ...flagsFor(requestOf(config, {}), own)], env);
}

function requestOf(argv: readonly string[], env: Environment): Request {
  const request = parseCampaign(argv, env);
  if (!request) throw new Error("the flags of a campaign asked for help");
  return request;
}

/** A campaign whose runs end after a number of requests measures that number: how long runs take is not its question. */
const flagsFor = ({ duration }: Request, flags: readonly string[]): readonly string[] =>
  duration.mode === "requests" ? without(["--duration-mode", "--warmup"], flags) : flags;

/** The words without these flags and their values. */
const without = (names: readonly string[], flags: readonly string[]): string[] =>
  flags.filter((word, index) => !names.includes(word) && !names.includes(flags[index - 1] ?? ""));

const resumeFlags = (folder: string, root: string): string[] => [
  "--resume",
  basename(folder),
  "--output",
  root,
];

/** The flags that a campaign still accepts when it is continued. */
function resumable(flags: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index < flags.length; index++) {
    const key = (flags[index] ?? "").slice(2);
    const { value, onResume } = settingOf(key);
    const words = flags.slice(index, index + (value ? 2 : 1));
    index += words.length - 1;
    // The recorded runtime is what `auto` was resolved to.
    if (onResume || key === "runtime") kept.push(...words);
  }
  return kept;
}
