import { readFile } from "node:fs/promises";
import { pack } from "tar-stream";
import { type PartFile, textOf } from "../types.js";

/** Writable by none. A store refuses to load a module that it may not execute. */
const MODE = 0o555;

/** The files of a part as an archive, for an engine that may be on another machine. @param host of the part */
export async function archiveOf(files: Readonly<Record<string, PartFile>>, host: string): Promise<Buffer> {
  const archive = pack();
  const chunks: Buffer[] = [];
  const read = (async () => {
    for await (const chunk of archive) chunks.push(chunk as Buffer);
  })();
  for (const [name, file] of Object.entries(files)) {
    const content = "path" in file ? await readFile(file.path) : Buffer.from(textOf(file, host));
    archive.entry({ name, mode: MODE, uid: 0, gid: 0, mtime: new Date(0) }, content);
  }
  archive.finalize();
  await read;
  return Buffer.concat(chunks);
}
