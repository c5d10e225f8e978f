import { expect, test } from "vitest";
import { countersIn } from "../../../../src/runtimes/kubernetes/part.js";

const NETWORK = `== /proc/net/dev
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0
  eth0: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0
`;

test("counters of control groups of version 2 are read from one folder", () => {
  const printed = `== /sys/fs/cgroup/cpu.stat
usage_usec 1500
nr_periods 10
nr_throttled 2
throttled_usec 300
== /sys/fs/cgroup/memory.stat
inactive_file 24
== /sys/fs/cgroup/memory.current
1024
${NETWORK}`;
  expect(countersIn(printed, true)).toEqual({
    cpu_us: 1500,
    resident_bytes: 1000,
    throttling: { periods: 10, throttled_periods: 2, throttled_us: 300 },
    network: { received_bytes: 100, sent_bytes: 200 },
  });
});

test("those of version 1 from a folder each; bytes of a network that is the node's are not the pod's", () => {
  const printed = `== /sys/fs/cgroup/cpuacct/cpuacct.usage
1500000
== /sys/fs/cgroup/cpu/cpu.stat
nr_periods 0
== /sys/fs/cgroup/memory/memory.stat
total_inactive_file 24
== /sys/fs/cgroup/memory/memory.usage_in_bytes
1024
${NETWORK}`;
  expect(countersIn(printed, false)).toEqual({ cpu_us: 1500, resident_bytes: 1000 });
});
