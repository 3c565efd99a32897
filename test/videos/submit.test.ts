// Which failures of a submission are a certain no: only after those another route may be asked.
import { expect } from 'chai';
import type { FaultFacts, UpstreamFaultKind } from '../../lib/plugin/contract.ts';
import { upstreamFault } from '../../lib/plugin/fault.ts';
import { isRefusal } from '../../lib/videos/submit.ts';

describe('a submission that failed', () => {
  const rows: readonly [UpstreamFaultKind, FaultFacts, boolean][] = [
    ['request', { status: 400 }, true],
    ['request', {}, true],
    ['missing', { status: 404 }, true],
    ['auth', { status: 401 }, true],
    ['quota', { status: 402 }, true],
    ['rate', { status: 429 }, true],
    ['quota', {}, true],
    ['network', { unsent: true }, true],
    ['timeout', { unsent: true }, true],
    ['protocol', { unsent: true }, true],
    ['network', {}, false],
    ['timeout', {}, false],
    ['timeout', { status: 408 }, false],
    ['protocol', {}, false],
    ['server', { status: 500 }, false],
    ['overloaded', { status: 503 }, false],
    ['overloaded', {}, false],
    // Its words say no, its status that something broke.
    ['quota', { status: 500 }, false],
    ['request', { status: 502 }, false],
  ];
  for (const [kind, facts, refused] of rows) {
    it(`is ${refused ? 'a refusal' : 'in doubt'} with ${kind} ${JSON.stringify(facts)}`, () => {
      expect(isRefusal(upstreamFault(kind, 'no', facts))).to.equal(refused);
    });
  }

  it('is in doubt when a plugin breaks', () => {
    expect(isRefusal(new TypeError('x is not a function'))).to.equal(false);
    expect(isRefusal('no')).to.equal(false);
  });
});
