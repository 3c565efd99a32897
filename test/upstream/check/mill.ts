// A small good plugin for an invented upstream with text, tools, images and videos, and the fewest recordings that the
// suite asks for: what defects are seeded into.
import { createSampleImage } from '../../../lib/upstream/check/sample-image.ts';

export const MILL = `
const REASONS = new Map([['complete', 'stop'], ['limit', 'length'], ['filtered', 'filter'], ['call', 'tool']]);
const STATES = new Map([['waiting', 'queued'], ['running', 'processing'], ['done', 'completed'], ['failed', 'failed']]);

export default {
  contract: 2,
  name: 'mill',
  settings: (_joi, account) => account('https://api.mill.example/v1'),
  faultWords: { content: 'bad_manners', quota: 'purse_empty' },
  create(settings, host) {
    const at = host.perRoute(settings, (settings) => (path) => settings.baseUrl + path);
    const json = { 'content-type': 'application/json' };
    const post = (body, signal) => ({ method: 'POST', headers: json, auth: host.bearer, body: JSON.stringify(body), signal, ...long });
    const long = { eventCharsMax: 4 * 1024 * 1024 };
    const get = (signal) => ({ method: 'GET', auth: host.bearer, signal });

    function readerOf() {
      return {
        take({ text, thought, state, page, drawn, call, usage, done, trouble }, out) {
          if (trouble) throw host.fault.ofComplaint({ error: trouble }, true);
          if (thought) out.reasoning(thought);
          if (state) out.state({ format: 'mill', value: state });
          if (text) out.text(text);
          if (page) out.cite({ url: page });
          if (drawn) out.image({ base64: drawn });
          if (call) out.tool({ block: call.at, id: call.id, name: call.name, json: call.json });
          if (usage) out.usage(usage);
          if (done) out.finish(REASONS.get(done) ?? 'other', done);
        },
      };
    }

    function write(part) {
      switch (part.type) {
        case 'image': return { image: Buffer.from(part.bytes).toString('base64') };
        case 'reasoning': return { thought: part.text, state: part.state?.value };
        case 'tool-call': return { call: part.id, name: part.name, json: part.json };
        case 'tool-result': return { result: part.id, text: host.textOf(part.content), failed: part.isError };
        default: return undefined;
      }
    }

    async function* answer(call, signal) {
      const urlOf = at(call);
      const messages = call.messages.map(({ role, content }) => ({ role, text: host.textOf(content), more: content.map(write) }));
      const system = call.system && host.textOf(call.system);
      const { list: tools, choice } = call.tools ?? {};
      const body = { model: call.model, system, messages, max_tokens: call.maxTokens, tools, choice };
      yield* host.answer(urlOf('/generate'), post(body, signal), readerOf());
    }

    async function draw(call, signal) {
      const { model, prompt } = call;
      if (call.images.length > 0) throw host.fault.make('request', 'takes no references');
      const urlOf = at(call);
      const { value } = await host.json(urlOf('/images'), post({ model, prompt }, signal));
      const { job } = host.fields(value);
      if (typeof job !== 'string') throw host.fault.make('protocol', 'no job');
      const ask = async () => {
        const { value } = await host.json(urlOf('/images/' + job), get(signal));
        const { state, base64, why } = host.fields(value);
        if (state === 'failed') throw host.fault.ofComplaint({ error: why }, true);
        return typeof base64 === 'string' ? { value: base64 } : {};
      };
      const base64 = await host.poll({ ask, everyMs: 1000, signal });
      return { images: [{ bytes: Buffer.from(base64, 'base64') }] };
    }

    async function start(call, signal) {
      const { model, prompt, seconds, resolution, image } = call;
      const urlOf = at(call);
      const frame = image && Buffer.from(image.bytes).toString('base64');
      const film = { model, prompt, seconds, resolution, frame };
      const { value } = await host.json(urlOf('/films'), post(film, signal));
      const { id } = host.fields(value);
      if (typeof id !== 'string') throw host.fault.make('protocol', 'no id');
      return { id };
    }

    async function poll({ id }, signal) {
      const urlOf = at({ model: '', options: {} });
      const { value } = await host.json(urlOf('/films/' + id), get(signal));
      const { state, url, why } = host.fields(value);
      const status = STATES.get(state) ?? 'processing';
      if (status === 'failed') return { status, fault: host.fault.ofComplaint({ error: why }, true) };
      return status === 'completed' ? { status, result: { url } } : { status };
    }

    return { tools: true, stateFormat: 'mill', text: answer, image: draw, video: { start, poll } };
  },
};
`;

const source = 'https://docs.mill.example/answers';

const data = (...events: readonly object[]) => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''),
});

const usage = { input: 9, output: 4 };

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const started = [{ json: { job: 'p1' } }, { json: { state: 'running' } }];
const film = { kind: 'video', source, reply: { json: { id: 'f1' } } };

