import { expect, test } from "vitest";
import { connectionNotes } from "../../../src/judge/store-connections.js";
import { validEvidence } from "../../helpers/evidence.js";

/** The notes of a run with 1,000 decisions of the store on 50 connections. */
function notesOf(connections_under_load: number | undefined, change: object = {}): string[] {
  const { store, request, ...evidence } = validEvidence();
  const [node] = store?.nodes ?? [];
  if (!store || !node) throw new Error("the run has no store");
  const nodes = [
    {
      ...node,
      at_start: { ...node.at_start, decisions: 0 },
      at_end: { ...node.at_end, decisions: 1_000 },
    },
  ];
  return connectionNotes({
    ...evidence,
    store: {
      ...store,
      nodes,
      ...(connections_under_load === undefined ? {} : { connections_under_load }),
    },
    request: { ...request, load: { model: "closed", connections: 50 } },
    ...change,
  });
}

test("a target that opens a connection for each decision is named with their number [M26]", () => {
  expect(notesOf(998)).toEqual([
    "the store received 998 connections under load, about one for each of 1,000 decisions",
  ]);
});

test("one that closes connections now and then is, too", () => {
  expect(notesOf(100)).toEqual([
    "the store received 100 connections under load, one for 10 decisions",
  ]);
});

test.each([
  ["a pool that grows to the connections of the load", 50, {}],
  ["a store that counts no connections", undefined, {}],
  ["a planned fault, which closes connections", 998, { faults: [] }],
])("%s is not", (_, connections, change) => {
  expect(notesOf(connections, change)).toEqual([]);
});
