import { environmentError, messageOf } from "../../contract/errors.js";
import { MAX_DOCUMENT_BYTES, readUserFile } from "../../contract/user-files.js";

/** A file of this project; undefined without one. @throws environmentError for a link, folder or pipe */
export function readOwnFile(path: string): Buffer | undefined {
  try {
    return readUserFile(path, MAX_DOCUMENT_BYTES, { isOwn: true });
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw environmentError(`${path} cannot be read (${messageOf(error)}): remove it`, { cause: error });
  }
}
