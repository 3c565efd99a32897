import { expect } from 'chai';
import fc from 'fast-check';
import { splitIntoChunks } from '../../../lib/calls/text/chunks.ts';
import type { StreamPart } from '../../../lib/stream/part.ts';
import { CLOSE, delta, OPEN } from './stage.ts';

const TOOL: StreamPart = { type: 'block-start', index: 1, block: { type: 'tool', id: 'call_1', name: 'f' } };

function textsOf(parts: readonly StreamPart[]): readonly string[] {
  return splitIntoChunks(parts).flatMap((part) => (part.type === 'block-delta' ? [part.text] : []));
}

describe('chunks of a whole answer', () => {
  it('are its sentences and lines', () => {
    expect(textsOf([OPEN, delta('One. Two! «Три?» 4\nfive'), CLOSE])).to.deep.equal([
      'One. ',
      'Two! ',
      '«Три?» ',
      '4\n',
      'five',
    ]);
  });

  it('are at most 256 characters, cut at a space where there is one', () => {
    const texts = textsOf([OPEN, delta(`${'word '.repeat(100)}${'x'.repeat(600)}`)]);
    expect(texts.map(({ length }) => length)).to.deep.equal([255, 245, 256, 256, 88]);
  });

  it('leave the arguments of a call as they are', () => {
    const json = `{"text":"${'One. Two. '.repeat(100)}"}`;
    expect(textsOf([TOOL, { type: 'block-delta', index: 1, text: json }])).to.deep.equal([json]);
  });

  it('are the text, whatever it is, and tear no character', () => {
    const unit = fc.constantFrom('a', ' ', '.', '\n', '👋', 'я');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 2000 }), (text) => {
        const texts = textsOf([OPEN, delta(text)]);
        expect(texts.join('')).to.equal(text);
        for (const chunk of texts) expect(chunk.length <= 256 && chunk.isWellFormed()).to.equal(true);
      }),
    );
  });
});
