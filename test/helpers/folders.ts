import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";

/** Folders of one test, with a space in their names; they are removed when it ends. */
export function temporaryFolders(): () => string {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    const folder = mkdtempSync(join(tmpdir(), "ratelimit bench test-"));
    folders.push(folder);
    return folder;
  };
}

/** A state folder of its own for each test that asks, so that it meets no campaign of the user. */
export function ownStateFolder(newFolder: () => string): () => string {
  const stateHomeBefore = process.env.XDG_STATE_HOME;
  afterEach(() => {
    if (stateHomeBefore === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = stateHomeBefore;
  });
  return () => {
    process.env.XDG_STATE_HOME = newFolder();
    return join(process.env.XDG_STATE_HOME, "ratelimit-bench");
  };
}
