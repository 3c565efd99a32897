import { expect } from 'chai';
import { estimateInput } from '../../../lib/calls/text/estimate.ts';
import type { RequestContent, TextRequest } from '../../../lib/calls/text/request.ts';

function request(texts: readonly string[], more: Partial<TextRequest> = {}): TextRequest {
  return {
    model: 'model-a',
    system: undefined,
    messages: texts.map((text) => ({ role: 'user', content: [{ type: 'text', text }] })),
    messageCount: texts.length,
    images: 0,
    maxTokens: 1000,
    stream: false,
    ...more,
  };
}

const tokensOf = async (texts: readonly string[], more?: Partial<TextRequest>) =>
  (await estimateInput(request(texts, more))).tokens;
const bufferedOf = async (texts: readonly string[], more?: Partial<TextRequest>) =>
  (await estimateInput(request(texts, more))).tokensBuffered;

describe('estimate of input', () => {
  it('is a token for four bytes, rounded up once, and four for each message', async () => {
    expect(await tokensOf([''])).to.equal(4);
    expect(await tokensOf(['a'])).to.equal(5);
    expect(await tokensOf(['abcd'])).to.equal(5);
    expect(await tokensOf(['abcde'])).to.equal(6);
    expect(await tokensOf(['a', 'b', 'c'])).to.equal(1 + 12);
  });

  it('counts bytes, not characters', async () => {
    expect(await tokensOf(['привет'])).to.equal(3 + 4);
    expect(await tokensOf(['👋'])).to.equal(1 + 4);
  });

  it('counts the system prompt and every part of a message', async () => {
    expect(await tokensOf(['abcd'], { system: [{ type: 'text', text: 'efgh' }] })).to.equal(2 + 4);
    const content = ['abcd', 'efgh', 'ijkl'].map((text) => ({ type: 'text' as const, text }));
    expect(await tokensOf([], { messages: [{ role: 'assistant', content }], messageCount: 1 })).to.equal(3 + 4);
  });

  it('counts tools, a schema, calls and the texts of results', async () => {
    const tools = { list: [], choice: 'auto', text: 'abcd' } as unknown as NonNullable<TextRequest['tools']>;
    expect(await tokensOf([], { tools })).to.equal(1);
    const format = { type: 'json-schema', name: 'n', schema: { a: '12345678' } } as const;
    expect(await tokensOf([], { format })).to.equal(4);
    expect(await tokensOf([], { format: { type: 'json' } })).to.equal(0);
    const content = [
      { type: 'tool-call', id: 'x', name: 'find', json: '{"a":"b"}' },
      { type: 'tool-result', id: 'x', content: [{ type: 'text', text: 'abc' }, { type: 'image' }] },
      { type: 'image' },
    ] as unknown as RequestContent[];
    expect(await tokensOf([], { messages: [{ role: 'user', content }] })).to.equal(4);
  });

  it('counts what vendors add for their own tools, and images of earlier answers', async () => {
    const list = [{ name: 'bash', isPredefined: true }, { name: 'edit', isPredefined: true }, { name: 'own' }];
    const tools = { list, choice: 'auto', text: '' } as unknown as NonNullable<TextRequest['tools']>;
    expect(await tokensOf([], { tools })).to.equal(2000);
    expect(await tokensOf([], { images: 1, answerImages: 2 })).to.equal(3000);
    expect(await bufferedOf([], { images: 1, answerImages: 2 })).to.equal(3000);
  });

  it('tells counts with images from counts without them by half of the text', async () => {
    expect((await estimateInput(request(['abcdefgh'], { images: 2 }))).images).to.deep.equal({
      tokens: 2000,
      countedFrom: 1 + 128,
    });
    expect((await estimateInput(request(['abcdefgh']))).images).to.equal(undefined);
  });

  it('adds a thousand for each image', async () => {
    expect(await tokensOf(['abcd'], { images: 3 })).to.equal(1 + 4 + 3000);
  });

  it('believes three times what it counts, where bytes say too little', async () => {
    const { tokensMax } = await estimateInput(request(['\u0001'.repeat(1000)]));
    expect(tokensMax).to.equal(3 * 1004);
  });

  it('believes counts far above itself, but not without limit', async () => {
    const { tokens, tokensHeld, tokensMax } = await estimateInput(request(['a'.repeat(4_000_000)], { images: 4 }));
    expect(tokens).to.equal(1_000_000 + 4 + 4000);
    expect(tokensHeld).to.equal(tokens);
    expect(tokensMax).to.equal(3 * (1_000_000 + 4004));
  });
});

describe('all that a client can write', () => {
  const LONG = 'x'.repeat(40_000);
  const state = { format: 'chat', value: LONG };

  it('is counted, also names of documents and descriptions of schemas', async () => {
    const named = { type: 'document', mediaType: 'text/plain', bytes: new Uint8Array(), name: LONG } as const;
    const messages = [{ role: 'user', content: [named] }] as const;
    expect(await tokensOf([], { files: {}, messages })).to.equal(10_000);
    const schema = { type: 'json-schema', name: 'n', schema: {}, description: LONG } as const;
    expect(await tokensOf([], { format: schema })).to.equal(10_001);
  });

  for (const [name, part] of [
    ['reasoning', { type: 'reasoning', text: '', state }],
    ['a call', { type: 'tool-call', id: 'i', name: '', json: '', state }],
  ] as const) {
    it(`is believed if the vendor counts it: the state of ${name}`, async () => {
      const messages = [{ role: 'assistant', content: [part] }] as const;
      const { tokens, tokensMax } = await estimateInput(request([], { messages }));
      expect(tokens).to.equal(0);
      expect(tokensMax).to.equal(3 * 10_000);
    });
  }
});

