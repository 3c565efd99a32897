// Idempotency records in MongoDB are removed in two steps, between which one may be claimed again.
import { expect } from 'chai';
import { Db, type Document } from 'mongodb';
import type { IdempotencyRecord } from '../../../lib/money/idempotency.ts';
import { MONGODB } from '../../../testkit/stores.ts';
import { newId, useStore } from '../../contract/store/context.ts';

describe('MongoDB: idempotency records', () => {
  const context = useStore(MONGODB);
  const { command } = Db.prototype;

  afterEach(() => {
    Db.prototype.command = command;
  });

  it('stay if they are claimed again while expired ones are removed', async () => {
    const { idempotency } = context.store;
    const of = { wallet: newId('acc'), body: 'hash-1', awaited: true, reply: null, expiresAt: 1000 };
    const [taken, expired] = ['a', 'b'].map(
      (letter): IdempotencyRecord => ({ ...of, id: newId(letter), charge: newId('req') }),
    ) as [IdempotencyRecord, IdempotencyRecord];
    await idempotency.put([taken, expired]);
    const again = { ...taken, charge: newId('req'), expiresAt: 5000 };
    Db.prototype.command = async function (this: Db, ...args) {
      if ((args[0] as Document).delete === 'repeats') {
        Db.prototype.command = command;
        await idempotency.put([again]);
      }
      return command.apply(this, args);
    };
    expect(await idempotency.clean(1000, 10)).to.equal(1);
    expect(await idempotency.get(taken.id)).to.deep.equal(again);
    expect(await idempotency.get(expired.id)).to.equal(undefined);
  });
});
