import { expect, test } from "vitest";
import { commandWords } from "../../../src/kit/command-words.js";

test.each([
  ["node server.js", ["node", "server.js"]],
  ["  a \t b\n", ["a", "b"]],
  [`run 'two words' "and two" one\\ word`, ["run", "two words", "and two", "one word"]],
  [`'it''s' "a \\"quote\\"" ''`, ["its", 'a "quote"', ""]],
  [`'$HOME;rm' "a|b" \\$x '\\'`, ["$HOME;rm", "a|b", "$x", "\\"]],
])("%s", (command, words) => {
  expect(commandWords(command)).toEqual(words);
});

test.each(["docker stop $ID", "a | b", "a && b", "a > b", "rm *", "a `b`", `a "$B"`, "~/a"])(
  "%s takes a shell",
  (command) => {
    expect(() => commandWords(command)).toThrow("shell");
  },
);

test.each(["", "  ", "'open", 'a "b'])("%j is no command", (command) => {
  expect(() => commandWords(command)).toThrow();
});
