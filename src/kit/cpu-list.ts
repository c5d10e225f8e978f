import { z } from "zod";

/** A list of CPUs as Linux writes it, such as `0-2,5`. The report counts its CPUs. */
export const cpuListSchema = z
  .string()
  .regex(/^[0-9]{1,6}(-[0-9]{1,6})?(,[0-9]{1,6}(-[0-9]{1,6})?)*$/);

/** The CPUs of a list as Linux writes them, such as `0-2,5`; none for any other text. */
export function cpusInList(list: string): number[] {
  const ranges = list.trim().split(",");
  const cpus = ranges.flatMap((range) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    const count = Number(last) - Number(first) + 1;
    return count > 0
      ? Array.from({ length: count }, (_, index) => Number(first) + index)
      : [Number.NaN];
  });
  return cpus.some(Number.isNaN) ? [] : cpus;
}
