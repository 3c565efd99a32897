// Operations and outcomes are the same on the other side of a thread.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { expect } from 'chai';
import type { Charge, ChargeOp, Operation, Outcome, ReserveOp, Wallet } from '../../../lib/money/decide.ts';
import { emptyWallet, startOf } from '../../../lib/money/decide.ts';
import { decideJob } from '../../../lib/money/job-rules.ts';
import { newPayment, type Payment } from '../../../lib/money/payment.ts';
import { decodeOperations, decodeOutcomes, encodeOperations, encodeOutcomes } from '../../../lib/store/sqlite/wire.ts';
import { adjust, charge, giveBack, reserve, settle, topup } from '../../contract/store/context.ts';

function sent<T>(value: T): T {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value);
  const received = receiveMessageOnPort(port2)?.message as T;
  port1.close();
  return received;
}

const CHANGE = { id: 'pay_2', version: 3, at: 1 };
const CREDIT = { ...CHANGE, kind: 'credit', reason: null, dueAt: 9 } as const;
const BACK = { wallet: 'w1', at: 1, amount: 5n, paybackId: 'till:4', order: 'pay_2' };
const REPEAT = { id: 'rep', body: 'hash', awaited: true, expiresAt: 99 };
const JOB = {
  ...{ id: 'job', wallet: 'w2', charge: 'c6', model: 'm', upstream: 'u', facts: '{}', deadline: 9, createdAt: 1 },
  ...{ owner: 'o', lease: 5 },
};
const FAIL = { kind: 'fail', id: 'job', version: 1, at: 1, error: 'it failed' } as const;

