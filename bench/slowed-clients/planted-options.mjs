/** Options for clients whose defect is known by design. They need a client with the handle of ioredis. */

/** Spins for so many microseconds. */
export const spin = (us) => {
  const until = performance.now() + us / 1000;
  while (performance.now() < until);
};

/** A client without a command for so long was idle. */
const IDLE_MS = 20;
const SLOW_AFTER_IDLING_MS = 50;

/** @returns a function that spins in the first 50 ms after the client was idle (M33) */
export function spinAfterIdling(us) {
  let last_ms = 0;
  let awoke_ms = 0;
  return () => {
    const now_ms = performance.now();
    if (now_ms - last_ms > IDLE_MS) awoke_ms = now_ms;
    last_ms = now_ms;
    if (now_ms - awoke_ms < SLOW_AFTER_IDLING_MS) spin(us);
  };
}

/** @returns a function that spins once the client was busy for so many seconds, idle times left out (M26) */
export function spinFrom(busySeconds, us) {
  let last_ms = 0;
  let busy_ms = 0;
  return () => {
    const now_ms = performance.now();
    if (now_ms - last_ms <= IDLE_MS) busy_ms += now_ms - last_ms;
    last_ms = now_ms;
    if (busy_ms >= 1000 * busySeconds) spin(us);
  };
}

/**
 * An option that sends commands in another way.
 *
 * @param newSend makes what takes the place of the handle's `sendCommand`, for a client
 */
const sending = (id, summary, newSend) => ({
  id,
  summary,
  apply: (client) => ({
    ...client,
    async open(place, tuning) {
      const opened = await client.open(place, tuning);
      opened.handle.sendCommand = newSend(opened.handle);
      return opened;
    },
  }),
});

/**
 * An option that calls a function before each command.
 *
 * @param newDelay makes the function for a client
 */
export const delayed = (id, summary, newDelay) =>
  sending(id, summary, (handle) => {
    const send = handle.sendCommand.bind(handle);
    const delay = newDelay();
    return (...words) => {
      delay();
      return send(...words);
    };
  });

/** An option by which each command has a connection of its own. */
export const newConnection = (id, summary) =>
  sending(id, summary, (handle) => async (command) => {
    const connection = handle.duplicate({ lazyConnect: true });
    connection.on("error", () => {});
    try {
      await connection.connect();
      return await connection.sendCommand(command);
    } finally {
      connection.disconnect();
    }
  });
