// What only a chat-style request has: images by `image_url`, and no system field.
import { expect } from 'chai';
import { parseChatRequest } from '../../../../lib/api/dialects/chat/request.ts';
import { MAX_TOKENS_DEFAULT, MAX_TOKENS_MAXIMUM } from '../../../../lib/base/token-limits.ts';
import { PNG } from '../../../media/sample-images.ts';

const BASE64 = PNG.toString('base64');

const body = (content: unknown, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more });

describe('chat-style request', () => {
  it('does not know a system field', () => {
    expect(parseChatRequest(body('hi', { system: 5 })).system).to.equal(undefined);
  });

  it('holds for as many tokens as are asked for, up to the most, by either name', () => {
    const rows: readonly (readonly [more: object, maxTokens: number])[] = [
      [{ max_tokens: 7, max_completion_tokens: 8 }, 7],
      [{ max_tokens: null, max_completion_tokens: 8 }, 8],
      [{ max_tokens: MAX_TOKENS_MAXIMUM + 1 }, MAX_TOKENS_MAXIMUM],
      [{ max_completion_tokens: 1e300 }, MAX_TOKENS_MAXIMUM],
      [{}, MAX_TOKENS_DEFAULT],
    ];
    for (const [more, maxTokens] of rows) expect(parseChatRequest(body('hi', more))).to.include({ maxTokens });
  });

  it('counts every message for the estimate of its input, empty ones and those of the system too', () => {
    const messages = [
      { role: 'system', content: 'a' },
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: '' },
      { role: 'user', content: 'hi' },
    ];
    expect(parseChatRequest({ model: 'm', messages })).to.include({ messageCount: 4 });
  });

  it('takes the refusal of an earlier answer for its text', () => {
    const { messages } = parseChatRequest({
      model: 'm',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, refusal: 'I cannot.' },
        { role: 'user', content: 'why?' },
        { role: 'assistant', content: 'Because.', refusal: null },
        { role: 'user', content: 'oh' },
      ],
    });
    const said = messages.map(({ content }) => content.map((part) => part.type === 'text' && part.text));
    expect(said).to.deep.equal([['hi'], ['I cannot.'], ['why?'], ['Because.'], ['oh']]);
  });

  it('streams only if it says so', () => {
    expect(parseChatRequest(body('hi', { stream: true }))).to.include({ stream: true });
    for (const stream of [undefined, null, false]) {
      expect(parseChatRequest(body('hi', { stream }))).to.include({ stream: false });
    }
  });

  it('takes cache markers wherever clients put them: on messages of any role, calls, functions and the whole request', () => {
    const marker = { type: 'ephemeral', ttl: '1h' };
    const marked = { cache_control: marker };
    const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
    const custom = { id: 'b', type: 'custom', custom: { name: 'patch', input: 'x' } };
    const { system, messages, tools } = parseChatRequest({
      model: 'm',
      messages: [
        { role: 'system', content: 's', ...marked },
        { role: 'user', content: 'hi', ...marked },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { ...call, ...marked },
            { ...custom, ...marked },
          ],
        },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'r' }], ...marked },
        { role: 'tool', tool_call_id: 'b', content: '', ...marked },
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{}' } },
        { role: 'function', name: 'look', content: 'r', ...marked },
        { role: 'user', content: 'go on' },
      ],
      tools: [
        { type: 'function', function: { name: 'look', parameters: {} }, ...marked },
        { type: 'function', function: { name: 'patch', parameters: {}, ...marked } },
      ],
      ...marked,
    });
    const said = messages.flatMap(({ content }) => content.map((part) => [part.type, 'cache' in part && part.cache]));
    const kinds = ['text', 'tool-call', 'tool-call', 'tool-result', 'tool-result', 'tool-call', 'tool-result', 'text'];
    expect(said).to.deep.equal(kinds.map((kind, at) => [kind, at === 5 ? false : { ttl: '1h' }]));
    expect(system?.map(({ cache }) => cache)).to.deep.equal([{ ttl: '1h' }]);
    expect(tools?.list.map(({ cache }) => cache)).to.deep.equal([{ ttl: '1h' }, { ttl: '1h' }]);
  });

  it('refuses a cache marker that is no object, or is for another time', () => {
    const marked = (marker: unknown) => () =>
      parseChatRequest({ model: 'm', messages: [{ role: 'user', content: 'hi', cache_control: marker }] });
    const field = 'messages[0].cache_control';
    expect(marked(5)).to.throw(`\`${field}\`: must be an object`);
    expect(marked({ type: 'ephemeral', ttl: '2h' })).to.throw(`\`${field}.ttl\`: must be one of 5m, 1h`);
    expect(marked({ type: 'lasting', ttl: '2h' })).not.to.throw();
  });

  it("takes OpenAI's explicit breakpoints as cache markers of five minutes, unless a part has a marker", () => {
    const text = (more: object) => ({ type: 'text', text: 'a', ...more });
    const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } };
    const { system, messages } = parseChatRequest({
      model: 'm',
      messages: [
        { role: 'system', content: [text(breakpoint)] },
        {
          role: 'user',
          content: [
            text(breakpoint),
            text({ ...breakpoint, cache_control: { type: 'ephemeral', ttl: '1h' } }),
            text({ prompt_cache_breakpoint: { mode: 'implicit' } }),
            text({ prompt_cache_breakpoint: null }),
          ],
        },
      ],
    });
    const caches = messages[0]?.content.map((part) => ('cache' in part ? part.cache?.ttl : undefined));
    expect(caches?.filter(Boolean)).to.deep.equal(['5m', '1h']);
    expect(system?.[0]?.cache).to.deep.equal({ ttl: '5m' });
  });

  for (const url of [
    'https://x.example/a.png',
    'HTTPS://x.example/a.png',
    `data:image/png;base64,${BASE64}`,
    `DATA:IMAGE/PNG;BASE64,${BASE64}`,
  ]) {
    it(`counts the image ${url.slice(0, 40)}`, () => {
      const detail = { url, detail: 'low' };
      expect(parseChatRequest(body([{ type: 'image_url', image_url: detail }]))).to.include({ images: 1 });
    });
  }

  it('takes the parts of the other dialect, and the URL without its object', () => {
    const source = { type: 'base64', media_type: 'image/png', data: BASE64 };
    const link = 'https://x.example/a.png';
    const content = [
      { type: 'image', source },
      { type: 'image_url', image_url: link },
    ];
    expect(parseChatRequest(body(content))).to.include({ images: 2 });
  });

  it('reads the detail of an image in its object or beside it', () => {
    const url = 'https://x.example/a.png';
    const { messages } = parseChatRequest(
      body([
        { type: 'image_url', image_url: { url, detail: 'low' }, detail: 'high' },
        { type: 'image_url', image_url: { url }, detail: 'low' },
        { type: 'image_url', image_url: url, detail: 'high' },
        { type: 'image_url', image_url: { url }, detail: 'sharp' },
      ]),
    );
    const details = messages[0]?.content.map((part) => ('detail' in part ? part.detail : undefined));
    expect(details).to.deep.equal(['low', 'low', 'high', undefined]);
  });

  it('takes a data URI of megabytes', () => {
    const url = `data:image/png;base64,${Buffer.concat([PNG, Buffer.alloc(6 * 1024 * 1024)]).toString('base64')}`;
    expect(parseChatRequest(body([{ type: 'image_url', image_url: { url } }]))).to.include({ images: 1 });
  });

  for (const image of [
    undefined,
    null,
    7,
    {},
    { url: 5 },
    { url: 'data:image/svg+xml;base64,aGk=' },
    { url: 'data:image/png;base64,aGk=' },
    { url: 'data:image/png,aGk=' },
    { url: 'data:text/html;base64,aGk=' },
    { url: ' data:image/png;base64,aGk=' },
    { url: 'javascript:alert(1)' },
  ]) {
    it(`refuses the image ${JSON.stringify(image)}`, () => {
      const content = [{ type: 'image_url', image_url: image }];
      expect(() => parseChatRequest(body(content))).to.throw(
        /^Invalid `messages\[0\]\.content\[0\]\.image_url(\.url)?`: /,
      );
    });
  }
});