describe('sqlite wire', () => {
  const everyKind: Operation[] = [
    topup('w1', 12n, { paymentId: 'p' }),
    adjust('w1', -12n, { adjustId: 'a', reason: '' }),
    reserve('w2', { chargeId: 'c1', amount: 2n ** 62n }),
    { ...(reserve('w2', { chargeId: 'c4' }) as ReserveOp), owed: 7n },
    { ...(reserve('w2', { chargeId: 'c8' }) as ReserveOp), excess: 8n },
    charge('w2', { chargeId: 'c2' }),
    settle('w2', 'c1', { amount: 0n }),
    { kind: 'settle', wallet: 'w2', at: 1, chargeId: 'c3', amount: 5n, usage: null },
    { kind: 'settle', wallet: 'w2', at: 1, chargeId: 'c7', amount: 5n, usage: '{}', repeatId: 'rep' },
    giveBack('release', 'w1', 'c3'),
    giveBack('expire', 'w1', 'c4'),
    giveBack('refund', 'w1', 'c5'),
    { kind: 'pay', wallet: 'w1', at: 1, amount: 5n, paymentId: 'till:1', order: 'pay_1' },
    { kind: 'pay', wallet: 'w1', at: 1, amount: 5n, paymentId: 'till:2', order: 'pay_2', payment: CREDIT },
    { kind: 'payback', wallet: 'w1', at: 1, amount: 5n, paybackId: 'till:3', order: 'pay_2', suspend: true },
    { kind: 'payback', ...BACK, suspend: false, payment: { ...CHANGE, kind: 'refund', ref: 'r', refund: null } },
    { kind: 'payback', ...BACK, suspend: false, payment: { ...CHANGE, kind: 'ask_refund', refund: 'r', reason: '' } },
    { kind: 'payback', ...BACK, returned: 3n, suspend: false },
    { ...topup('w1', 12n, { paymentId: 'q' }), isPlay: true } as Operation,
    { ...adjust('w1', 0n, { adjustId: 'b', reason: 'r' }), settlesPlay: true } as Operation,
    { kind: 'pay', wallet: 'w1', at: 1, amount: 5n, paymentId: 'till:9', order: 'pay_9', isPlay: true },
    { ...(reserve('w2') as ReserveOp), real: true },
    { ...(charge('w2') as ChargeOp), real: true },
    { kind: 'dispute', ...BACK, suspend: true, payment: { ...CHANGE, kind: 'reverse' } },
    { kind: 'dispute', ...BACK, returned: 3n, suspend: false, suspended: true, mark: 'abc' },
    { kind: 'suspend', wallet: 'w1', at: 1, changeId: 'w1:4', mark: null },
    { kind: 'resume', wallet: 'w1', at: 1, changeId: 'w1:5' },
    { ...(reserve('w2') as ReserveOp), budget: { period: 0, most: 5n }, repeat: REPEAT },
    { ...(reserve('w2') as ReserveOp), budget: { key: 'k0', period: 7, most: null } },
    {
      ...(charge('w2') as ChargeOp),
      budget: { key: 'k0', period: 7, most: 9n },
      repeat: { ...REPEAT, awaited: false },
    },
    { ...(charge('w2') as ChargeOp), job: { kind: 'create', job: JOB } },
    { kind: 'refund', wallet: 'w2', at: 1, chargeId: 'c6', job: FAIL },
  ];

  it('carries every kind of operation', () => {
    expect(decodeOperations(sent(encodeOperations(everyKind)))).to.deep.equal(everyKind);
    for (const op of everyKind) expect(decodeOperations(sent(encodeOperations([op])))).to.deep.equal([op]);
    expect(decodeOperations([])).to.deep.equal([]);
  });

  it('carries outcomes with and without a wallet and a charge', () => {
    const wallet: Wallet = {
      id: 'w',
      avail: -5n,
      held: 0n,
      charged: 2n ** 60n,
      topped: 1n,
      adjusted: -1n,
      seq: 7,
      status: 'suspended',
    };
    const held: Charge = {
      id: 'c',
      wallet: 'w',
      key: 'k',
      kind: 'edit',
      state: 'held',
      reserved: 5n,
      charged: 0n,
      model: 'm',
      prices: '{}',
      usage: '{"tokens_output":0}',
      owner: 'o',
      lease: 9,
      createdAt: 1,
      endedAt: null,
      period: 0,
      budgetKey: 'k0',
    };
    const begun = reserve('w', { chargeId: 'c2' }) as ReserveOp;
    const paid = charge('w', { chargeId: 'c3' }) as ChargeOp;
    const budget = { period: 7, most: 2n ** 50n };
    const limited = { ...begun, budget };
    const sharing = { ...begun, budget: { ...budget, key: 'k0' } };
    const answered: [Operation, Outcome][] = [
      [settle('x', 'c', {}), { status: 'no_wallet' }],
      [begun, { status: 'insufficient', wallet }],
      [begun, { status: 'insufficient', wallet, exposed: 7n }],
      [paid, { status: 'insufficient', wallet, exposed: 7n }],
      [giveBack('expire', 'w', 'c'), { status: 'exists', wallet, charge: { ...held, excess: 8n } }],
      [begun, { status: 'done', wallet, charge: startOf(begun, null) }],
      [limited, { status: 'done', wallet, charge: startOf(limited, 9) }],
      [limited, { status: 'key_budget', wallet }],
      [sharing, { status: 'done', wallet, charge: startOf(sharing, 9) }],
      [paid, { status: 'done', wallet, charge: startOf(paid, null) }],
      [
        { ...paid, budget },
        { status: 'done', wallet, charge: startOf(paid, 7) },
      ],
      [giveBack('release', 'w', 'c'), { status: 'exists', wallet, charge: held }],
      [settle('w', 'c', {}), { status: 'done', wallet, charge: { ...held, state: 'settled', charged: 3n } }],
      [topup('w', 12n, {}), { status: 'done', wallet }],
      [topup('w', 13n, {}), { status: 'done', wallet: { ...wallet, playMoney: true } }],
    ];
    const operations = answered.map(([op]) => op);
    const outcomes = answered.map(([, outcome]) => outcome);
    expect(decodeOutcomes(sent(encodeOutcomes(outcomes, operations)), operations)).to.deep.equal(outcomes);
  });

  it('carries the job and the payment of an outcome', () => {
    const wallet: Wallet = { ...emptyWallet('w'), topped: 5n, avail: 5n, seq: 1 };
    const started = newPayment({
      ...{ id: 'pay_2', wallet: 'w', provider: 'till', amount: 2n ** 60n, shop: 's', test: true, origin: 'auto' },
      ...{ facts: '{}', createdAt: 1, owner: 'o', lease: 9 },
    });
    const payment: Payment = { ...started, phase: 'credited', ref: 'r', credited: 5n, owner: null, lease: null };
    const { job } = decideJob(undefined, { kind: 'create', job: JOB });
    const pay = { kind: 'pay', ...BACK, wallet: 'w', paymentId: 'till:2', payment: CREDIT } as const;
    const paid = { ...(charge('w') as ChargeOp), job: { kind: 'create', job: JOB } } as const;
    const refund = { kind: 'refund', wallet: 'w', at: 1, chargeId: paid.chargeId, job: FAIL } as const;
    const made = startOf(paid, null);
    const answered: [Operation, Outcome][] = [
      [pay, { status: 'done', wallet, payment }],
      [pay, { status: 'stale_payment', wallet, payment: started }],
      [pay, { status: 'exists', wallet }],
      [pay, { status: 'no_wallet' }],
      [paid, { status: 'done', wallet, charge: made, ...(job && { job }) }],
      [paid, { status: 'insufficient', wallet }],
      [refund, { status: 'stale_job', wallet, charge: made, ...(job && { job: { ...job, version: 2 } }) }],
      [refund, { status: 'no_charge', wallet }],
    ];
    const operations = answered.map(([op]) => op);
    const outcomes = answered.map(([, outcome]) => outcome);
    expect(decodeOutcomes(sent(encodeOutcomes(outcomes, operations)), operations)).to.deep.equal(outcomes);
  });
});