const SAMPLE = Buffer.from(createSampleImage('png').bytes).toString('base64');

/** Beyond what the suite asks for. */
export const CITING = {
  name: 'an answer that names its page',
  source,
  reply: data({ text: 'Hello.' }, { page: 'https://example.com' }, { done: 'complete' }, { usage }),
  expect: { text: 'Hello.', finish: 'stop', citations: [{ url: 'https://example.com' }] },
};

export const DRAWING = {
  name: 'an answer with an image',
  source,
  reply: data({ text: 'Hello.' }, { drawn: SAMPLE }, { done: 'complete' }, { usage }),
  expect: { text: 'Hello.', finish: 'stop', images: [{ type: 'png', size: Buffer.from(SAMPLE, 'base64').length }] },
};

/** What the suite asks for, and nothing more. */
export const RECORDINGS = [
  {
    name: 'an ordinary answer',
    source,
    reply: data({ text: 'Hello, ' }, { text: 'мир 😀' }, { done: 'complete' }, { usage }),
    expect: {
      text: 'Hello, мир 😀',
      finish: 'stop',
      usage,
      path: '/v1/generate',
      request: { model: 'm', messages: [{ role: 'user', text: 'Hi' }], max_tokens: 100 },
    },
  },
  {
    name: 'a call of a tool',
    source,
    call: { tools: { list: [{ name: 'look' }] } },
    reply: data(
      { call: { at: 0, id: 'call_1', name: 'look', json: '{"at":"the ' } },
      { call: { at: 0, json: 'blue sky"}' } },
      { done: 'call' },
      { usage },
    ),
    expect: { finish: 'tool', tools: [{ id: 'call_1', name: 'look', json: '{"at":"the blue sky"}' }] },
  },
  {
    name: 'an answer that reaches the limit',
    source,
    reply: data({ text: 'Hel' }, { done: 'limit' }, { usage }),
    expect: { text: 'Hel', finish: 'length' },
  },
  {
    name: 'an answer that is filtered',
    source,
    reply: data({ text: 'Hel' }, { done: 'filtered' }, { usage }),
    expect: { text: 'Hel', finish: 'filter' },
  },
  {
    name: 'an error behind the first words',
    source,
    reply: data(
      { text: 'Hel' },
      { trouble: { code: 'overloaded', message: 'Try again later.' } },
      { done: 'complete' },
    ),
    expect: { text: 'Hel', fault: 'overloaded' },
  },
  {
    kind: 'image',
    name: 'an image',
    source,
    before: started,
    reply: { json: { state: 'done', base64: PIXEL } },
    expect: { images: [{ type: 'png' }], path: '/v1/images/p1', request: null },
  },
  {
    kind: 'image',
    name: 'an image that fails',
    source,
    before: started,
    reply: { json: { state: 'failed', why: { code: 'server_error', message: 'Out of paint.' } } },
    expect: { fault: 'server' },
  },
  {
    kind: 'image',
    name: 'a prompt that is refused',
    source,
    reply: { status: 400, json: { error: { code: 'bad_manners', message: 'Be kind.' } } },
    expect: { fault: 'request', about: 'content' },
  },
  {
    ...film,
    name: 'a film',
    polls: [
      { json: { state: 'waiting' } },
      { json: { state: 'running' } },
      { json: { state: 'done', url: 'https://cdn.mill.example/f1.mp4' } },
    ],
    expect: {
      path: '/v1/films',
      request: { model: 'm', prompt: 'A red square turns', seconds: 5, resolution: '720p' },
      states: [
        { status: 'queued' },
        { status: 'processing' },
        { status: 'completed', result: { url: 'https://cdn.mill.example/f1.mp4' } },
      ],
    },
  },
  {
    ...film,
    name: 'a film that fails',
    polls: [{ json: { state: 'failed', why: { code: 'server_error', message: 'The reel broke.' } } }],
    expect: { states: [{ status: 'failed', fault: 'server' }] },
  },
  {
    ...film,
    name: 'a film that the rules refuse',
    polls: [{ json: { state: 'failed', why: { code: 'bad_manners', message: 'Be kind.' } } }],
    expect: { states: [{ status: 'failed', fault: 'request', about: 'content' }] },
  },
];

/** Beyond that: what shows more defects. */
export const MORE_RECORDINGS = [
  {
    name: 'a thought',
    source,
    reply: data({ thought: 'Hm.' }, { state: 'c2lnbmVk' }, { text: 'Hello.' }, { done: 'complete' }, { usage }),
    expect: { reasoning: 'Hm.', state: [{ format: 'mill', value: 'c2lnbmVk' }], text: 'Hello.', finish: 'stop' },
  },
  {
    name: 'an image in a message',
    source,
    call: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'image', image: 'png' },
          ],
        },
      ],
    },
    reply: data({ text: 'Red.' }, { done: 'complete' }, { usage }),
    expect: { text: 'Red.', finish: 'stop' },
  },
];
