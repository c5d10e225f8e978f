import { openTarget, countOutcomes } from "/root/wt/T/test/suites/open-target.js";
import { resolveTarget } from "/root/wt/T/src/targets/resolve.js";
const [port, ...texts] = process.argv.slice(2);
const metrics = async () => (await (await fetch("http://127.0.0.1:18080/metrics")).text()).split("\n").filter(l=>/^throttlecrab_requests_(all|den)/.test(l)).join(" ");
for (const text of texts) {
  const r = resolveTarget(text);
  if ("skip" in r) { console.log(text, "SKIP", r.skip); continue; }
  const target = r.target;
  try {
  const o = await openTarget(target, {store: target.store, topology: target.topology, nodes:[{host:"127.0.0.1",port:Number(port), ports:{http:18080,grpc:18070}}]}, {points:100, window_s:600, block_s:0});
  const before = target.store==="throttlecrab" ? await metrics(): "";
  const k = "k"+text+Date.now();
  const c = countOutcomes(await Promise.all(Array.from({length:1000},()=>o.standard.consume(k))));
  const ex = await o.exhausted.consume("exhausted-"+k);
  const one = await o.standard.consume(k);
  const cost = await o.standard.consume(k+"c", 60), cost2 = await o.standard.consume(k+"c", 60);
  console.log(text, JSON.stringify(target), o.script, JSON.stringify(c), JSON.stringify(ex), JSON.stringify(one), cost.outcome, cost2.outcome, o.client.version, before, target.store==="throttlecrab" ? await metrics(): "");
  await o.client.close();
  } catch (e) { console.log(text, "FAILED", e); }
}
