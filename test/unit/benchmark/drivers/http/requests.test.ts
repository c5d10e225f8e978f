import { describe, expect, test } from "vitest";
import {
  connectionsTo,
  outcomeOf,
  requestBuffer,
} from "../../../../../src/benchmark/drivers/http/requests.js";
import { FRESH_KEY } from "../../../../../src/traffic/types.js";

test.each([
  [200, "allowed"],
  [204, "allowed"],
  [299, "allowed"],
  [429, "limited"],
  [302, "failed"],
  [400, "failed"],
  [428, "failed"],
  [503, "failed"],
] as const)("the outcome of a status %i is %s", (status, outcome) => {
  expect(outcomeOf(status)).toBe(outcome);
});

test("a request carries each of its descriptors, encoded, and keeps its connection", () => {
  const url = new URL("http://127.0.0.1:3001/base/light");
  expect(requestBuffer(url, ["user-1", "a b&c"]).toString()).toBe(
    "GET /base/light?userId=user-1&userId=a+b%26c HTTP/1.1\r\nHost: 127.0.0.1:3001\r\nConnection: keep-alive\r\n\r\n",
  );
});

describe("the connections of a run to several servers", () => {
  const servers = ["http://a:1/light", "http://b:2/light", "http://c:3/light"].map((url) => new URL(url));
  const stream = { next: () => 0 };
  const connections = (count: number, first = 0) =>
    connectionsTo(servers, {
      requests: [[FRESH_KEY]],
      streams: Array.from({ length: count }, () => stream),
      first,
    });

  test("are spread evenly, however many workers there are", () => {
    const one = connections(7).map(({ url }) => url.host);
    expect(one).toEqual(["a:1", "b:2", "c:3", "a:1", "b:2", "c:3", "a:1"]);
    expect([...connections(4), ...connections(3, 4)].map(({ url }) => url.host)).toEqual(one);
  });

  test("send to their own server, each with fresh keys of its own", () => {
    const sent = connections(4, 2).flatMap(({ url, source }) =>
      [1, 2].map(() => {
        const text = source.next().requestBuffer.toString();
        expect(text).toContain(`Host: ${url.host}\r\n`);
        return /userId=(\S+)/.exec(text)?.[1];
      }),
    );
    expect(new Set(sent).size).toBe(8);
  });
});
