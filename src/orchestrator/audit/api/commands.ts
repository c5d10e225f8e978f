import { execa } from "execa";
import { commandWords } from "../../../kit/command-words.js";
import { lastLine, messageOf, usageError } from "../../../kit/errors.js";
import { stopGroup } from "../../../runtimes/processes.js";
import { NotChecked } from "../audited-system.js";

/** A command that somebody gave on the command line. */
export interface Command {
  /** The flag that gave it. */
  flag: string;
  text: string;
  /** Its program and arguments. */
  words: readonly string[];
}

const SHELL = "/bin/sh";
const MOST_SECONDS = 60;

/**
 * Reads a command, whose words are its program and arguments, or what a shell makes of it.
 * @throws usageError where it is no command without a shell
 */
export function parseCommand(flag: string, text: string, inShell: boolean): Command {
  if (inShell) return { flag, text, words: [SHELL, "-c", text] };
  try {
    return { flag, text, words: commandWords(text) };
  } catch (error) {
    throw usageError(
      `${flag} ${JSON.stringify(text.slice(0, 200))}: ${messageOf(error)}; quote it, or give --shell`,
    );
  }
}

/**
 * Runs a command to its end, which what it leaves running does not delay.
 * @param signal ends it
 * @throws NotChecked where it fails, or takes longer than a minute; the reason of the signal
 */
export async function runCommand({ flag, words }: Command, signal?: AbortSignal): Promise<void> {
  const [program = "", ...parameters] = words;
  const running = execa(program, parameters, {
    stdin: "ignore",
    stdout: "ignore",
    buffer: false,
    reject: false,
    detached: true,
    cleanup: false,
  });
  let printed = "";
  running.stderr.setEncoding("utf8").on("data", (text: string) => {
    printed = (printed + text).slice(-2_000);
  });

  const ended = new Promise<string>((resolve) => {
    running.once("exit", (code, signal) => resolve(String(code ?? signal)));
    running.once("error", (error) => resolve(messageOf(error)));
  });
  const stop = () => {
    if (running.pid !== undefined) void stopGroup(running.pid, ended);
  };
  const timer = setTimeout(stop, MOST_SECONDS * 1000);
  signal?.addEventListener("abort", stop, { once: true });
  const end = await ended;
  clearTimeout(timer);
  signal?.removeEventListener("abort", stop);
  // What it started may hold its output open.
  running.stderr.destroy();
  signal?.throwIfAborted();
  if (end !== "0") throw new NotChecked(`${flag} ended with ${end}: ${lastLine(printed) ?? ""}`);
}
