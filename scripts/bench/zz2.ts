// temp
import { randomBytes } from 'node:crypto';
import { openStore } from '../../lib/store/open.ts';
import { connect } from '../../lib/store/mongodb/connection.ts';
import { createSessions } from '../../lib/store/mongodb/sessions.ts';
import { createTransactions } from '../../lib/store/mongodb/transaction.ts';
import { createApply } from '../../lib/store/mongodb/batch.ts';
const url = process.argv[2]!;
const store = await openStore(url);
const conn = await connect(url);
const sessions = createSessions(conn);
const tx = createTransactions(conn.db, sessions);
const times: Record<string, number[]> = {};
let commitAt = 0;
const apply = createApply({ run: (work: any) => { const t0 = performance.now(); return tx.run({ ...work, onCommit() { work.onCommit?.(); commitAt = performance.now(); }, steps: async (step: any) => { (times.begin ??= []).push(performance.now()-t0); const r = await work.steps(async (c: any) => { const a = performance.now(); const x = await step(c); (times[Object.keys(c)[0] + ':' + Object.values(c)[0]] ??= []).push(performance.now() - a); return x; }); return r; } }).then((r: any) => { (times.commit ??= []).push(performance.now() - commitAt); (times.total ??= []).push(performance.now() - t0); return r; }); } } as any);
const id = `acc_${randomBytes(8).toString('hex')}`;
await store.accounts.create({ id, name: 'x', createdAt: 1 });
await store.ledger.apply([{ op: { kind: 'topup', wallet: id, at: 1, amount: 10n ** 15n, paymentId: id }, tried: false, abandoned: false }]);
let prev: string[] = [];
for (let i = 0; i < 100; i++) {
  const fresh = Array.from({ length: 128 }, () => `req_${randomBytes(12).toString('hex')}`);
  const at = Date.now();
  const ops = [
    ...prev.map((chargeId) => ({ kind: 'settle', wallet: id, at, chargeId, amount: 1234567n, tokensInput: 1, tokensOutput: 2 })),
    ...fresh.map((chargeId) => ({ kind: 'reserve', wallet: id, at, chargeId, key: 'key_0123456789abcdef01234567', chargeKind: 'text', model: 'bench', prices: '{"input":"40000000","output":"240000000"}', amount: 5000000n, owner: 'own_0123456789abcdef01234567', lease: at + 15000 })),
  ];
  await apply(ops.map((op) => ({ op: op as any, tried: false, abandoned: false })));
  prev = fresh;
}
for (const [k, v] of Object.entries(times)) { v.sort((a, b) => a - b); console.log(k.padEnd(20), 'p50', v[v.length >> 1]!.toFixed(2), 'p90', v[Math.floor(v.length * 0.9)]!.toFixed(2)); }
await sessions.close(); await conn.client.close(); await conn.scanner.close(); await store.close();