describe('files', () => {
  const page = '/Type /Page ';
  const hidden = '/Type /P#61ge '.repeat(100);
  const file = (content: string, mediaType: string): RequestContent => {
    const bytes = Buffer.from(content);
    return mediaType.startsWith('audio/')
      ? { type: 'audio', mediaType, bytes }
      : { type: 'document', mediaType, bytes };
  };
  const estimate = (content: RequestContent) =>
    estimateInput(request([], { files: {}, messages: [{ role: 'user', content: [content] }] }));

  for (const [name, content, tokens] of [
    ['a PDF', file(`%PDF-1.7 ${page}${page}`, 'application/pdf'), 4000],
    ['a PDF of another name', file(`%PDF-1.7 ${page}${page}`, 'application/octet-stream'), 4000],
    ['a PDF without a head', file(page, 'Application/X-PDF'), 2000],
    ['a PDF whose pages only a reader finds', file(`%PDF-1.7 ${page}${hidden}`, 'application/pdf'), 2000],
    ['a document that unfolds', file('PK34', 'application/zip'), 1],
    ['a recording', file('x'.repeat(200), 'audio/mpeg'), 2],
  ] as const) {
    it(`count as little as they show, and are believed to be a hundred pages: ${name}`, async () => {
      const all = { tokens, tokensHeld: tokens, tokensBuffered: tokens, tokensMax: 3 * 200_000 };
      expect(await estimate(content)).to.include(all);
    });
  }

  it('are counted apart if they are recordings', async () => {
    const [pdf, recording] = [file(page, 'application/pdf'), file('x'.repeat(200), 'audio/mpeg')];
    const content = [pdf, recording, recording];
    const both = await estimateInput(request([], { files: {}, messages: [{ role: 'user', content }] }));
    expect(both).to.include({ tokensHeld: 2004, documentsExcess: 198_000, audioTokens: 4, audioExcess: 399_996 });
    expect(await estimate(pdf)).to.not.have.any.keys('audioTokens', 'audioExcess');
    expect(await estimate(recording)).to.not.have.any.keys('documentsExcess');
    expect(await estimate(file('x'.repeat(20_000_000), 'audio/mpeg'))).to.include({ audioTokens: 200_000 });
  });

  it('are believed to be more if they show it', async () => {
    const { tokensMax } = await estimate(file(page.repeat(300), 'application/pdf'));
    expect(tokensMax).to.equal(3 * 300 * 2000);
  });

  it('are counted like text if they are text', async () => {
    const content = file('%PDF-1.7 is how it begins', 'text/plain');
    expect(await estimate(content)).to.include({ tokens: 7, tokensMax: 21 });
  });
});

describe('input that is held', () => {
  const control = '\u0001'.repeat(100_000);

  it('is never below the formula, and above it for a text that makes more tokens', async () => {
    const { tokens, tokensHeld } = await estimateInput(request([control], { images: 1 }));
    expect(tokens).to.equal(25_000 + 1004);
    expect(tokensHeld).to.equal(Math.ceil(100_000 / 1.08) - 512 + 1004);
  });

  it('is counted over all texts of the call', async () => {
    const content = Array.from({ length: 1000 }, () => ({ type: 'text' as const, text: control.slice(0, 100) }));
    const messages = [{ role: 'user' as const, content }];
    const whole = await estimateInput(request([control]));
    expect(await estimateInput(request([], { messages, messageCount: 1 }))).to.deep.equal(whole);
    expect(await estimateInput(request([''], { system: [{ type: 'text', text: control }] }))).to.deep.equal(whole);
  });

  it('leaves the loop to others while it counts a long text', async () => {
    let turns = 0;
    const counter = setInterval(() => {
      turns += 1;
    }, 0);
    try {
      // Parts of an odd length: no pair of surrogates falls apart between them.
      const { tokens } = await estimateInput(request([`a${'👋'.repeat(2_000_000)}`]));
      expect(tokens).to.equal(2_000_001 + 4);
    } finally {
      clearInterval(counter);
    }
    expect(turns).to.be.above(4);
  });
});

describe('input of a buffered model', () => {
  it('is a token for four characters, rounded up once, and nothing for messages', async () => {
    expect(await bufferedOf(['abcd', 'e'])).to.equal(2);
    expect(await bufferedOf(['привет!!'])).to.equal(2);
    expect(await bufferedOf(['👋👋👋👋'], { system: [{ type: 'text', text: '👋' }] })).to.equal(2);
    expect(await bufferedOf([''])).to.equal(0);
    expect(await bufferedOf(['abcd'], { images: 2 })).to.equal(2001);
  });
});
