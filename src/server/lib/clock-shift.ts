/**
 * Shifts the wall clock of this process, as if it were set wrong. It changes what limiters read of
 * it, and nothing else, because durations (`performance.now()`, timers) do not change with a wall
 * clock.
 */
export function shiftClock(byMs = 0): void {
  if (byMs === 0) return;
  const realDate = Date;
  const now = () => realDate.now() + byMs;
  globalThis.Date = new Proxy(realDate, {
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
    construct: (target, parameters, newTarget) =>
      Reflect.construct(target, parameters.length > 0 ? parameters : [now()], newTarget),
  });
}
