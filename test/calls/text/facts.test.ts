import { expect } from 'chai';
import { fault } from '../../../lib/base/faults.ts';
import { type AnswerFacts, describeAnswer } from '../../../lib/calls/text/facts.ts';

const PLAIN: AnswerFacts = {
  asked: 'a',
  billed: 'a',
  answered: 'a',
  smart: undefined,
  ending: { type: 'finish', result: { type: 'finish', reason: 'stop' } },
};

describe('what a charge records beside its tokens', () => {
  const rows: readonly (readonly [what: string, told: Partial<AnswerFacts>, facts: object])[] = [
    ['nothing of a plain call', {}, {}],
    ['nothing of a model that was not asked', { answered: undefined }, {}],
    ['the name that the client used', { asked: 'alias' }, { model_asked: 'alias' }],
    ['the model that answered for another', { answered: 'b' }, { model_answered: 'b' }],
    [
      'an end by length',
      { ending: { type: 'finish', result: { type: 'finish', reason: 'length' } } },
      { ended: 'length' },
    ],
    ['an end by failure', { ending: { type: 'error', fault: fault('upstream_failed') } }, { ended: 'error' }],
    ['a client who left', { ending: { type: 'gone' } }, { ended: 'gone' }],
    [
      'how smart chose',
      { asked: 'smart', smart: { tier: 'lite', score: 3, signals: ['short', 'plain'] } },
      { model_asked: 'smart', smart_tier: 'lite', smart_signals: 'short plain' },
    ],
  ];
  for (const [what, told, facts] of rows) {
    it(`is ${what}`, () => {
      expect(describeAnswer({ ...PLAIN, ...told })).to.deep.equal(facts);
    });
  }
});
