// Tokens of recordings: billed apart where the upstream counts them so, or where nobody counts the prompt.
import { expect } from 'chai';
import { Meter } from '../../lib/stream/meter.ts';
import type { StreamPart } from '../../lib/stream/part.ts';

const LIMITS = { trusted: true, inputEstimate: 11, inputMax: 1000, outputMax: 500 };
const WORDS: StreamPart = { type: 'block-delta', index: 0, text: 'word'.repeat(5) };

describe('audio at the meter', () => {
  function count(counts?: object) {
    const meter = new Meter({ ...LIMITS, audioEstimate: 8, estimateTokens: (text) => text.length / 4 });
    meter.push([WORDS, ...(counts ? [{ type: 'usage', ...counts } as StreamPart] : [])]);
    const { doubt, ...tokens } = meter.bill('finished');
    return { tokens, reported: meter.reported };
  }

  it('is billed beside the other parts of a prompt, if there is some', () => {
    const all = { input: 1, audio: 60, cacheRead: 20, cacheWrite: 300, cacheWrite1h: 400, output: 5, reasoning: 2 };
    expect(count(all)).to.deep.equal({ tokens: all, reported: all });
    const alone = { input: 0, audio: 20, output: 5 };
    expect(count({ audio: 20, output: 5 })).to.deep.equal({ tokens: alone, reported: alone });
    const none = { input: 20, output: 5 };
    expect(count({ ...none, audio: 0 })).to.deep.equal({ tokens: none, reported: none });
    expect(count(none)).to.deep.equal({ tokens: none, reported: none });
  });

  it('is estimated with the prompt, if nobody counts that or a part of it is absurd', () => {
    const tokens = { input: 3, audio: 8, output: 5 };
    expect(count().tokens).to.deep.equal(tokens);
    for (const audio of [-5, 0.5, Number.NaN, 1e300])
      expect(count({ input: 100, audio, output: 5 }), `${audio}`).to.deep.equal({ tokens, reported: undefined });
  });

  it('is believed of too large a prompt behind what costs less', () => {
    const { tokens, reported } = count({ input: 9, audio: 9e6, cacheRead: 1, cacheWrite: 9, output: 5 });
    expect(tokens).to.deep.equal({ input: 9, audio: 990, cacheRead: 1, output: 5 });
    expect(reported?.audio).to.equal(9e6);
  });
});
