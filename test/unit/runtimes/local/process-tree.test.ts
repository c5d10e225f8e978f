import { expect, test } from "vitest";
import { processFromStat, treeOf } from "../../../../src/runtimes/local/process-tree.js";

const stat = (parent: number, group: number, ended: [user: number, system: number]) =>
  `77 (a) b (c)) S ${parent} ${group} 5 0 -1 4194304 1 2 3 4 10 20 ${ended.join(" ")} 20 0 1 0 99 1 2`;

test("a line of /proc gives parent, group and the time of ended children, whatever the name is", () => {
  expect(processFromStat(77, stat(3, 4, [6, 7]))).toEqual({
    pid: 77,
    parent: 3,
    group: 4,
    ended_ticks: 13,
  });
  expect(processFromStat(77, "")).toBeUndefined();
});

const listed = (pid: number, parent: number, group: number) => ({
  pid,
  parent,
  group,
  ended_ticks: 0,
});

test("a tree has the group of its root, whoever the parent is now, and all that these started", () => {
  const processes = [
    listed(10, 1, 10),
    listed(11, 10, 10),
    // Its parent has ended.
    listed(12, 1, 10),
    // It has left the group, and so has what it started.
    listed(13, 11, 13),
    listed(14, 13, 14),
    listed(20, 1, 20),
    listed(21, 20, 20),
  ];
  expect(treeOf(10, processes).map(({ pid }) => pid)).toEqual([10, 11, 12, 13, 14]);
});
