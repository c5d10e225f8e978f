import { createInterface } from "node:readline/promises";
import type { Environment } from "../../contract/env.js";
import { messageOf, usageError } from "../../contract/errors.js";
import { parseCampaign } from "../request/parse-request.js";
import type { Request } from "../request/request.js";
import { canAsk } from "../ui/tty.js";
import { Cancelled } from "./prompter.js";

const QUESTIONS = [
  { flag: "--duration-mode", text: "Duration (dynamic, 30, 120 or seconds)", initial: "dynamic" },
  { flag: "--concurrency", text: "Concurrency (connections, with spaces between)", initial: "50 100" },
  { flag: "--workload", text: "Workload (light, heavy or both)", initial: "light" },
] as const;

/** `30` is `fixed30`, `45` is `custom:45`. */
function asFlag(flag: string, text: string): string {
  if (flag !== "--duration-mode" || !/^\d+$/.test(text)) return text;
  return text === "30" || text === "120" ? `fixed${text}` : `custom:${text}`;
}

/**
 * The three plain prompts of the original: duration, concurrency, workload. What flags say is not asked.
 * @returns undefined when help was asked for and has been printed
 * @throws usageError for flags that are wrong whatever is answered; Cancelled when input ends or Ctrl-C is pressed
 */
export async function plainPrompts(argv: readonly string[], env: Environment): Promise<Request | undefined> {
  const words = argv.filter((word) => word !== "--legacy");
  if (!words.some((word) => /^--(clients|preset|quick)(=|$)/.test(word))) words.push("--clients", "all");
  if (!parseCampaign(words, env)) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<never>((_, reject) => lines.once("close", () => reject(new Cancelled())));
  closed.catch(() => {});
  try {
    for (const { flag, text, initial } of QUESTIONS) {
      if (words.some((word) => word === flag || word.startsWith(`${flag}=`))) continue;
      for (;;) {
        const given = await Promise.race([lines.question(`${text} [${initial}]: `), closed]);
        const answer = asFlag(flag, given.trim() || initial);
        const wrong = refusal([...words, flag, answer], env);
        if (wrong === undefined) {
          words.push(flag, answer);
          break;
        }
        process.stdout.write(`${wrong}\n`);
      }
    }
  } finally {
    lines.close();
  }
  return parseCampaign(words, env);
}

function refusal(words: readonly string[], env: Environment): string | undefined {
  try {
    parseCampaign(words, env);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** @throws usageError where nobody can be asked */
export function requireTerminal(): void {
  if (canAsk()) return;
  throw usageError(
    "--legacy asks on a terminal, and there is none: give --clients, --duration-mode, --concurrency and --workload",
  );
}
