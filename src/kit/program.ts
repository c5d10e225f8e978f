import { existsSync } from "node:fs";
import { dirname } from "node:path";
import {
  BenchError,
  EXIT,
  type ExitCode,
  environmentError,
  inOneLine,
  messageOf,
} from "./errors.js";

/**
 * Runs `main` and exits with its code. An expected failure is one line on standard error, and a
 * defect its stack. It is a defect, too, if nothing is left that could end the wait of `main`, which
 * Node.js would call a success.
 * @param shown makes the text of a message; whoever reads the output takes its last line as the
 *   reason
 */
export async function runMain(main: () => Promise<ExitCode>, shown = inOneLine): Promise<never> {
  process.once("beforeExit", () => {
    process.stderr.write("defect: it waits for something that can no longer come\n");
    process.exit(EXIT.defect);
  });
  try {
    process.exit(await main());
  } catch (thrown) {
    const error = isOutOfFiles(thrown) ? tooFewFiles() : thrown;
    const expected = error instanceof BenchError;
    const text = expected || !(error instanceof Error) ? shown(messageOf(error)) : error.stack;
    process.stderr.write(`${text}\n`);
    process.exit(expected ? error.exitCode : EXIT.defect);
  }
}

/**
 * Refuses a Node.js that is older than the package's `engines` name, because it would fail on an
 * import that it does not know.
 * @param engines e.g. `>=20.19`
 * @throws environmentError
 */
export function requireNode(engines: string, version = process.versions.node): void {
  const [major = 0, minor = 0] = engines.replace(/^>=/, "").split(".").map(Number);
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  if (ownMajor > major || (ownMajor === major && ownMinor >= minor)) return;
  throw environmentError(
    `Node.js ${version} is too old: install version ${major}.${minor} or newer`,
  );
}

function isOutOfFiles(error: unknown): boolean {
  const { code, message = "" } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  if (code === "EMFILE" || code === "ENFILE") return true;
  // Node takes a package for missing whose files it cannot open.
  const [, path] = /^Cannot find package '(\/[^']+)'/.exec(message) ?? [];
  return code === "ERR_MODULE_NOT_FOUND" && path !== undefined && existsSync(dirname(path));
}

const tooFewFiles = (): BenchError =>
  environmentError("this process may not open enough files: raise the limit, e.g. ulimit -n 4096");

export const printDocument = (document: unknown): Promise<void> =>
  new Promise((resolve) => process.stdout.write(`${JSON.stringify(document)}\n`, () => resolve()));
