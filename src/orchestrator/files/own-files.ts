import { environmentError, messageOf } from "../../contract/errors.js";
import { MAX_DOCUMENT_BYTES, readUserFile } from "../../contract/user-files.js";

/**
 * Reads a file that this project wrote, if nobody has put something else in its place.
 * @returns undefined where there is none
 * @throws environmentError where it cannot be read, or is a link, a folder or a pipe
 */
export function readOwnFile(path: string): Buffer | undefined {
  try {
    return readUserFile(path, MAX_DOCUMENT_BYTES, { isOwn: true });
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw environmentError(`${path} cannot be read (${messageOf(error)}): remove it`, { cause: error });
  }
}
