/** What the endpoint does for an admitted request. */
export interface Workload {
  id: string;
  path: string;
  /** Whether `COMPUTATION_COMPLEXITY` changes what it costs. */
  computes: boolean;
}

export const workloads: readonly Workload[] = [
  { id: "light", path: "/light", computes: false },
  { id: "heavy", path: "/heavy", computes: true },
];
