// What a recording may say, and what it says where it leaves something out.
import { expect } from 'chai';
import { parseRecording } from '../../../lib/upstream/check/recording.ts';
import { createSampleImage } from '../../../lib/upstream/check/sample-image.ts';

const NAMED = { name: 'an answer', source: 'https://docs.example.com' };
const FINISHED = { expect: { finish: 'stop' } };
const parse = (entry: object) => parseRecording({ ...NAMED, reply: {}, ...FINISHED, ...entry }, 'answers.json');

const CACHE = { cache: { ttl: '1h' } };
const STATE = { state: { format: 'chat', value: 's' } };
const PARTS = [
  { type: 'text', text: '', citations: [{ url: 'https://example.com', more: 1 }], ...CACHE },
  { type: 'tool-reference', name: 'look', ...CACHE },
  { type: 'reasoning', text: '', redacted: true, ...STATE },
  { type: 'tool-call', id: 'a', name: 'look', json: '', isCustom: true, ...STATE, ...CACHE },
];
/** Every member of a call but its messages. */
const CALL = {
  model: 'big',
  system: [{ type: 'text', text: 'Be short.', ...CACHE }],
  maxTokens: 32_768,
  format: { type: 'json-schema', schema: { any: 1 }, name: 'n', description: 'd', strict: true },
  reasoning: { mode: 'on', effort: 'xhigh', budgetTokens: 1024, display: 'omitted', isShown: true },
  tools: {
    list: [
      {
        name: 'look',
        description: 'd',
        schema: { type: 'object' },
        strict: false,
        custom: { description: 'd', format: { type: 'text' } },
        messageFields: { defer_loading: true },
        isPredefined: true,
        ...CACHE,
      },
    ],
    choice: { name: 'look' },
    single: true,
  },
  sampling: { temperature: 2, topP: 1, topK: 40, seed: 7, presencePenalty: -2, frequencyPenalty: 2 },
  mayReason: true,
  stops: ['x'],
  cacheKey: 'k',
  cacheRetention: '24h',
  messageFields: { speed: 'fast' },
  betas: ['b'],
  conversation: 'c',
};

