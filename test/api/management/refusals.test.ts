// What errors of actions become for clients of the management API, and which of them free an idempotency key.
import { expect } from 'chai';
import { hasChangedNothing, toManagementFault } from '../../../lib/api/management/refusals.ts';
import { fault } from '../../../lib/base/faults.ts';
import { InvalidInputError, OperatorError, UnknownError } from '../../../lib/base/operator-error.ts';
import { StoreError } from '../../../lib/store/store.ts';

const read = (error: unknown, changes = true) => {
  const { data, message } = toManagementFault(error, { changes });
  return [data?.code, message];
};

describe('refusals of the management API', () => {
  it('say what a command says, with fields in place of options', () => {
    expect(read(new UnknownError('There is no key "k".'))).to.deep.equal([
      'no_such_object',
      'Not found: there is no key "k".',
    ]);
    expect(read(new OperatorError('The balance is 5.00 RUB: too low.'))[0]).to.equal('change_refused');
    const broken = new OperatorError('Bad catalog: mine.json: model a: routes[0].upstream: unknown upstream b');
    expect(read(broken, false)).to.deep.equal([
      'change_refused',
      'This cannot be answered: bad catalog: mine.json: model a: routes[0].upstream: unknown upstream b.',
    ]);
    for (const [said, told] of [
      ['--user-reset needs --user-budget.', '`user_reset` needs `user_budget_rub`.'],
      ['--reset needs --cap.', '`reset` needs `cap_rub`.'],
      ['Use --open, --won or --lost.', 'use `open`, `ended: "won"` or `ended: "lost"`.'],
      ['--to must be later than --from.', '`to` must be later than `from`.'],
      ['Give at least one limit; see --help.', 'give at least one limit.'],
    ] as const) {
      const refusal = ['invalid_field', `Invalid \`request\`: ${told}`];
      expect(read(new InvalidInputError(said))).to.deep.equal(refusal);
    }
    expect(read(fault('never_topped_up', { minimumRub: '1000.00' }))[0]).to.equal('never_topped_up');
    expect(read(new Error('secret'))).to.deep.equal(['internal', 'The gateway failed to process the request.']);
  });

  it('say whether a store may have made the change, which keeps the idempotency key', () => {
    const [lost, down] = [new StoreError('lost', 'unknown'), new StoreError('down', 'no')];
    expect(read(lost)[0]).to.equal('change_unconfirmed');
    expect(read(lost, false)[0]).to.equal('store_unavailable');
    expect(read(down)[0]).to.equal('store_unavailable');
    expect([lost, down, new Error('x'), fault('internal')].map(hasChangedNothing)).to.deep.equal([
      false,
      true,
      false,
      false,
    ]);
    const refusals = [new OperatorError('x'), new InvalidInputError('x'), fault('insufficient_balance')];
    expect(refusals.map(hasChangedNothing)).to.deep.equal([true, true, true]);
  });
});
