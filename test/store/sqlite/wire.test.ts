// Operations and outcomes are the same on the other side of a thread.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { expect } from 'chai';
import type { Charge, ChargeOp, Operation, Outcome, ReserveOp, Wallet } from '../../../lib/money/decide.ts';
import { startOf } from '../../../lib/money/decide.ts';
import { decodeOperations, decodeOutcomes, encodeOperations, encodeOutcomes } from '../../../lib/store/sqlite/wire.ts';
import { adjust, charge, giveBack, reserve, settle, topup } from '../../contract/store/context.ts';

function sent<T>(value: T): T {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(value);
  const received = receiveMessageOnPort(port2)?.message as T;
  port1.close();
  return received;
}

describe('sqlite wire', () => {
  const everyKind: Operation[] = [
    topup('w1', 12n, { paymentId: 'p' }),
    adjust('w1', -12n, { adjustId: 'a', reason: '' }),
    reserve('w2', { chargeId: 'c1', amount: 2n ** 62n }),
    { ...(reserve('w2', { chargeId: 'c4' }) as ReserveOp), owed: 7n },
    charge('w2', { chargeId: 'c2' }),
    settle('w2', 'c1', { amount: 0n }),
    { kind: 'settle', wallet: 'w2', at: 1, chargeId: 'c3', amount: 5n, usage: null },
    giveBack('release', 'w1', 'c3'),
    giveBack('expire', 'w1', 'c4'),
    giveBack('refund', 'w1', 'c5'),
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
    ];
    const operations = answered.map(([op]) => op);
    const outcomes = answered.map(([, outcome]) => outcome);
    expect(decodeOutcomes(sent(encodeOutcomes(outcomes, operations)), operations)).to.deep.equal(outcomes);
  });
});
