// Documents for a model that takes none.
import { expect } from 'chai';
import { convertDocumentsToText } from '../../../lib/calls/text/files.ts';

describe('documents that become text', () => {
  it('have their name above them, wherever they are, and keep their marker', () => {
    const bytes = Buffer.from('a;b');
    const document = { type: 'document', mediaType: 'text/csv', bytes } as const;
    const text = { type: 'text', text: 'Hi' } as const;
    const result = { type: 'tool-result', id: 'a', name: 'look', isError: false } as const;
    const cache = { ttl: '5m' } as const;
    const messages = [
      { role: 'user', content: [text, { ...document, name: 'a.csv', cache }] },
      { role: 'user', content: [{ ...result, content: [document, text] }] },
    ] as const;
    expect(convertDocumentsToText(messages)).to.deep.equal([
      { role: 'user', content: [text, { type: 'text', text: 'a.csv\n\na;b', cache }] },
      { role: 'user', content: [{ ...result, content: [{ type: 'text', text: 'a;b' }, text] }] },
    ]);
  });
});
