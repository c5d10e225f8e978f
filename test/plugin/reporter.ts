import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";

/** The suite's own files: where they ask says less than a line of the plugin. */
const OWN_FILES = /\/(test|src|node_modules)\/|node:/;
const PLACE = /([^\s()]+:\d+:\d+)\)?$/;

/** The place in the plugin where an error came from; empty where it came from elsewhere. */
function placeIn(stack = ""): string {
  const lines = stack.split("\n").filter((line) => !OWN_FILES.test(line));
  const place = lines.flatMap((line) => PLACE.exec(line)?.[1] ?? [])[0];
  return place === undefined ? "" : `, at ${place}`;
}

const errorLine = ({ message, stack }: SerializedError): string =>
  `  ${message.split("\n")[0]}${placeIn(stack)}`;

const WORDS = {
  passed: "holds",
  failed: "DOES NOT HOLD",
  skipped: "not asked",
  pending: "pending",
};

/** Whether promises that were not asked have a line each, in place of their count. */
const isVerbose = process.env.PLUGIN_TEST_VERBOSE === "1";

/**
 * Prints a line for each promise as it was asked, what was seen where one does not hold, and their
 * counts.
 */
export default class PromiseReporter implements Reporter {
  readonly #counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };

  onTestCaseResult(testCase: TestCase): void {
    const { state, errors = [] } = testCase.result();
    this.#counts[state]++;
    if (state === "skipped" && !isVerbose) return;
    console.log(`${WORDS[state]}: ${testCase.fullName.replaceAll(" > ", ", ")}`);
    // A repeated test has its errors once more.
    if (state === "failed") for (const line of new Set(errors.map(errorLine))) console.log(line);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const error of [...modules.flatMap((module) => module.errors()), ...unhandled])
      console.log(`the plugin failed:\n${errorLine(error)}`);
    const { skipped } = this.#counts;
    if (skipped > 0 && !isVerbose)
      console.log(`${WORDS.skipped}: ${skipped} that do not apply to it (--verbose lists them)`);
    const counts = (["failed", "passed", "skipped"] as const).flatMap((state) =>
      this.#counts[state] > 0 || state === "passed" ? [`${this.#counts[state]} ${state}`] : [],
    );
    const all = Object.values(this.#counts).reduce((total, count) => total + count, 0);
    console.log(`Tests ${counts.join(" | ")} (${all})`);
  }
}
