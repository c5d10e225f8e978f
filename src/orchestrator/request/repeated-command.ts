import { shellWord } from "../../kit/command-text.js";
import type { Environment } from "../../kit/env.js";
import { shownHeaderLine } from "./app-flags.js";
import { SETTINGS } from "./settings.js";

/** The variables that campaigns and single runs share, except secrets. */
export const SHARED_VARIABLES: readonly string[] = SETTINGS.flatMap(({ variable, secret }) =>
  variable && !secret ? [variable] : [],
);

const HEADER = "--header";

/** What stands in a written command for the address of a store, which may hold a password. */
export const HIDDEN_STORE = "STORE_URL=…";

/**
 * The command without the store's address, which may hold a password, and without values of headers
 * that may be credentials. Whoever repeats the command sets STORE_URL, and gives these values.
 */
export function withoutSecrets(argv: readonly string[]): string[] {
  const shown = argv.map((word, index) => {
    if (argv[index - 1] === HEADER) return shownHeaderLine(word);
    const line = word.startsWith(`${HEADER}=`) ? word.slice(HEADER.length + 1) : undefined;
    return line === undefined ? word : `${HEADER}=${shownHeaderLine(line)}`;
  });
  return shown.filter((word, index) => {
    const isFlag = word === "--store-url" || word.startsWith("--store-url=");
    const isItsValue = argv[index - 1] === "--store-url";
    return !isFlag && !isItsValue;
  });
}

/** The variables that are set, as a shell assigns them in front of a command. */
export const assignments = (names: readonly string[], env: Environment): string[] =>
  names.flatMap((name) => (env[name] ? [`${name}=${shellWord(env[name])}`] : []));
