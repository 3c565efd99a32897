// What each error of the driver means: for the failed write, for a retry, and for other writes.
import { expect } from 'chai';
import {
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoWriteConcernError,
  type TopologyDescription,
} from 'mongodb';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import {
  classifyApplied,
  isConflict,
  isDuplicate,
  isKilled,
  isTransient,
  OutOfTime,
  StaleRead,
  toStoreError,
} from '../../../lib/store/mongodb/failure.ts';
import { StoreError } from '../../../lib/store/store.ts';

const server = (code: number) => new MongoServerError({ code, message: `code ${code}`, ok: 0 });
const unconfirmed = new MongoWriteConcernError({ writeConcernError: { code: 64, errmsg: 'late' }, ok: 1 });

function named<E extends Error>(error: E, name: string): E {
  Object.defineProperty(error, 'name', { value: name });
  return error;
}

interface Verdict {
  readonly applied?: 'unknown';
  readonly is?: readonly ('conflict' | 'passing' | 'duplicate' | 'killed')[];
  readonly blames?: 'batch';
}

describe('failures of MongoDB', () => {
  const rows: readonly [what: string, error: unknown, verdict: Verdict][] = [
    ['a wallet that has changed', new StaleRead('changed'), { is: ['conflict'] }],
    ['a write conflict', server(112), { is: ['conflict', 'passing'] }],
    ['a transaction that is gone', server(251), { is: ['conflict', 'passing'] }],
    ['a duplicate', server(11_000), { is: ['conflict', 'duplicate'], blames: 'batch' }],
    ['no primary: not writable', server(10_107), { is: ['passing'] }],
    ['no primary: not slave ok', server(13_435), { is: ['passing'] }],
    ['no primary or secondary', server(13_436), { is: ['passing'] }],
    ['a snapshot that is not there yet', server(246), { is: ['passing'] }],
    ['an index that was dropped while it was read', server(175), { is: ['passing'] }],
    ['a killed session', server(11_601), { applied: 'unknown', is: ['killed'] }],
    ['a shutdown', server(11_600), { applied: 'unknown' }],
    ['a step down during the command', server(11_602), { applied: 'unknown' }],
    ['a primary that stepped down', server(189), { applied: 'unknown' }],
    ['a shutdown in progress', server(91), { applied: 'unknown' }],
    ['a time limit', server(50), { applied: 'unknown' }],
    ['a time limit of the network', server(262), { applied: 'unknown' }],
    ['a write concern', unconfirmed, { applied: 'unknown' }],
    ['a bad value', server(2), { blames: 'batch' }],
    ['a wrong type', server(14), { blames: 'batch' }],
    ['a row that the schema refuses', server(121), { blames: 'batch' }],
    ['a row that is too large', server(10_334), { blames: 'batch' }],
    ['a transaction that is too large', server(257), { blames: 'batch' }],
    ['another code', server(8000), {}],
    ['no server', new MongoServerSelectionError('none', {} as TopologyDescription), { is: ['passing'] }],
    ['no connection in time', named(new MongoError('wait'), 'MongoWaitQueueTimeoutError'), { is: ['passing'] }],
    ['connections that were closed', named(new MongoError('cleared'), 'MongoPoolClearedError'), { is: ['passing'] }],
    ['a broken connection', new MongoNetworkError('reset'), { applied: 'unknown' }],
    ['a deadline', new OutOfTime('late'), { applied: 'unknown' }],
    ['an abort', named(new Error('aborted'), 'AbortError'), { applied: 'unknown' }],
    ['a rule of our own', new RangeError('too large'), { blames: 'batch' }],
    ['what is no error', 'odd', { blames: 'batch' }],
  ];

  for (const [what, error, { applied = 'no', is = [], blames = 'store' }] of rows) {
    it(`are classified: ${what}`, () => {
      const found = { conflict: isConflict, passing: isTransient, duplicate: isDuplicate, killed: isKilled };
      const names = Object.entries(found).filter(([, test]) => test(error));
      expect(names.map(([name]) => name)).to.have.members([...is]);
      expect(classifyApplied(error)).to.equal(applied);
      const told = toStoreError(error, 'unknown');
      expect(told).to.be.instanceOf(StoreError);
      expect(told).to.include({ applied: 'unknown', blames, cause: error });
      expect(told.message).to.equal(error instanceof Error ? error.message : 'odd');
    });
  }

  it('of our own code stay unchanged', () => {
    for (const error of [new StoreError('taken', 'no', undefined, 'batch'), new OperatorError('wrong URL')]) {
      expect(toStoreError(error, 'unknown')).to.equal(error);
    }
  });
});
