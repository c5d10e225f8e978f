import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
const MEBIBYTE = 1024 ** 2;

/** The largest document of a campaign. The report reads no larger one either. */
export const MAX_DOCUMENT_BYTES = 64 * MEBIBYTE;
/** The largest file of settings, or certificate. */
export const MAX_SETTING_BYTES = 16 * MEBIBYTE;

/**
 * Reads a regular file of at most `maxBytes`, because some files of the kernel never end. Nothing
 * waits for the writer of a pipe.
 * @param isOwn whether a campaign wrote the file, so that it is no link
 * @throws Error that says what it is instead
 */
export const readUserFile = (
  path: string,
  maxBytes: number,
  options: { isOwn?: boolean } = {},
): Buffer => Buffer.concat([...userFileParts(path, maxBytes, options)]);

/** Reads such a file in parts of a mebibyte, for one that need not be in memory as a whole. */
export function* userFileParts(
  path: string,
  maxBytes: number,
  { isOwn = false }: { isOwn?: boolean } = {},
): Generator<Buffer> {
  const file = opened(path, O_RDONLY | O_NONBLOCK | (isOwn ? O_NOFOLLOW : 0));
  try {
    if (!fstatSync(file).isFile()) throw new Error("it is not a file");
    for (let size = 0; ; ) {
      const part = Buffer.alloc(MEBIBYTE);
      const read = readSync(file, part);
      if (read === 0) return;
      size += read;
      if (size > maxBytes) throw new Error(`it is larger than ${maxBytes / MEBIBYTE} MiB`);
      yield part.subarray(0, read);
    }
  } finally {
    closeSync(file);
  }
}

function opened(path: string, flags: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ELOOP") throw new Error("it is a link", { cause: error });
    throw error;
  }
}
