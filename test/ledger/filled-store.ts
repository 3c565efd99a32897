// A store with a representative history.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redeemPromo } from '../../lib/accounts/promos.ts';
import { DAY_MS, HOUR_MS } from '../../lib/base/durations.ts';
import { archiveLedger } from '../../lib/ledger/archive.ts';
import { createServiceHolds } from '../../lib/ledger/service-holds.ts';
import { foldUsage } from '../../lib/ledger/usage-fold.ts';
import { type NewAttempt, toAttemptRows } from '../../lib/money/attempt.ts';
import { getKeyCallsId } from '../../lib/money/budget.ts';
import { computeCost, convertToRub, serializeCost } from '../../lib/money/cost.ts';
import type { Operation } from '../../lib/money/decide.ts';
import { NO_LIMITS } from '../../lib/money/key-limits.ts';
import { refundRefusalOp, refundRequestOp } from '../../lib/money/payback.ts';
import type { Payment } from '../../lib/money/payment-rules.ts';
import { type EmbeddingPrice, embeddingCost, type TextPrice, textCost } from '../../lib/money/price.ts';
import type { Store } from '../../lib/store/store.ts';
import {
  AT,
  adjust,
  applied,
  endGrant,
  giveBack,
  grant,
  movingIn,
  newAttempt,
  newId,
  RUB,
  topup,
} from '../contract/store/context.ts';
import { newManagementKey } from '../contract/store/management.ts';
import { changed, creditOf, newOrder, newSucceeded, refundOf, reverseOf } from '../contract/store/payments.ts';
import { newPromo } from '../contract/store/promos.ts';

const PAPER = { state: 'open', at: 1, content: '{}' };
const PRICE: TextPrice = { input: 40_000_000n, output: 240_000_000n };
const PRICES = JSON.stringify({ input: `${PRICE.input}`, output: `${PRICE.output}` });
const TOKENS = { input: 25_000, output: 50_000 };
const COST = textCost(PRICE, TOKENS);

