/** Where the workers of a generator wait for each other before each turn, and for the main thread between turns. */
export interface MeetingPlace {
  /** How many workers have come to a turn so far, all turns together; and how often the main thread has let them go on. */
  meeting: Int32Array<SharedArrayBuffer>;
  workers: number;
}

const COME = 0;
const RESUMED = 1;

export const meetingPlace = (workers: number): MeetingPlace => ({
  meeting: new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)),
  workers,
});

/** Lets all workers go on that wait in `resumed`. */
export function resume({ meeting }: MeetingPlace): void {
  Atomics.add(meeting, RESUMED, 1);
  Atomics.notify(meeting, RESUMED);
}

async function reached(meeting: MeetingPlace["meeting"], index: number, needed: number): Promise<void> {
  for (let seen = Atomics.load(meeting, index); seen < needed; seen = Atomics.load(meeting, index))
    await Atomics.waitAsync(meeting, index, seen).value;
}

/** A worker's side. */
export function meetingOf({ meeting, workers }: MeetingPlace) {
  let come = Math.floor(Atomics.load(meeting, COME) / workers) * workers;
  let pauses = Atomics.load(meeting, RESUMED);
  return {
    /** Resolves once all workers have called it as often, so that no target has a turn beside another. */
    async meet(): Promise<void> {
      come += workers;
      if (Atomics.add(meeting, COME, 1) + 1 === come) Atomics.notify(meeting, COME);
      await reached(meeting, COME, come);
    },
    /** Resolves when the main thread has let all go on once more. */
    resumed: (): Promise<void> => reached(meeting, RESUMED, ++pauses),
  };
}
