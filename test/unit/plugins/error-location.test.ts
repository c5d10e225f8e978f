import { realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { errorLocation, withErrorLocation } from "../../../src/plugins/error-location.js";
import { temporaryFolders } from "../../helpers/folders.js";

const newFolder = temporaryFolders();

test("the innermost line of a plugin is named with the user's path", () => {
  const folder = realpathSync(newFolder());
  const file = join(folder, "my client.js");
  writeFileSync(file, "");
  const link = join(folder, "link.js");
  symlinkSync(file, link);
  const url = pathToFileURL(file).href;
  const trace = `Error: no\n    at open (${url}:12:5)\n    at ${url}:3:1\n    at main (file:///elsewhere.js:1:1)`;
  expect(errorLocation(trace, [file])).toBe(`${file}:12:5`);
  expect(errorLocation(trace, [link])).toBe(`${link}:12:5`);
  expect(errorLocation(trace, [folder])).toBe(`${join(folder, "my client.js")}:12:5`);
  expect(
    errorLocation("Error: no\n    at main (file:///elsewhere.js:1:1)", [file]),
  ).toBeUndefined();
});

test("a failure that a plugin caused names its line, once", () => {
  const file = join(realpathSync(newFolder()), "a.js");
  writeFileSync(file, "");
  const cause = new Error("broken");
  cause.stack = `Error: broken\n    at open (${pathToFileURL(file).href}:7:3)`;
  const failed = new Error("a cannot use the valkey", { cause });
  expect(withErrorLocation(failed.message, failed, [file])).toBe(
    `a cannot use the valkey (${file}:7:3)`,
  );
  expect(withErrorLocation(`a at ${file}:7:3`, failed, [file])).toBe(`a at ${file}:7:3`);
  expect(withErrorLocation("other", new Error("other"), [file])).toBe("other");
});
