import { expect, test } from "vitest";
import { EarlierCounters } from "../../../src/runtimes/earlier-counters.js";

const network = (bytes: number) => ({ received_bytes: bytes, sent_bytes: 2 * bytes });

test("counters go on over restarts, where those of each process begin at 0; memory is that of the last", () => {
  const earlier = new EarlierCounters();
  expect(earlier.plus({ cpu_us: 5, resident_bytes: 100 })).toEqual({ cpu_us: 5, resident_bytes: 100 });
  earlier.keep({ cpu_us: 10, resident_bytes: 100, network: network(3) });
  earlier.keep({ cpu_us: 20, resident_bytes: 100, network: network(4) });
  expect(earlier.plus({ cpu_us: 1, resident_bytes: 50, network: network(1) })).toEqual({
    cpu_us: 31,
    resident_bytes: 50,
    network: network(8),
  });
});
