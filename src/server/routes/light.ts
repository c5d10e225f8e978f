/** The least that an endpoint can do: a constant. */
export const light = (): string => '{"workload":"light"}';
