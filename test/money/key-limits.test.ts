// The limits of a key: until when it may be used, and for which models.
import { expect } from 'chai';
import { allowsModel, isExpired, NO_LIMITS } from '../../lib/money/key-limits.ts';

describe('the limits of a key', () => {
  const times: readonly (readonly [expiresAt: number | null, expired: boolean])[] = [
    [null, false],
    [1001, false],
    [1000, true],
    [999, true],
  ];
  for (const [expiresAt, expired] of times) {
    it(`${expired ? 'refuse' : 'allow'} a call at 1000 if the key expires at ${expiresAt ?? 'no time'}`, () => {
      expect(isExpired({ expiresAt }, 1000)).to.equal(expired);
    });
  }

  const model = { id: 'model-a', aliases: ['a', 'latest'] };
  const lists: readonly (readonly [models: readonly string[] | null, allowed: boolean])[] = [
    [null, true],
    [['model-a'], true],
    [['model-b', 'latest'], true],
    [['model-b'], false],
    [['model'], false],
    [[], false],
  ];
  for (const [models, allowed] of lists) {
    it(`${allowed ? 'allow' : 'refuse'} a model by its id or an alias if the list is ${models ?? 'absent'}`, () => {
      expect(allowsModel({ models }, model)).to.equal(allowed);
    });
  }

  it('are empty by default', () => {
    expect(NO_LIMITS).to.deep.equal({
      budget: null,
      reset: 'none',
      zone: 'Europe/Moscow',
      expiresAt: null,
      models: null,
    });
  });
});
