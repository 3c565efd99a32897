// Replies with images are written in pieces: as a whole they are the same JSON.
import { expect } from 'chai';
import { writeLongReply } from '../../lib/api/long-reply.ts';

const base64 = (byte: number, length: number) => Buffer.alloc(length, byte).toString('base64');
const image = (data: string) => ({ type: 'image', mediaType: 'image/png', base64: data, text: '' }) as const;

describe('a long reply', () => {
  const [large, small] = [base64(1, 900_000), base64(2, 30)];
  const write = (body: object, images: readonly string[]) => {
    const text = { type: 'text', text: 'x' } as const;

    const pieces = writeLongReply(body, { blocks: [text, ...images.map(image)] });
    return pieces && [...pieces];
  };

  it('is the JSON of its body, an image or its URL in several pieces', () => {
    const bodies = [
      {
        content: [{ text: 'A "quoted" \u2028 text' }, { data: large }, { data: small }, { data: large }],
        usage: { a: 1 },
      },
      {
        images: [{ url: `data:image/png;base64,${large}` }, { url: `data:image/png;base64,${small}` }],
        gone: undefined,
      },
      { output: [], text: null },
    ];
    for (const body of bodies) {
      const pieces = write(body, [large, small]) ?? [];
      expect(pieces.join('') === JSON.stringify(body)).to.equal(true);
      expect(Math.max(...pieces.map(({ length }) => length))).to.be.at.most(256 * 1024);
    }
  });

  it('is left to others without images', () => {
    expect(write({ text: 'x' }, [])).to.equal(undefined);
  });
});