/** Wallets, keys and calls of every kind and outcome. */
export async function fillStore(store: Store): Promise<void> {
  for (const id of ['acc_a', 'acc_b', 'acc_c', 'acc_d']) await store.accounts.create({ id, name: 'n', createdAt: AT });
  for (const [id, account] of [
    ['key_a', 'acc_a'],
    ['key_idle', 'acc_a'],
    ['key_b', 'acc_b'],
    ['key_old', 'acc_b'],
    ['key_a_limited', 'acc_a'],
    ['key_b_limited', 'acc_b'],
  ] as const) {
    const limits = { ...NO_LIMITS, ...(id === 'key_idle' && { endUsers: { cap: RUB, reset: 'day' } as const }) };
    await store.keys.add({ id, account, name: 'n', hash: newId('hash'), last4: 'abcd', createdAt: AT, limits }, 10);
  }
  for (const key of ['key_a', 'key_b']) {
    const next = { id: `${key}_next`, hash: newId('hash'), last4: 'abcd', createdAt: AT, endsAt: AT + 50 };
    await store.keys.replace(`${key}_limited`, next, 10);
  }
  await store.keys.revoke('key_old', AT + 1);
  await applied(store, topup('acc_a', 10_000n * RUB, { paymentId: 'pay_a' }));
  await applied(store, topup('acc_b', 1000n * RUB, { paymentId: 'pay_b' }));
  await applied(store, adjust('acc_a', -5n * RUB, { adjustId: 'adj_a' }));
  await makePlayMoney(store);
  await makeGrants(store, 'acc_a', AT);
  await makePayments(store, 'acc_a');
  await makeCalls(store, 'acc_a', 'key_a');
  await makeCalls(store, 'acc_b', 'key_b');
  await makeEmbeddings(store, 'acc_a', 'key_a');
  await makeEmbeddings(store, 'acc_b', 'key_b');
  const uses = ['key_a', 'key_b'].map((id) => ({ id, count: 7, lastUsedAt: AT + 50 }));
  await store.keys.use(uses, { writer: 'own_a', number: 1 });
  await store.accounts.setStatus('acc_b', 'suspended');
  await store.accounts.setRequestLimits('acc_a', { perMinute: 60, addresses: ['10.0.0.1'] });
  await store.accounts.setPriceList('acc_a', 'partner');
  await store.accounts.setAllowance('acc_a', { amount: RUB, reason: 'a trial' });
  await store.users.join({ user: 'usr_a', account: 'acc_a', role: 'owner' });
  const cap = { limit: 5n * RUB, reset: 'day', zone: 'UTC' } as const;
  await store.users.join({ user: 'usr_b', account: 'acc_a', role: 'member', cap });
  await store.settings.set('sandbox', 'off');
  await store.settings.set('attempts.since', new Date(AT).toISOString());
  await store.promos.add(newPromo({ code: 'SPRING' }));
  await store.papers.issue({ ...PAPER, kind: 'invoice', id: 'inv_a', account: 'acc_a' });
  await store.catalogVersions.add({ seq: 1, at: AT, user: '-', note: 'model off', text: '{}' });
  await redeemPromo(store, { code: 'SPRING', account: 'acc_a', at: AT + 40 });
  await store.rates.record([{ currency: 'USD', rub: 80n * RUB, from: '2026-11-01', at: AT }]);
  await store.management.addKey(newManagementKey({ account: 'acc_a', addresses: ['10.0.0.1'] }));
  const claim = { id: 'reply_a', body: 'b', lease: AT, expiresAt: Date.now() + HOUR_MS };
  await store.management.claimReply(claim, AT);
  await store.management.storeReply(claim, '{}');
  await makeServiceHolds(store, 'acc_a', 'key_a');
  await makeTopups(store, 'acc_a');
  await makeArchive(store, 'acc_d');
  for (const id of ['acc_a', 'acc_b', 'acc_d']) await foldUsage(store, id);
  await store.limits.merge([{ bucket: 'b', endsAt: Date.now() + HOUR_MS, count: 1 }], Date.now());
  await store.owners.renew({ id: 'own_a', leaseMs: HOUR_MS, alone: false });
}

/** Holds of a service of the operator: one is held, one is settled, one has gone back. */
async function makeServiceHolds(store: Store, account: string, key: string): Promise<void> {
  const holds = createServiceHolds({ store, isReal: false, now: () => AT + 20 });
  const request = { wallet: account, key, reason: 'gpu', amount: 2n * RUB, leaseMs: 1e10 };
  await holds.hold({ ...request, id: 'hold_open' });
  for (const id of ['hold_settled', 'hold_released']) await holds.hold({ ...request, id });
  await holds.settle('hold_settled', RUB, { seconds: 3 });
  await holds.release('hold_released');
}

/** Grants that calls have spent in part, one that is over, and one that a later call still spends. */
async function makeGrants(store: Store, wallet: string, at: number): Promise<void> {
  const id = (name: string) => `grant_${name}_${wallet}`;
  const first = grant(wallet, RUB, { at, grantId: id('first'), until: at + 90, opens: true });
  const over = grant(wallet, 3n * RUB, { at, grantId: id('over'), until: at + 5 });
  const late = grant(wallet, 30n * RUB, { at, grantId: id('late') });
  await applied(store, first, over, { ...endGrant(wallet, id('over')), at }, late);
}

/** Play money: one wallet has settled it, another still holds it; and a balance from another system. */
async function makePlayMoney(store: Store): Promise<void> {
  const play = (wallet: string) =>
    ({ ...topup(wallet, 7n * RUB, { paymentId: `play_${wallet}` }), isPlay: true }) as const;
  const settling = { ...adjust('acc_a', -7n * RUB, { adjustId: 'adj_play' }), settlesPlay: true } as const;
  await applied(store, movingIn(adjust('acc_b', -3n * RUB, { adjustId: 'moved_b' })));
  await applied(store, play('acc_a') as Operation, play('acc_b') as Operation, settling as Operation);
}

