/**
 * Shifts the wall clock of this process, as one that is set wrong: what limiters read of it, and
 * nothing else. Durations (`performance.now()`, timers) do not change with a wall clock.
 */
export function shiftClock(byMs = 0): void {
  if (byMs === 0) return;
  const real = Date;
  const now = () => real.now() + byMs;
  globalThis.Date = new Proxy(real, {
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
    construct: (target, given, made) =>
      Reflect.construct(target, given.length > 0 ? given : [now()], made),
  });
}
