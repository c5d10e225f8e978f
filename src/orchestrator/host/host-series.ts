import type { HostSpeed } from "../../contract/host-speed.js";
import { median } from "../../contract/numbers.js";
import type { HostSpeedProbe } from "../../machine/host-speed.js";

/** One piece of work over several measurements, in microseconds. */
export interface Spread {
  median_us: number;
  min_us: number;
  max_us: number;
}

/** The speed of the host over some time. */
export interface HostSeries {
  cpus: number;
  measurements: number;
  integer: Spread;
  chase: Spread;
  /** Absent where there is no loopback. */
  ping_pong?: Spread;
}

/** Measures again and again until the time is over, at least twice: one measurement has no spread. */
export async function measureFor(
  probe: Pick<HostSpeedProbe, "measure">,
  seconds: number,
): Promise<HostSpeed[]> {
  const measured: HostSpeed[] = [];
  const end = performance.now() + 1000 * seconds;
  while (measured.length < 2 || performance.now() < end) measured.push(await probe.measure());
  return measured;
}

/** @param measured at least one */
export function hostSeriesOf(measured: readonly HostSpeed[]): HostSeries {
  const roundTrips = measured.flatMap(({ ping_pong_us }) => ping_pong_us ?? []);
  return {
    cpus: Math.max(...measured.map(({ cpus }) => cpus)),
    measurements: measured.length,
    integer: spreadOf(measured.map(({ integer_us }) => integer_us)),
    chase: spreadOf(measured.map(({ chase_us }) => chase_us)),
    ...(roundTrips.length > 0 ? { ping_pong: spreadOf(roundTrips) } : {}),
  };
}

const spreadOf = (values: readonly number[]): Spread => ({
  median_us: median(values),
  min_us: Math.min(...values),
  max_us: Math.max(...values),
});
