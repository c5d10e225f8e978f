import { expect, test } from "vitest";
import { inOneLine, messageOf } from "../../../src/contract/errors.js";

const refused = (host: string) => new Error(`connect ECONNREFUSED ${host}`);

test.each<[string, unknown, string]>([
  ["a message that ends in a new line", new Error("alert number 42\n"), "alert number 42"],
  [
    "an empty message before others",
    Object.assign(new AggregateError([refused("::1"), refused("127.0.0.1")]), { code: "ECONNREFUSED" }),
    "connect ECONNREFUSED ::1; connect ECONNREFUSED 127.0.0.1",
  ],
  ["an empty message with a cause", new Error("", { cause: refused("a") }), "connect ECONNREFUSED a"],
  ["an empty message with a code", Object.assign(new Error(), { code: "ECONNRESET" }), "ECONNRESET"],
  ["nothing but a name", new TypeError(), "TypeError"],
  ["a text", "why", "why"],
])("%s is shown", (_what, error, shown) => {
  expect(messageOf(error)).toBe(shown);
});

test("several lines become one", () => {
  expect(inOneLine("C0:error\r\n  alert bad certificate\n\n")).toBe("C0:error alert bad certificate");
});
