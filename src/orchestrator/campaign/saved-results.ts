import { mkdir, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Manifest } from "../../contract/manifest.js";
import type { PlannedRun } from "../../contract/plan.js";
import type { Result } from "../../contract/result.js";
import { messageOf } from "../../kit/errors.js";
import type { Checksums } from "../files/checksums.js";
import { writeAtomically } from "../files/results-folder.js";
import type { RequestedOutput } from "../request/request.js";
import type { EventLog } from "../ui/event-log.js";

/** The folder for the results of rounds that are measured again. */
const ABORTED = "aborted";

export interface SavedResultsOptions {
  folder: string;
  /** The manifest, which lists the results that were set aside. */
  manifest: Pick<Manifest, "set_aside">;
  checksums: Checksums;
  eventLog: EventLog;
  request: { output: Pick<RequestedOutput, "file"> };
}

/** The result files of a campaign, and their checksums. */
export class SavedResults {
  readonly #options: SavedResultsOptions;

  constructor(options: SavedResultsOptions) {
    this.#options = options;
  }

  /**
   * Saves a result, and its copy for OUTPUT_FILE. A full disk fails this run alone.
   * @returns whether both could be written
   */
  async save({ file }: PlannedRun, result: Result): Promise<boolean> {
    const { folder, checksums, eventLog, request } = this.#options;
    const { file: outputFile } = request.output;
    const text = `${JSON.stringify(result)}\n`;
    const resultPath = join(folder, file);
    let subject = resultPath;
    try {
      await writeAtomically(resultPath, text);
      await checksums.add(file, text);
      if (outputFile) {
        subject = `OUTPUT_FILE ${outputFile}`;
        await writeAtomically(resolve(outputFile), text);
      }
      return true;
    } catch (error) {
      eventLog.warn(`${subject} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  /**
   * Moves away the results that an earlier session left of a round, because the round is measured
   * again as a whole. They are kept, but enter no figure.
   */
  async setAside(round: readonly PlannedRun[]): Promise<void> {
    const { folder, checksums, manifest } = this.#options;
    for (const { file } of round) {
      if (!checksums.has(file)) continue;
      const number = (manifest.set_aside ?? []).length + 1;
      const newName = `${ABORTED}/${number}-${file}`;
      await mkdir(join(folder, ABORTED), { recursive: true });
      await rename(join(folder, file), join(folder, newName)).catch((error) => {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      });
      await checksums.rename(file, newName);
      manifest.set_aside = [...(manifest.set_aside ?? []), newName];
    }
  }
}
