// Outcomes are the same after their way between threads.
import { expect } from 'chai';
import type { ChargeOp, HoldOp, Operation, Outcome } from '../../../lib/money/decide.ts';
import { createCharge, emptyWallet } from '../../../lib/money/decide.ts';
import { newPayment } from '../../../lib/money/payment-rules.ts';
import { decodeOutcome, encodeOutcome } from '../../../lib/store/sqlite/outcomes.ts';
import { charge, giveBack, reserve, settle, topup } from '../../contract/store/context.ts';

const wallet = { ...emptyWallet('w1'), avail: 2n ** 62n, held: 3n, charged: 4n, topped: 5n, adjusted: -6n, seq: 7 };
const hold = reserve('w1', { chargeId: 'c1' }) as HoldOp;
const budgeted: HoldOp = { ...hold, budget: { key: 'k0', period: 7, limit: 9n } };
const excessive: HoldOp = { ...hold, excess: 8n };
const paid = charge('w1', { chargeId: 'c1' }) as ChargeOp;
const held = createCharge(hold, null);
const settled = { ...held, state: 'settled', charged: 8n, usage: '{}', owner: null, lease: null, endedAt: 9 } as const;
const job = {
  id: 'job',
  wallet: 'w1',
  charge: 'c1',
  model: 'm',
  upstream: 'u',
  phase: 'queued',
  shown: 'queued',
  progress: 0,
  ref: null,
  facts: '{}',
  result: null,
  error: null,
  owner: 'o',
  lease: 5,
  dueAt: 1,
  deadline: 9,
  createdAt: 1,
  endedAt: null,
  version: 1,
} as unknown as NonNullable<Outcome['job']>;
const payment = newPayment({
  id: 'pay_1',
  wallet: 'w1',
  provider: 'till',
  amount: 5n,
  shop: '',
  test: false,
  origin: 'page',
  facts: '{}',
  state: '',
  createdAt: 1,
  dueAt: 1,
  owner: null,
  lease: null,
} as unknown as Parameters<typeof newPayment>[0]);

const cases: readonly (readonly [string, Operation, Outcome])[] = [
  ['no wallet', hold, { status: 'no_wallet' }],
  ['a refusal', hold, { status: 'insufficient', wallet }],
  ['a refusal for what running calls may cost', hold, { status: 'insufficient', wallet, exposed: 7n }],
  ['the same of a charge', paid, { status: 'insufficient', wallet, exposed: 7n }],
  ['a moved-in balance', topup('w1', 1n), { status: 'done', wallet: { ...wallet, opened: true } }],
  ['play money', topup('w1', 1n), { status: 'done', wallet: { ...wallet, playMoney: true } }],
  ['money without a charge', topup('w1', 1n), { status: 'done', wallet }],
  ['a payment', topup('w1', 1n), { status: 'done', wallet, payment }],
  ['a hold', hold, { status: 'done', wallet, charge: held }],
  ['a hold that may cost more', excessive, { status: 'done', wallet, charge: createCharge(excessive, null) }],
  ['the end of one', giveBack('expire', 'w1', 'c1'), { status: 'exists', wallet, charge: { ...held, excess: 8n } }],
  ['a hold made before', hold, { status: 'exists', wallet, charge: settled }],
  ['a hold that counts in a budget', budgeted, { status: 'done', wallet, charge: createCharge(budgeted, 8) }],
  ['a charge with its job', paid, { status: 'done', wallet, charge: createCharge(paid, null), job }],
  ['a settlement', settle('w1', 'c1'), { status: 'done', wallet, charge: settled }],
  ['a return of nothing', giveBack('release', 'w1', 'c1'), { status: 'no_charge', wallet }],
];

describe('sqlite outcomes', () => {
  for (const [name, op, outcome] of cases) {
    it(`survive encoding: ${name}`, () => {
      expect(decodeOutcome(structuredClone(encodeOutcome(outcome, op)), op)).to.deep.equal(outcome);
    });
  }
});
