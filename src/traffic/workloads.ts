/** What the endpoint does for an admitted request. */
export interface WorkloadDescription {
  id: string;
  path: string;
  /** Whether `COMPUTATION_COMPLEXITY` changes what it costs. */
  computes: boolean;
}

export const workloads: readonly WorkloadDescription[] = [
  { id: "light", path: "/light", computes: false },
  { id: "heavy", path: "/heavy", computes: true },
];
