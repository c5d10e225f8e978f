import { Command } from "commander";
import { expect, test } from "vitest";
import {
  addApiFlags,
  apiSettingsOf,
  withoutCredentials,
} from "../../../../src/orchestrator/commands/audit-url-flags.js";

const settingsOf = (url: string, ...words: string[]) =>
  apiSettingsOf(addApiFlags(new Command()).parse(words, { from: "user" }), url);

test("a command is words, and with --shell what a shell makes of it", () => {
  const { app } = settingsOf("/a", "--command", "node 'my server.js'", "--env", "A=b=c");
  expect(app).toMatchObject({ instances: 1, env: { A: "b=c" } });
  expect(app?.command.words).toEqual(["node", "my server.js"]);
  const inShell = settingsOf("/a", "--command", "cd app && npm start", "--shell").app;
  expect(inShell?.command.words).toEqual(["/bin/sh", "-c", "cd app && npm start"]);
});

test.each([
  ["http://127.0.0.1/a", ["--break", "true"], "--mend"],
  ["http://127.0.0.1/a", ["--expect", "open"], "--break"],
  ["http://127.0.0.1/a", ["--instances", "2"], "--command"],
  ["http://127.0.0.1/a", ["--command", "true"], "--url"],
  ["//example.org/a", ["--command", "true"], "--url"],
  ["/a", ["--command", "true && false"], "--shell"],
  ["/a", ["--command", "true", "--env", "PORT=1"], "PORT"],
  ["/a", ["--command", "true", "--instances", "17"], "--instances"],
])("%s %j: the refusal names %s", (url, words, name) => {
  expect(() => settingsOf(url, ...words)).toThrow(name);
});

test("what commands and variables are told is not written", () => {
  const words = [
    "--break=redis-cli -a secret",
    "--env",
    "KEY=secret",
    "--command",
    "app --key secret",
  ];
  expect(withoutCredentials(words).join(" ")).not.toContain("secret");
});
