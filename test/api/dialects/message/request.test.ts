// What only a message-style request has: the system prompt as a field, and images by their source.
import { expect } from 'chai';
import { parseMessageRequest } from '../../../../lib/api/dialects/message/request.ts';
import { PNG } from '../../../media/sample-images.ts';

const BASE64 = PNG.toString('base64');

const body = (content: unknown, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more });
const image = (source: unknown) => [{ type: 'image', source }];

const TEXTS = [
  { type: 'text', text: 'a' },
  { type: 'text', text: 'b' },
];

describe('message-style request', () => {
  it('counts every message for the estimate of its input, empty ones and those of the system too', () => {
    const messages = [
      { role: 'system', content: 'a' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'hi' },
    ];
    expect(parseMessageRequest({ model: 'm', messages })).to.include({ messageCount: 4 });
  });

  it('puts the system field before system messages', () => {
    const messages = [
      { role: 'system', content: 'b' },
      { role: 'user', content: 'hi' },
    ];
    expect(parseMessageRequest({ model: 'm', system: 'a', messages }).system).to.deep.equal(TEXTS);
  });

  it('reads system blocks, the texts of unknown ones too', () => {
    const system = [
      { type: 'text', text: 'a' },
      { type: 'other', content: [{ type: 'text', text: 'b' }] },
      { type: 'x' },
    ];
    expect(parseMessageRequest(body('hi', { system })).system).to.deep.equal(TEXTS);
    expect(parseMessageRequest(body('hi', { system: [] })).system).to.equal(undefined);
  });

  for (const [system, words] of [
    [5, '`system`'],
    [{ type: 'text', text: 'a' }, '`system`'],
    [['a'], '`system[0]`'],
    [[{ type: 'text' }], '`system[0].text`'],
    [[{ text: 'a' }], '`system[0].type`'],
  ] as const) {
    it(`refuses the system prompt ${JSON.stringify(system)}`, () => {
      expect(() => parseMessageRequest(body('hi', { system }))).to.throw(`Invalid ${words}: `);
    });
  }

  it('takes no image in the system prompt', () => {
    const system = image({ type: 'url', url: 'https://x.example/a.png' });
    expect(() => parseMessageRequest(body('hi', { system }))).to.throw(
      'only messages of users and assistants may contain images',
    );
  });

  it('takes the parts of the other dialect', () => {
    const content = [{ type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } }];
    expect(parseMessageRequest(body(content))).to.include({ images: 1 });
  });

  it('counts images by url and in base64', () => {
    const content = [
      ...image({ type: 'url', url: 'https://x.example/a.png' }),
      ...image({ type: 'base64', media_type: 'image/png', data: BASE64 }),
    ];
    expect(parseMessageRequest(body(content))).to.include({ images: 2 });
  });

  for (const [source, field] of [
    [undefined, 'source'],
    [null, 'source'],
    ['https://x.example/a.png', 'source'],
    [{ type: 'file', file_id: 'x' }, 'source.type'],
    [{ url: 'https://x.example/a.png' }, 'source.type'],
    [{ type: 'url' }, 'source.url'],
    [{ type: 'url', url: 'ftp://x.example/a.png' }, 'source.url'],
    [{ type: 'url', url: 'data:image/png;base64,aGk=' }, 'source.url'],
    [{ type: 'base64', data: 'aGk=' }, 'source.media_type'],
    [{ type: 'base64', media_type: 'image/png', data: 5 }, 'source.data'],
    [{ type: 'base64', media_type: 'application/pdf', data: BASE64 }, 'source.data'],
  ] as const) {
    it(`refuses the image source ${JSON.stringify(source)}`, () => {
      expect(() => parseMessageRequest(body(image(source)))).to.throw(`Invalid \`messages[0].content[0].${field}\`: `);
    });
  }
});
