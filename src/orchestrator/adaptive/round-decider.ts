import { join } from "node:path";
import { execa } from "execa";
import { BenchError, EXIT } from "../../contract/errors.js";
import { type AdaptiveSummary, adaptiveSummarySchema } from "../../contract/summary.js";

/** Says who goes on after a round. @param isLast whether there will be no other round */
export type DecideRound = (round: number, isLast: boolean) => Promise<AdaptiveSummary>;

/**
 * Asks the report's Python, which holds all statistics, once: the answer is a function of the results in the folder.
 * @throws BenchError with its last line when it cannot say
 */
export function roundDecider(
  packageFolder: string,
  campaignFolder: string,
  signal: AbortSignal,
  hold: (pid: number) => Promise<void>,
): DecideRound {
  const program = join(packageFolder, "report");
  return async (round, isLast) => {
    const words = [
      program,
      "decide-rounds",
      campaignFolder,
      "--round",
      String(round),
      ...(isLast ? ["--end"] : []),
    ];
    const asking = execa("python3", words, { reject: false, cancelSignal: signal, gracefulCancel: false });
    if (asking.pid !== undefined) await hold(asking.pid);
    const { stdout, stderr, failed, exitCode, signal: killedBy } = await asking;
    if (failed) {
      signal.throwIfAborted();
      const last = stderr.trim().split("\n").at(-1) || `it ended with ${exitCode ?? killedBy}`;
      const code = exitCode === EXIT.defect ? EXIT.defect : EXIT.configurationFailed;
      throw new BenchError(`who goes on after round ${round} could not be decided: ${last}`, code);
    }
    return adaptiveSummarySchema.parse(JSON.parse(stdout));
  };
}
