/**
 * The value of `duration-mode` that lets the load and the topology decide how long a run measures.
 */
export const DYNAMIC_DURATION = "dynamic";

/** The seconds of a dynamic run. Many connections and clusters need longer to settle. */
export const DYNAMIC = {
  seconds: 120,
  most_connections: 100,
  seconds_above: 180,
  more_in_a_cluster: 30,
} as const;

export function dynamicDurationS(connections: number, isCluster: boolean): number {
  const byLoad = connections <= DYNAMIC.most_connections ? DYNAMIC.seconds : DYNAMIC.seconds_above;
  return byLoad + (isCluster ? DYNAMIC.more_in_a_cluster : 0);
}

/** The durations that the original has names for, in seconds. */
export const FIXED_DURATIONS: Readonly<Record<string, number>> = { fixed30: 30, fixed120: 120 };

/** The prefix of a number of seconds. */
export const CUSTOM_DURATION = "custom:";

/** The prefix of numbers of requests, which the run sends instead of measuring for a time. */
export const REQUESTS_DURATION = "requests:";

/** The values of `duration-mode` that are whole words. */
export const NAMED_DURATIONS = [DYNAMIC_DURATION, ...Object.keys(FIXED_DURATIONS)];
