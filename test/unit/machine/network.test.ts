import { expect, test } from "vitest";
import { networkOf } from "../../../src/machine/facts.js";

const HEAD = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;

test("a machine's network is that of the links that lead out", () => {
  const text = `${HEAD}    lo: 999 1 0 0 0 0 0 0 999 1 0 0 0 0 0 0
  eth0: 1000 2 0 0 0 0 0 0 200 3 0 0 0 0 0 0
enp3s0:50 2 0 0 0 0 0 0 7 3 0 0 0 0 0 0
docker0: 5 2 0 0 0 0 0 0 5 3 0 0 0 0 0 0
vethab12: 5 2 0 0 0 0 0 0 5 3 0 0 0 0 0 0
`;
  expect(networkOf(text)).toEqual({ received_bytes: 1050, sent_bytes: 207 });
  expect(networkOf(`${HEAD}    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n`)).toBeUndefined();
});
