let state = 1;

/** Uses the CPU for so many rounds. */
export function work(rounds) {
  for (let round = 0; round < rounds; round++) state = (Math.imul(state, 1103515245) + 12345) | 0;
}
