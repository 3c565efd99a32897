import { expect } from 'chai';
import { createMessageRenderer } from '../../../../lib/api/dialects/message/render.ts';
import type { StreamPart } from '../../../../lib/stream/part.ts';

const START: StreamPart = { type: 'start', id: '1', model: 'm' };
const FINISH: StreamPart = { type: 'finish', reason: 'stop' };

/** The usage in every event that has one. */
function usagesOf(...parts: readonly StreamPart[]): readonly unknown[] {
  const events = createMessageRenderer()(parts).matchAll(/^data: (.*)$/gm);
  return [...events]
    .map(([, data = '']) => JSON.parse(data))
    .flatMap(({ usage, message }) => usage ?? message?.usage ?? []);
}

describe('message events', () => {
  it('begin with the input known by then and end with the output, both 0 if unknown', () => {
    expect(usagesOf(START, FINISH)).to.deep.equal([{ input_tokens: 0, output_tokens: 0 }, { output_tokens: 0 }]);
    const [input, output] = [
      { type: 'usage', input: 5 },
      { type: 'usage', output: 7 },
    ] as const;
    expect(usagesOf(input, START, output, FINISH)).to.deep.equal([
      { input_tokens: 5, output_tokens: 0 },
      { output_tokens: 7 },
    ]);
  });
});