/** A saved card, the consent of its owner, and an automatic top-up in flight. */
async function makeTopups(store: Store, wallet: string): Promise<void> {
  const now = Date.now();
  const card = { kind: 'card', brand: 'mir', last4: '1234', expiry: '2030-01', fingerprint: 'f' };
  await store.payments.saveMethod({
    id: 'pm_1',
    wallet,
    provider: 'till',
    ref: 'card_1',
    ...card,
    createdAt: now,
    removedAt: null,
  });
  const consent = { id: 'con_1', wallet, user: 'usr_1', kind: 'auto_topup', textVersion: '1', text: 'yes', at: now };
  await store.payments.addConsent({ ...consent, address: '::1' });
  const day = new Date(now).toISOString().slice(0, 10);
  await store.payments.create(
    newOrder(wallet, { id: 'pay_auto', origin: 'auto', createdAt: now, amount: 500n * RUB }),
    {
      id: wallet,
      enabled: true,
      threshold: 100n * RUB,
      amount: 500n * RUB,
      cap: 5000n * RUB,
      method: 'pm_1',
      consent: 'con_1',
      order: 'pay_auto',
      nextAt: 0,
      declines: 0,
      pausedAt: null,
      reason: null,
      day,
      dayCount: 1,
      month: day.slice(0, 7),
      monthSum: 500n * RUB,
      version: 0,
    },
  );
}

