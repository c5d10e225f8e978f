import { expect, test } from "vitest";
import { EXIT } from "../../../../src/contract/errors.js";
import { waitUntil } from "../../../../src/targets/stores/deciding.js";
import { parseFields } from "../../../../src/targets/stores/resp/nodes.js";
import { expectFailure } from "../../../helpers/errors.js";

test("INFO's lines become fields; values keep their colons, headings are none", () => {
  const fields = parseFields("# Server\r\nredis_version:7.2.4\r\nexecutable:/a:b\r\n\r\nempty:\r\n:odd\r\n");
  expect([...fields]).toEqual([
    ["redis_version", "7.2.4"],
    ["executable", "/a:b"],
    ["empty", ""],
  ]);
});

test("a wait repeats its check until there is no problem; an error counts as a problem", async () => {
  let asked = 0;
  await waitUntil("store", Date.now() + 60_000, async () => {
    asked++;
    if (asked === 1) throw new Error("refused");
    return asked < 3 ? "loading" : undefined;
  });
  expect(asked).toBe(3);
});

test("waiting ends at the deadline with the last problem", async () => {
  const past = Date.now() - 1;
  const forming = () => waitUntil("cluster", past, async () => "5 of 6 nodes");
  await expectFailure(forming, EXIT.environment, "cluster", "5 of 6");
  const failing = () => waitUntil("store", past, () => Promise.reject(new Error("refused")));
  await expectFailure(failing, EXIT.environment, "the store took too long to be ready: refused");
});