describe('a recording', () => {
  it('of a text may say every member of its call', () => {
    const messages = [{ role: 'assistant', content: PARTS }];
    expect(parse({ call: { ...CALL, messages } }).call).to.deep.equal({ ...CALL, messages });
  });

  it('has the bytes of the images and files that it names', () => {
    const bytes = Uint8Array.from(Buffer.from('Hi'));
    const files = [
      { type: 'image', image: 'gif', ...CACHE },
      { type: 'image', picture: 'gif' },
      { type: 'document', mediaType: 'text/plain', text: 'Hi', name: 'a.txt', citations: true, ...CACHE },
      { type: 'document', mediaType: 'text/plain', pieces: ['H', 'i'] },
      { type: 'audio', mediaType: 'audio/wav', base64: 'SGk=', ...CACHE },
    ];
    const whole = [
      { type: 'image', ...createSampleImage('gif'), ...CACHE },
      { type: 'image', ...createSampleImage('gif') },
      { type: 'document', mediaType: 'text/plain', bytes, name: 'a.txt', citations: true, ...CACHE },
      { type: 'document', mediaType: 'text/plain', bytes, pieces: ['H', 'i'] },
      { type: 'audio', mediaType: 'audio/wav', bytes, ...CACHE },
    ];
    const result = { type: 'tool-result', id: 'a', name: 'look', ...CACHE };
    const content = [...files, { ...result, content: files.slice(0, 4) }];
    const { call } = parse({ call: { system: 'Be short.', messages: [{ role: 'user', content }] } });
    expect(call).to.deep.include({
      system: [{ type: 'text', text: 'Be short.' }],
      messages: [{ role: 'user', content: [...whole, { ...result, isError: false, content: whole.slice(0, 4) }] }],
    });
  });

  it('has defaults for what it leaves out', () => {
    const reply = { status: 200, headers: {}, body: Buffer.from(''), asked: {} };
    expect(parse({})).to.deep.equal({
      ...NAMED,
      ...FINISHED,
      kind: 'text',
      settings: {},
      options: {},
      before: [],
      reply,
      call: { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }], maxTokens: 100 },
    });
    const failed = { reply: {}, expect: { fault: 'server' } };
    expect(parse({ kind: 'embed', ...failed }).call).to.deep.equal({ model: 'm', inputs: ['Hi'] });
    expect(parse({ kind: 'image', ...failed }).call).to.deep.equal({ model: 'm', prompt: 'A red square', images: [] });
    const film = parse({ kind: 'video', ...failed });
    expect(film).to.deep.include({
      polls: [],
      call: {
        model: 'm',
        prompt: 'A red square turns',
        seconds: 5,
        size: { width: 1280, height: 720 },
        aspect: '16:9',
        resolution: '720p',
      },
    });
    const bare = { call: { tools: { list: [{ name: 'f' }] } } };
    expect(parse(bare).call).to.deep.include({
      tools: { list: [{ name: 'f', schema: { type: 'object', properties: {} } }] },
    });
  });

  it('has replies as they are sent, and what was asked for each', () => {
    const asked = { method: 'POST', path: '/v1', headers: { 'x-a': '1' } };
    const {
      before,
      reply,
      expect: expected,
    } = parse({
      before: [
        { status: 401, headers: { 'retry-after': '1' }, body: 'no', asked, end: 'reset' },
        { bodyBase64: 'AAE=' },
      ],
      reply: { json: { a: 1 }, headers: { 'content-type': 'text/plain' } },
      expect: { finish: 'stop', ...asked, request: null },
    });
    expect(before).to.deep.equal([
      { status: 401, headers: { 'retry-after': '1' }, body: Buffer.from('no'), asked, end: 'reset' },
      { status: 200, headers: {}, body: Buffer.from([0, 1]) },
    ]);
    expect(reply).to.deep.equal({
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('{"a":1}'),
      asked: { ...asked, request: null },
    });
    expect(expected).to.deep.equal({ finish: 'stop' });
    expect(parse({ reply: { json: [] } }).reply.headers).to.deep.equal({ 'content-type': 'application/json' });
    expect(parse({ reply: { awsEvents: [{ event: 'e' }] } }).reply.headers).to.deep.equal({
      'content-type': 'application/vnd.amazon.eventstream',
    });
  });

  it('of a video has one answer or several to each poll', () => {
    const video = { kind: 'video', reply: undefined, ref: { id: 'a', url: 'u' }, expect: { states: [] } };
    const { polls, cancel, ref } = parse({
      ...video,
      polls: [{ body: 'a' }, [{ body: 'b' }, { body: 'c' }]],
      cancel: { body: 'd' },
    }) as {
      polls?: readonly (readonly { body: Buffer }[])[];
      cancel?: { body: Buffer };
      ref?: object;
    };
    expect(polls?.map((replies) => replies.map(({ body }) => `${body}`))).to.deep.equal([['a'], ['b', 'c']]);
    expect(`${cancel?.body}`).to.equal('d');
    expect(ref).to.deep.equal({ id: 'a', url: 'u' });
  });

  for (const [what, entry] of Object.entries({
    'is of no known kind': { kind: 'toString' },
    'has no name': { name: undefined },
    'has no source': { source: undefined },
    'says what no recording says': { more: 1 },
    'has no reply': { reply: undefined },
    'has two bodies': { reply: { body: '', json: {} } },
    'has a status of something else than a reply': { reply: { status: 199 } },
    'names a header of a request in capitals': { expect: { finish: 'stop', headers: { 'X-A': '1' } } },
    'expects neither an end nor a fault': { expect: { text: '' } },
    'expects both': { expect: { finish: 'stop', fault: 'server' } },
    'expects a fault that there is not': { expect: { fault: 'bad' } },
    'expects another cause than there is': { expect: { fault: 'request', about: 'money' } },
    'expects usage without output': { expect: { finish: 'stop', usage: { input: 1 } } },
    'expects usage without input': { expect: { finish: 'stop', usage: { output: 1 } } },
    'expects a count of none that may be left out': {
      expect: { finish: 'stop', usage: { input: 1, output: 1, audio: 0 } },
    },
    'has a case that there is not': { case: 'late' },
    'expects vectors without a count': { kind: 'embed', expect: { vectors: [] } },
    'expects a size without a type': { kind: 'image', expect: { images: [{ url: 'u', size: 1 }] } },
    'expects bytes at an address': { kind: 'image', expect: { images: [{ url: 'u', type: 'png' }] } },
    'has a job that is started and given': { kind: 'video', ref: { id: 'a' }, expect: { states: [] } },
    'has a job that is neither': { kind: 'video', reply: undefined, expect: { states: [] } },
    'has a job without its id': { kind: 'video', reply: undefined, ref: { url: 'u' }, expect: { states: [] } },
    'expects a state of neither a job nor a poll': { kind: 'video', expect: { states: [{ progress: 1 }] } },
    'asks for too many tokens': { call: { maxTokens: 32_769 } },
    'asks for no token': { call: { maxTokens: 0 } },
    'asks for parts of a token': { call: { maxTokens: 1.5 } },
    'has no message': { call: { messages: [] } },
    'has a message of nobody': { call: { messages: [{ role: 'tool', content: [{ type: 'text', text: '' }] }] } },
    'has an empty message': { call: { messages: [{ role: 'user', content: [] }] } },
    'has content of no type': { call: { messages: [{ role: 'user', content: [{ type: 'film' }] }] } },
    'has a document twice': {
      call: { messages: [{ role: 'user', content: [{ type: 'document', mediaType: 'a/b', text: '', base64: '' }] }] },
    },
    'has audio of nothing': { call: { messages: [{ role: 'user', content: [{ type: 'audio', mediaType: 'a/b' }] }] } },
    'has an empty list of tools': { call: { tools: { list: [] } } },
    'has a temperature of 2.1': { call: { sampling: { temperature: 2.1 } } },
    'has a penalty below the least': { call: { sampling: { presencePenalty: -2.1 } } },
    'has a penalty above the most': { call: { sampling: { frequencyPenalty: 2.1 } } },
    'has a probability above one': { call: { sampling: { topP: 1.1 } } },
    'has too small a budget': { call: { reasoning: { mode: 'on', budgetTokens: 1023 } } },
    'has more references than a call may': {
      kind: 'image',
      call: { images: Array(5).fill('png') },
      expect: { images: [] },
    },
  })) {
    it(`is refused where it ${what}`, () => {
      expect(() => parse(entry)).to.throw(/^answers\.json: /);
    });
  }
});
