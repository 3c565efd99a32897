import { expect } from 'chai';
import { fetchPromptImages, toProviderMessages } from '../../../lib/calls/text/images.ts';
import type { RequestContent, TextRequest } from '../../../lib/calls/text/request.ts';
import { measureRequest, releaseTextRequest } from '../../../lib/calls/text/request-memory.ts';
import type { Image } from '../../../lib/media/image.ts';
import { readBase64 } from '../../../lib/media/inline.ts';
import { PNG } from '../../media/sample-images.ts';

const never = new AbortController().signal;

describe('the images of a request', () => {
  let held: number;
  const image = (): Image => {
    held += 1;
    const giveBack = () => {
      held -= 1;
    };
    const budget = { takePart: () => giveBack };
    return readBase64(PNG.toString('base64'), { field: 'x', budget });
  };
  const requestOf = (...sources: (string | Image)[]): TextRequest => ({
    model: 'm',
    system: [{ type: 'text', text: 'sys' }],
    messageCount: 1,
    images: sources.length,
    maxTokens: 1,
    stream: false,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'text' },
          ...sources.map((source, at): RequestContent => ({ type: 'image', field: `f${at}`, source })),
        ],
      },
    ],
  });

  beforeEach(() => {
    held = 0;
  });

  it('are fetched a few at a time, and stand where their links stood', async () => {
    let [now, most] = [0, 0];
    const asked: string[] = [];
    const fetch = async (url: string, { field }: { field: string }) => {
      asked.push(`${url} ${field}`);
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now -= 1;
      return image();
    };
    const links = Array.from({ length: 9 }, (_, at) => `https://a.example/${at}`);
    const whole = await fetchPromptImages(requestOf(...links), fetch, never);
    expect(asked).to.deep.equal(links.map((url, at) => `${url} f${at}`));
    expect(most).to.equal(4);
    expect(toProviderMessages(whole)[0]?.content.filter(({ type }) => type === 'image')).to.have.length(9);
    expect(measureRequest(whole)).to.equal('systext'.length + 9 * PNG.length);
  });

  it('have at most as many bytes in all as a body may have, those that are there already among them', async () => {
    const MIB = 1024 * 1024;
    const sized = (mebibytes: number, more = 0) => {
      const { bytes: _, ...rest } = image();
      return { ...rest, bytes: { length: mebibytes * MIB + more } } as unknown as Image;
    };
    const passed = await fetchPromptImages(requestOf(sized(24), 'https://a.example'), async () => sized(24), never);
    expect(passed.messages[0]?.role).to.equal('user');
    expect(toProviderMessages(passed).map(({ role }) => role)).to.deep.equal(['user']);
    held = 0;
    const over = fetchPromptImages(
      requestOf('https://a.example', 'https://b.example'),
      async () => sized(24, 1),
      never,
    );
    const thrown: unknown = await over.catch((error: unknown) => error);
    expect(thrown)
      .to.have.property('message')
      .that.matches(/^Invalid `f1`: .* more than 48 MiB in all/);
    expect(held).to.equal(0);
  });

  it('are fetched within results of tools as well, and a request without links stays as it is', async () => {
    const result = (inner: RequestContent[]) =>
      ({ type: 'tool-result', id: 'x', content: inner }) as unknown as RequestContent;
    const call: RequestContent = { type: 'tool-call', id: 'x', name: 'find', json: '{"a":1}' };
    const link: RequestContent = { type: 'image', field: 'f', source: 'https://a.example/1' };
    const content = [call, result([{ type: 'text', text: 'abc' }, link])];
    const tools = { list: [], choice: 'auto', text: 'abcd' } as unknown as NonNullable<TextRequest['tools']>;
    const request: TextRequest = { ...requestOf(), images: 1, tools, messages: [{ role: 'user', content }] };
    expect(measureRequest(request)).to.equal('sys{"a":1}abcabcd'.length);
    const whole = await fetchPromptImages(request, async () => image(), never);
    expect(measureRequest(whole)).to.equal('sys{"a":1}abcabcd'.length + PNG.length);
    const [passed] = toProviderMessages(whole);
    expect(passed?.content[0]).to.equal(call);
    const [, inner] = passed?.content ?? [];
    expect(inner?.type === 'tool-result' && inner.content.map(({ type }) => type)).to.deep.equal(['text', 'image']);
    releaseTextRequest(whole);
    expect([held, 'tools' in whole]).to.deep.equal([0, false]);
    const plain = requestOf();
    expect(await fetchPromptImages(plain, async () => image(), never)).to.equal(plain);
    expect(toProviderMessages(plain)).to.equal(plain.messages);
  });

  it('stop when one cannot be had: what runs is aborted and waited for, what is there is let go of', async () => {
    const no = new Error('no');
    let ended = 0;
    const fetch = async (url: string, { signal }: { signal: AbortSignal }) => {
      if (url === 'there') return image();
      if (url === 'bad') {
        await new Promise(setImmediate);
        throw no;
      }
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      await new Promise((resolve) => setTimeout(resolve, 20));
      ended += 1;
      // It came all the same.
      return image();
    };
    const failed = fetchPromptImages(requestOf('there', 'slow', 'bad', 'slow'), fetch, never);
    expect(await failed.catch((error: unknown) => error)).to.equal(no);
    expect([ended, held]).to.deep.equal([2, 0]);
  });

  it('are gone with all else once it is let go of, whoever holds on to them, and once only', () => {
    const request = requestOf(image(), image());
    const [message] = toProviderMessages(request);
    const [, shown] = message?.content ?? [];
    expect(shown?.type === 'image' && shown.bytes.length).to.equal(PNG.length);
    expect(shown?.type === 'image' && shown.size).to.deep.equal({ width: 2, height: 3 });
    releaseTextRequest(request);
    releaseTextRequest(request);
    expect(shown?.type === 'image' && shown.bytes.length).to.equal(0);
    expect(held).to.equal(0);
    expect([request.system, request.messages]).to.deep.equal([undefined, []]);
  });

  it('have beside them what else may be long: it is measured, and let go of', () => {
    const long = 'x'.repeat(1000);
    const state = { format: 'chat', value: long };
    const own: Partial<TextRequest>[] = [
      { format: { type: 'json-schema', name: 'n', schema: { description: long } } },
      { messageFields: { context_management: { edits: [{ type: long }] } } },
    ];
    const parts: RequestContent[] = [
      { type: 'reasoning', text: '', state },
      { type: 'tool-call', id: 'x', name: 'find', json: '', state },
      { type: 'document', mediaType: 'text/plain', bytes: new Uint8Array(), name: long },
    ];
    const requests = [
      ...own.map((more): TextRequest => ({ ...requestOf(), ...more })),
      ...parts.map((part): TextRequest => ({ ...requestOf(), messages: [{ role: 'user', content: [part] }] })),
    ];
    for (const request of requests) {
      expect(measureRequest(request)).to.be.within(1000, 1200);
      releaseTextRequest(request);
      expect(JSON.stringify(request)).not.to.contain(long);
    }
  });
});
