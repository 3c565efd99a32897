// What only a message-style request has: the system prompt as a field, and images by their source.
import { expect } from 'chai';
import { parseMessageRequest } from '../../../../lib/api/dialects/message/request.ts';
import type { RequestMessage } from '../../../../lib/calls/text/request.ts';
import type { RequestImage } from '../../../../lib/media/reference.ts';
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

  const link = 'https://x.example/a.png';
  for (const [fields, place] of [
    [{ data: BASE64, mimeType: 'image/png' }, 'data'],
    [{ source_type: 'base64', data: BASE64, mime_type: 'image/png' }, 'data'],
    [{ base64: BASE64, mime_type: 'image/png' }, 'base64'],
    [{ data: `data:image/png;base64,${BASE64}` }, 'data'],
    [{ data: BASE64, mimeType: null, source: null }, 'data'],
    [{ url: link }, 'url'],
    [{ image: `data:image/png;base64,${BASE64}`, mediaType: 'image/png' }, 'image'],
  ] as const) {
    it(`takes an image without a source: ${Object.keys(fields)}`, () => {
      const [message] = parseMessageRequest(body([{ type: 'image', ...fields }])).messages as [RequestMessage];
      const field = `messages[0].content[0].${place}`;
      const [{ source, ...read }] = message.content as unknown as [RequestImage];
      expect(read).to.deep.equal({ type: 'image', field });
      if (place === 'url') expect(source).to.equal(link);
      else expect(source).to.have.property('bytes').that.deep.equals(PNG);
    });
  }

  it('takes it in the result of a tool, too', () => {
    const content = [{ type: 'image', data: BASE64, mimeType: 'image/png' }];
    const messages = [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content }] },
    ];
    expect(parseMessageRequest({ model: 'm', messages })).to.include({ images: 1 });
  });

  for (const [fields, field] of [
    [{ data: 'aGk=', mimeType: 'image/png' }, 'data'],
    [{ data: BASE64, mimeType: 'application/pdf' }, 'data'],
    [{ base64: '*' }, 'base64'],
    [{ url: 'ftp://x.example/a.png' }, 'url'],
    [{ image: BASE64 }, 'image'],
    [{ data: 5 }, 'source'],
    [{ source_type: 'id', id: 'x' }, 'source'],
  ] as const) {
    it(`refuses the image ${JSON.stringify(fields).slice(0, 60)}`, () => {
      const content = [{ type: 'image', ...fields }];
      expect(() => parseMessageRequest(body(content))).to.throw(`Invalid \`messages[0].content[0].${field}\`: `);
    });
  }

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
