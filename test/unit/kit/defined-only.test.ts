import { expect, test } from "vitest";
import { definedOnly } from "../../../src/kit/defined-only.js";

test("members that are undefined are left out; null, 0 and empty texts stay", () => {
  const image: string | undefined = undefined;
  const members = definedOnly({ id: "store-1", image, port: 0, node: null, text: "" });
  expect(Object.entries(members)).toEqual([
    ["id", "store-1"],
    ["port", 0],
    ["node", null],
    ["text", ""],
  ]);
  const typed: { id: string; image?: string } = members;
  expect(typed).not.toHaveProperty("image");
});
