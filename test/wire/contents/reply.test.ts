import { expect } from 'chai';
import type { AnswerWriter } from '../../../lib/plugin/contract.ts';
import { createFinishReason } from '../../../lib/plugin/finish-words.ts';
import { createHostFault } from '../../../lib/plugin/host-fault.ts';
import { createContentsReader } from '../../../lib/wire/contents/reply.ts';

const fault = createHostFault({ secrets: [] });

describe('replies in the contents format', () => {
  const rows: readonly (readonly [usage: unknown, counts: object])[] = [
    [
      { promptTokenCount: 5, candidatesTokenCount: 8, thoughtsTokenCount: 2 },
      { input: 5, output: 10 },
    ],
    [{ candidatesTokenCount: '8', thoughtsTokenCount: 'many' }, { output: 8 }],
    [{ candidatesTokenCount: 8, thoughtsTokenCount: -8 }, { output: 8 }],
    [{ thoughtsTokenCount: 2 }, { output: 2 }],
    [null, {}],
    ['x', {}],
  ];
  for (const [usageMetadata, counts] of rows) {
    it(`count ${JSON.stringify(usageMetadata)} as ${JSON.stringify(counts)}`, () => {
      const told: object[] = [];
      const out = { start: () => undefined, usage: (tokens: object) => told.push(tokens) } as unknown as AnswerWriter;
      createContentsReader({ fault, finishReason: createFinishReason(fault) }).take({ usageMetadata }, out, () => '');
      expect(told).to.deep.equal([counts]);
    });
  }
});
