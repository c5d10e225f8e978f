/** A promise that is settled from outside. Node.js 22 has it as `Promise.withResolvers`. */
export function deferred<Value = void>() {
  let resolve: (value: Value) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<Value>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

/**
 * A promise that only rejects. Nobody has to wait for it, because a run may have failed for another
 * reason already.
 */
export function failure() {
  const pendingFailure = deferred<never>();
  pendingFailure.promise.catch(() => {});
  return pendingFailure;
}
