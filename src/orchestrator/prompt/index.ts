import { createInterface } from "node:readline/promises";
import { runnableIn } from "../../kit/command-text.js";
import type { Environment } from "../../kit/env.js";
import { usageError } from "../../kit/errors.js";
import { CUSTOM_DURATION, DYNAMIC_DURATION, FIXED_DURATIONS } from "../request/durations.js";
import { parseRunAll } from "../request/original.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { isInteractive } from "../ui/tty.js";
import type { MenuAnswers } from "./menu-answers.js";
import { Cancelled, problemFrom } from "./prompter.js";

const QUESTIONS = [
  {
    flag: "--duration-mode",
    text: `Duration (${[DYNAMIC_DURATION, ...Object.values(FIXED_DURATIONS)].join(", ")} or seconds)`,
    initial: DYNAMIC_DURATION,
  },
  {
    flag: "--concurrency",
    text: "Concurrency (connections, separated by spaces)",
    initial: "50 100",
  },
  { flag: "--workload", text: "Workload (light, heavy or both)", initial: "light" },
] as const;

/** A flag's value for a typed answer: `30` becomes `fixed30`, and `45` becomes `custom:45`. */
function flagValue(flag: string, text: string): string {
  if (flag !== "--duration-mode" || !/^\d+$/.test(text)) return text;
  const [named] =
    Object.entries(FIXED_DURATIONS).find(([, seconds]) => String(seconds) === text) ?? [];
  return named ?? `${CUSTOM_DURATION}${text}`;
}

/**
 * Asks the three questions of the original, except those that a flag answers.
 * @throws usageError; Cancelled
 */
async function plainPrompts(
  argv: readonly string[],
  env: Environment,
): Promise<Request | undefined> {
  const args = argv.filter((arg) => arg !== "--legacy");
  if (!args.some((arg) => /^--(clients|preset|quick)(=|$)/.test(arg)))
    args.push("--clients", "all");
  if (!parseCampaign(args, env)) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<never>((_, reject) =>
    lines.once("close", () => reject(new Cancelled())),
  );
  closed.catch(() => {});
  try {
    for (const { flag, text, initial } of QUESTIONS) {
      if (args.some((arg) => arg === flag || arg.startsWith(`${flag}=`))) continue;
      for (;;) {
        const typed = await Promise.race([lines.question(`${text} [${initial}]: `), closed]);
        const answer = flagValue(flag, typed.trim() || initial);
        const problemOf = problemFrom((value) => parseCampaign([...args, flag, value], env));
        const problem = problemOf(answer);
        if (problem === undefined) {
          args.push(flag, answer);
          break;
        }
        process.stdout.write(`${problem}\n`);
      }
    }
  } finally {
    lines.close();
  }
  return parseCampaign(args, env);
}

/** Flags that say where the results go and what is printed: the menu asks beside them. */
const FLAGS_OF_THE_MENU = ["output", "allow-parallel", "quiet", "progress", "verbose"];

/** Whether a command line says nothing of what is measured. */
function asksNothing(argv: readonly string[]): boolean {
  const names = argv.filter((word) => word.startsWith("-"));
  if (argv.length > 0 && names.length === 0) return false;
  const isOfTheMenu = (word: string) =>
    FLAGS_OF_THE_MENU.some((name) => word === `--${name}` || word.startsWith(`--${name}=`));
  return names.every(isOfTheMenu);
}

/**
 * The request from flags or menu; undefined after help. @throws usageError; environmentError;
 * Cancelled
 */
export async function requestFrom(
  argv: readonly string[],
  env: Environment,
  packageFolder: string,
): Promise<Request | undefined> {
  if (argv.includes("--legacy")) {
    if (isInteractive()) return plainPrompts(argv, env);
    throw usageError(
      "--legacy needs a terminal: give --clients, --duration-mode, --concurrency and --workload",
    );
  }
  if (!isInteractive() || !asksNothing(argv)) return parseRunAll(argv, env);
  // The menu is imported late because a campaign from flags does not need it.
  const [{ commandSoFar, menu, requireReady }, { ClackPrompter, Keyboard }, { intro, outro }] =
    await Promise.all([
      import("./menu.js"),
      import("./clack-prompter.js"),
      import("@clack/prompts"),
    ]);
  const keyboard = new Keyboard();
  const context = { env, packageFolder, flags: argv };
  try {
    const prompter = new ClackPrompter(keyboard);
    await keyboard.unlessCancelled(
      prompter.showWhile("checking this machine", requireReady(context)),
    );
    intro("ratelimit-bench – Enter accepts what is marked, Esc goes back, Ctrl-C ends");
    const answersSoFar: Partial<MenuAnswers> = {};
    const asking = menu(prompter, context, answersSoFar);
    const request = await keyboard.unlessCancelled(asking).catch((error) => {
      if (!(error instanceof Cancelled)) throw error;
      throw new Cancelled(error.exitCode, runnableIn(commandSoFar(answersSoFar, context)));
    });
    outro("starting");
    return request;
  } finally {
    keyboard.close();
  }
}
