import { mkdir, rename } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Manifest } from "../../contract/manifest.js";
import type { PlannedRun } from "../../contract/plan.js";
import type { Result } from "../../contract/result.js";
import { messageOf } from "../../kit/errors.js";
import type { Checksums } from "../files/checksums.js";
import { writeAtomically } from "../files/results-folder.js";
import type { Request } from "../request/request.js";
import type { EventLog } from "../ui/event-log.js";

/** Folder of the results of rounds that were measured again. */
const ABORTED = "aborted";

export interface SavedResultsOptions {
  folder: string;
  /** It lists the results that were set aside. */
  manifest: Pick<Manifest, "set_aside">;
  checksums: Checksums;
  eventLog: EventLog;
  request: Pick<Request, "outputFile">;
}

/** The result files of a campaign, and their checksums. */
export class SavedResults {
  readonly #options: SavedResultsOptions;

  constructor(options: SavedResultsOptions) {
    this.#options = options;
  }

  /**
   * Saves a result, and its copy for OUTPUT_FILE. @returns whether both could be written; a full
   * disk fails this run alone
   */
  async save({ file }: PlannedRun, result: Result): Promise<boolean> {
    const { folder, checksums, eventLog, request } = this.#options;
    const { outputFile } = request;
    const text = `${JSON.stringify(result)}\n`;
    let written = join(folder, file);
    try {
      await writeAtomically(written, text);
      await checksums.add(file, text);
      if (outputFile) {
        written = `OUTPUT_FILE ${outputFile}`;
        await writeAtomically(resolve(outputFile), text);
      }
      return true;
    } catch (error) {
      eventLog.warn(`${written} could not be written: ${messageOf(error)}`);
      return false;
    }
  }

  /**
   * Moves away what an earlier session left of a round, which is measured as a whole: it enters no
   * figure, and is kept.
   */
  async setAside(round: readonly PlannedRun[]): Promise<void> {
    const { folder, checksums, manifest } = this.#options;
    for (const { file } of round) {
      if (!checksums.has(file)) continue;
      const number = (manifest.set_aside ?? []).length + 1;
      const to = `${ABORTED}/${number}-${file}`;
      await mkdir(join(folder, ABORTED), { recursive: true });
      await rename(join(folder, file), join(folder, to)).catch((error) => {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      });
      await checksums.rename(file, to);
      manifest.set_aside = [...(manifest.set_aside ?? []), to];
    }
  }
}