/** A wallet whose old calls are archived. */
async function makeArchive(store: Store, wallet: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-damage-'));
  const before = Date.now() - 40 * DAY_MS;
  const at = before - DAY_MS;
  await applied(store, { kind: 'topup', wallet, at, amount: 1000n * RUB, paymentId: 'pay_d' });
  await makeGrants(store, wallet, at);
  for (const chargeId of ['old_1', 'old_2', 'old_3']) {
    const usage = '{"tokens_input":10,"tokens_output":20}';
    const call = { wallet, chargeId, at, amount: RUB / 2n } as const;
    const terms = { key: 'key_d', chargeKind: 'text', model: 'model-1', prices: PRICES, owner: 'own_a' } as const;
    await applied(store, { kind: 'reserve', ...call, ...terms, lease: at }, { kind: 'settle', ...call, usage });
  }
  try {
    await archiveLedger(store, { before, file: join(folder, 'calls.gz') });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Payments with every kind of money. */
async function makePayments(store: Store, wallet: string): Promise<void> {
  const credited = async (name: string): Promise<Payment> => {
    const made = await newSucceeded(store, wallet, { id: `pay_${name}` });
    const [outcome] = await applied(store, creditOf(made));
    return outcome?.payment as Payment;
  };
  await store.payments.create(newOrder(wallet, { id: 'pay_begun' }));
  await credited('credited');
  const [partly] = await applied(store, refundOf(await credited('partly'), 'ref_1', 300n * RUB));
  await changed(store, partly?.payment as Payment, {
    kind: 'dispute',
    dispute: 'cb_1',
    amount: 700n * RUB,
  });
  await applied(store, refundOf(await credited('refunded'), 'ref_2', 1000n * RUB));
  const dispute = { kind: 'dispute', dispute: 'cb_2', amount: 1000n * RUB };
  await applied(store, reverseOf(await changed(store, await credited('reversed'), dispute), 'cb_2', 1000n * RUB));
  const wish = { reason: 'wish', at: AT };
  for (const name of ['asked', 'refused']) {
    const [asked] = await applied(
      store,
      refundRequestOp(await credited(name), { ...wish, refund: `rfd_${name}` }, 200n * RUB),
    );
    if (name === 'asked') continue;
    await applied(store, refundRefusalOp(asked?.payment as Payment, { ...wish, refund: `rfd_${name}`, reason: 'no' }));
  }
}

/** Calls with audio and cached tokens, in a band: one that stays settled, a refunded one, one settled after its hold expired. */
const CACHED: ReadonlySet<string> = new Set(['twin', 'refunded', 'late']);
const CACHED_PRICES = JSON.stringify({
  ...{ input: '4000000', cacheRead: '400000', cacheWrite: '5000000', cacheWrite1h: '8000000', output: '24000000' },
  bands: [
    {
      above: 1000,
      input: '8000000',
      audio: '16000000',
      cacheRead: '800000',
      cacheWrite: '9000000',
      output: '48000000',
    },
  ],
});
const CACHED_USAGE = JSON.stringify({
  ...{ tokens_input: 10_000, tokens_cache_read: 20_000, tokens_cache_write: 30_000, tokens_cache_write_1h: 40_000 },
  ...{ tokens_audio: 7000, tokens_output: 50_000, tokens_reasoning: 600 },
});
/** 80,000 + 112,000 + 16,000 + 270,000 + 320,000 + 2,400,000. */
const CACHED_COST = 3_198_000n;

/** Attempts at upstreams: one that cost nothing, others at a vendor's price, and one whose cost nobody knows. */
const VENDOR_PRICE: TextPrice = { input: 1_000_000n, cacheRead: 100_000n, output: 2_000_000n };
const RATE = 81_400_000n;
const ENDS = { requestId: null, firstMs: null, totalMs: 5 };
const REFUSED = newAttempt({ ...ENDS, ending: 'refused', certainty: 'none', usage: null, cost: null });
const UNPRICED = newAttempt({ ...ENDS, upstream: 'own', usage: '{"tokens_input":100000}', cost: null });
const VIDEO_ATTEMPT = newAttempt({
  ...ENDS,
  usage: '{"seconds":1,"resolution":"720p"}',
  cost: {
    currency: 'RUB',
    prices: '{"unit":"second","second":"5000000"}',
    rate: RUB,
    cost: 5_000_000n,
    costRub: 5_000_000n,
  },
});

function priceAttempt(usage: string): NewAttempt {
  const cost = computeCost({ prices: VENDOR_PRICE }, JSON.parse(usage)) as bigint;
  const prices = serializeCost(VENDOR_PRICE);
  return newAttempt({
    usage,
    cost: { currency: 'USD', prices, rate: RATE, cost, costRub: convertToRub(cost, RATE) },
  });
}

async function makeCalls(store: Store, wallet: string, key: string): Promise<void> {
  const start = (name: string) => ({ wallet, chargeId: `${name}_${wallet}`, key, model: 'model-1' });
  const hold = (name: string, amount = 20n * RUB, at = AT + 10) => {
    const prices = CACHED.has(name) ? CACHED_PRICES : PRICES;
    const call = { chargeKind: 'text', prices, owner: 'own_a', lease: AT + 100 } as const;
    return { kind: 'reserve', ...start(name), ...call, amount, at } as const;
  };
  const settled = (name: string, at = AT + 20) => {
    const plain = { amount: COST, usage: JSON.stringify({ tokens_input: TOKENS.input, tokens_output: TOKENS.output }) };
    const used = CACHED.has(name) ? { amount: CACHED_COST, usage: CACHED_USAGE } : plain;
    const attempts = [REFUSED, priceAttempt(used.usage)];
    return { kind: 'settle', wallet, chargeId: `${name}_${wallet}`, ...used, at, attempts } as const;
  };
  const back = (kind: 'release' | 'expire' | 'refund', name: string, at: number) =>
    giveBack(kind, wallet, `${name}_${wallet}`, { at });
  const call = {
    chargeKind: 'video',
    prices: '{"second":{"720p":"8000000"}}',
    amount: 8n * RUB,
    usage: '{"seconds":1,"resolution":"720p"}',
  } as const;
  await applied(store, hold('held'), hold('settled'), hold('twin'), hold('refunded'), hold('released'), hold('late'));
  await applied(store, settled('settled'), settled('twin'), settled('refunded'), back('refund', 'refunded', AT + 30));
  await applied(store, back('release', 'released', AT + 31), hold('expired'), back('expire', 'expired', AT + 32));
  await applied(store, back('expire', 'late', AT + 33), settled('late', AT + 34));
  await applied(store, hold('over', 1n * RUB, AT + 35), settled('over', AT + 36));
  const caps = [
    { id: `user:${key}:someone`, period: 1000, limit: 100n * RUB },
    { id: getKeyCallsId(key), period: 0, limit: 2n },
  ];
  await applied(store, { ...hold('open'), excess: 5n * RUB, caps });
  const repeat = { id: `rep_${wallet}`, body: 'b', awaited: false, expiresAt: AT + 1000 };
  await applied(store, { ...hold('slow'), idempotency: repeat }, back('expire', 'slow', AT + 36), {
    ...hold('again'),
    idempotency: repeat,
  });
  await applied(store, { ...settled('slow', AT + 37), idempotencyId: repeat.id });
  await applied(store, { kind: 'charge', ...start('video'), ...call, at: AT + 37 });
  const budget = { period: 1000, limit: 100n * RUB };
  const limited = { ...start('limited'), key: `${key}_limited`, ...call, budget } as const;
  await applied(store, { kind: 'charge', ...limited, at: AT + 38 });
  const shared = {
    ...limited,
    ...start('shared'),
    key: `${key}_next`,
    budget: { ...budget, key: limited.key },
  } as const;
  await applied(store, { kind: 'charge', ...shared, at: AT + 38 });
  await applied(store, { kind: 'charge', ...start('sorry'), ...call, at: AT + 38 }, back('refund', 'sorry', AT + 39));
  const job = (name: string) => {
    const of = { id: `job_${name}_${wallet}`, wallet, charge: `${name}_${wallet}`, model: 'model-1', upstream: 'up-1' };
    const rest = { facts: '{}', owner: 'own_a', lease: AT + 100, createdAt: AT + 40, deadline: AT + 7_200_000 };
    return { kind: 'create', job: { ...of, ...rest } } as const;
  };
  const paid = (name: string) =>
    ({ kind: 'charge', ...start(name), ...call, at: AT + 40, job: job(name) }) as const satisfies Operation;
  await applied(store, paid('started'), paid('made'), paid('failed'));
  const made = { id: `job_made_${wallet}`, at: AT + 41 };
  await store.jobs.change({ kind: 'begin', ...made, version: 1, ref: '{"id":1}', dueAt: AT + 42 });
  await store.attempts.put(toAttemptRows({ charge: `made_${wallet}`, wallet }, [VIDEO_ATTEMPT]));
  await store.jobs.change({ kind: 'complete', ...made, version: 2, result: 'res_1' });
  const fail = { kind: 'fail', id: `job_failed_${wallet}`, version: 1, at: AT + 43, error: 'it failed' } as const;
  const end = { chargeId: `failed_${wallet}`, at: AT + 43, job: fail, attempts: [REFUSED] };
  await applied(store, { kind: 'refund', wallet, ...end });
}

const EMBEDDING_PRICE: EmbeddingPrice = { input: 40_000_000n };
/** Above the minimum of a call, so that every token shows in the amount. */
const EMBEDDED = 100_000;

/** Calls for embeddings: one that stays settled, and a refunded one. */
async function makeEmbeddings(store: Store, wallet: string, key: string): Promise<void> {
  const amount = embeddingCost(EMBEDDING_PRICE, EMBEDDED);
  for (const name of ['vectors', 'vectors_refunded']) {
    const call = { wallet, chargeId: `${name}_${wallet}` } as const;
    const terms = { chargeKind: 'embedding', prices: JSON.stringify({ input: `${EMBEDDING_PRICE.input}` }) } as const;
    const hold = { ...call, ...terms, key, model: 'model-2', owner: 'own_a', lease: AT + 100, amount: 2n * amount };
    const usage = JSON.stringify({ tokens_input: EMBEDDED });
    await applied(
      store,
      { kind: 'reserve', ...hold, at: AT + 44 },
      { kind: 'settle', ...call, amount, usage, at: AT + 45, attempts: [UNPRICED] },
    );
  }
  await applied(store, giveBack('refund', wallet, `vectors_refunded_${wallet}`, { at: AT + 46 }));
}
