// The exchanges that test/contract/wire records: requests, and what the upstream answers.
import { CHAT, MESSAGES, RESPONSES, sayFor } from '../../../testkit/client.ts';
import { answerStatus, type Behaviour, chatAnswer, SSE } from '../../../testkit/upstream.ts';

export interface Case {
  readonly name: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Another key than that of the case's account; false for none. */
  readonly key?: string | false;
  readonly body?: unknown;
  /** What the account has, in RUB. */
  readonly rub?: string;
  readonly answer?: Behaviour;
  /** It starts a video whose end later cases want to see. */
  readonly waits?: boolean;
}

const EMBEDDINGS = '/api/v1/embeddings';
const GENERATIONS = '/api/v1/images/generations';
const EDITS = '/api/v1/images/edits';
const VIDEOS = '/api/v1/videos';
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Text models on the test's upstream, images and videos of the sandbox. */
export function wireCatalog(url: string): object {
  const text = { type: 'text', provider: 'Test', price: { input: '1000', output: '5000' } };
  const abilities = { tools: true, json: true, schema: true, reasoning: true };
  return {
    upstreams: {
      up: { plugin: 'openai-compatible', settings: { baseUrl: `${url}/v1`, apiKey: 'up-secret-key-1' } },
      sandbox: { plugin: 'sandbox', sandbox: true, settings: { videoMs: 50 } },
    },
    models: [
      { ...text, id: 'model-a', routes: [{ upstream: 'up', model: 'up-model' }], ...abilities },
      { ...text, id: 'buffered-a', routes: [{ upstream: 'up', model: 'up-model' }], delivery: 'buffered' },
      { ...text, id: 'seeing', routes: [{ upstream: 'up', model: 'up-model' }], vision: true },
      {
        id: 'vector-a',
        type: 'embedding',
        provider: 'Test',
        routes: [{ upstream: 'sandbox', model: 'embedding' }],
        price: { input: '1000' },
        dimensions: { default: 256, min: 1, max: 256 },
        maxInputs: 2,
      },
      {
        id: 'image-a',
        type: 'image',
        provider: 'Test',
        routes: [{ upstream: 'sandbox', model: 'image' }],
        price: { request: '10' },
        edits: true,
      },
      {
        id: 'film-a',
        type: 'video',
        provider: 'Test',
        routes: [{ upstream: 'sandbox', model: 'film' }],
        price: { second: { '720p': '8', '1080p': '15' } },
      },
    ],
    smart: { lite: 'model-a', standard: 'model-a', heavy: 'model-a' },
    vision: ['seeing'],
    defaults: { image: ['image-a'], edit: ['image-a'] },
    retired: { 'old-a': 'model-a' },
  };
}

function chunk(delta: object, more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'up_1', model: 'up-model', choices: [{ index: 0, delta, ...more }] })}\n\n`;
}

/** A stream that arrives in one piece. */
function streamed(...events: readonly string[]): Behaviour {
  return ({ response }) => void response.writeHead(200, SSE).end(events.join(''));
}

function end(reason: string, usage: object): string {
  return `${chunk({}, { finish_reason: reason })}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

const USAGE = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
const TOOL = { description: 'The weather of a city', properties: { city: { type: 'string' } } };

const callWeather = streamed(
  chunk({ content: 'Let me look.' }),
  chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'weather', arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: '"Perm"}' } }] }),
  chunk({ tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'weather', arguments: '{}' } }] }),
  end('tool_calls', USAGE),
);

const think = streamed(
  chunk({ reasoning_content: 'They greet me. ' }),
  chunk({ reasoning_content: 'I greet back.' }),
  chunk({ content: 'Hello!' }),
  end('stop', { ...USAGE, completion_tokens_details: { reasoning_tokens: 4 } }),
);

const cached = streamed(
  chunk({ content: 'Hello again.' }),
  end('stop', { ...USAGE, prompt_tokens: 1200, prompt_tokens_details: { cached_tokens: 1024 } }),
);

const breakOff: Behaviour = ({ response }) => {
  response.writeHead(200, SSE).write(chunk({ content: 'Hello' }));
  setTimeout(() => response.destroy(), 50);
};

const drawPixel = (url: string) =>
  streamed(
    chunk({ content: 'A dot:' }),
    chunk({ images: [{ type: 'image_url', image_url: { url } }] }),
    end('stop', { ...USAGE, completion_tokens: 1290, total_tokens: 1302 }),
  );

function messageTools(): object {
  return {
    tools: [
      { name: 'weather', description: TOOL.description, input_schema: { type: 'object', properties: TOOL.properties } },
    ],
  };
}

function chatTools(): object {
  const parameters = { type: 'object', properties: TOOL.properties };
  return { tools: [{ type: 'function', function: { name: 'weather', description: TOOL.description, parameters } }] };
}

function responsesTools(): object {
  const parameters = { type: 'object', properties: TOOL.properties };
  return { tools: [{ type: 'function', name: 'weather', description: TOOL.description, parameters }] };
}

function hello(more: object = {}): object {
  return { model: 'model-a', max_tokens: 100, messages: [{ role: 'user', content: 'Hello, who are you?' }], ...more };
}

interface TextCase {
  readonly name: string;
  readonly answer: Behaviour;
  readonly body?: object;
  readonly message?: object;
  readonly chat?: object;
  readonly responses?: object;
}

const seen = [{ type: 'text', text: 'What is this?' }];

const TEXT: readonly TextCase[] = [
  { name: 'an answer', answer: chatAnswer('Hello, мир 😀.') },
  { name: 'an answer cut at max_tokens', answer: streamed(chunk({ content: 'Hello' }), end('length', USAGE)) },
  { name: 'a filtered answer', answer: streamed(chunk({ content: 'Hel' }), end('content_filter', USAGE)) },
  {
    name: 'two tool calls after text',
    answer: callWeather,
    message: messageTools(),
    chat: chatTools(),
    responses: responsesTools(),
  },
  {
    name: 'an answer after thoughts',
    answer: think,
    message: { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2048 },
    chat: { reasoning_effort: 'low', max_tokens: 2048 },
    responses: { reasoning: { effort: 'low', summary: 'auto' }, max_tokens: 2048 },
  },
  { name: 'cached input', answer: cached },
  {
    name: 'a stop string across fragments',
    answer: streamed(chunk({ content: 'one tw' }), chunk({ content: 'o three' }), end('stop', USAGE)),
    message: { stop_sequences: ['two'] },
    chat: { stop: 'two' },
    responses: { stop: 'two' },
  },
  { name: 'a choice by smart', answer: chatAnswer('Bonjour.'), body: { model: 'smart' } },
  { name: 'a buffered model without usage', answer: chatAnswer('Buffered words.'), body: { model: 'buffered-a' } },
  { name: 'an answer with an image', answer: drawPixel(PIXEL), body: { max_tokens: 2000 } },
  { name: 'an answer with a broken image', answer: drawPixel(PIXEL.slice(0, -20)) },
  {
    name: 'an image for a vision model',
    answer: chatAnswer('A dot.', { input: 9, output: 3 }),
    message: {
      messages: [
        {
          role: 'user',
          content: [
            ...seen,
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL.slice(22) } },
          ],
        },
      ],
    },
    chat: { messages: [{ role: 'user', content: [...seen, { type: 'image_url', image_url: { url: PIXEL } }] }] },
    responses: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: PIXEL },
          ],
        },
      ],
    },
  },
  { name: 'an empty answer', answer: streamed(end('stop', { ...USAGE, completion_tokens: 0 })) },
  { name: 'a provider that fails', answer: answerStatus(500) },
  {
    name: 'a provider that refuses the content',
    answer: answerStatus(400, { error: { code: 'content_policy_violation', message: 'no' } }),
  },
  { name: 'an answer that breaks off', answer: breakOff },
];

/** Every text case, as one body and as a stream. */
function textCases(path: string, part: 'message' | 'chat' | 'responses'): readonly Case[] {
  return TEXT.flatMap(({ name, answer, ...more }) =>
    [false, true].map((stream) => ({
      name: stream ? `${name}, streamed` : name,
      path,
      answer,
      body: sayFor(path, hello({ ...more.body, ...more[part], ...(stream && { stream }) })),
    })),
  );
}

/** What is refused before an upstream is asked. */
function refusals(path: string, body: (more?: object) => object): readonly Case[] {
  return [
    { name: 'no key', path, key: false, body: body() },
    { name: 'an unknown key', path, key: 'tg-sk-nothing', body: body() },
    { name: 'an empty wallet', path, rub: '0', body: body() },
    { name: 'not JSON', path, body: '{"model":' },
    { name: 'another content type', path, headers: { 'content-type': 'text/plain' }, body: 'hello' },
    { name: 'an unknown model', path, body: body({ model: 'modle-a' }) },
    { name: 'a wrong method', path, method: 'PUT', body: body() },
  ];
}

const text = [MESSAGES, CHAT].flatMap((path) => [
  ...refusals(path, hello),
  { name: 'no messages', path, body: { model: 'model-a', max_tokens: 10 } },
  { name: 'a field of the wrong type', path, body: hello({ stream: 'true' }) },
  { name: 'a retired model', path, body: hello({ model: 'old-a' }) },
]);

const drawing = (more: object = {}) => ({ prompt: 'A red square', ...more });
const filming = (more: object = {}) => ({
  model: 'film-a',
  prompt: 'A red square turns',
  seconds: 5,
  resolution: '720p',
  ...more,
});

const images: readonly Case[] = [
  { name: 'a generation', path: GENERATIONS, body: drawing({ size: '1024x1024' }) },
  { name: 'an edit', path: EDITS, body: drawing({ image: PIXEL }) },
  { name: 'a generation that fails', path: GENERATIONS, body: drawing({ prompt: '[[fail]]' }) },
  { name: 'a refused prompt', path: GENERATIONS, body: drawing({ prompt: '[[refuse]]' }) },
  { name: 'a result without an image', path: EDITS, body: drawing({ prompt: '[[empty]]', image: PIXEL }) },
  { name: 'an undecodable result', path: GENERATIONS, body: drawing({ prompt: '[[undecodable]]' }) },
  { name: 'an unlisted size', path: GENERATIONS, body: drawing({ size: '10x10' }) },
  { name: 'an edit without an image', path: EDITS, body: drawing() },
  { name: 'an address that is not public', path: EDITS, body: drawing({ image: 'https://127.0.0.1/a.png' }) },
  ...refusals(GENERATIONS, drawing).filter(({ name }) => name !== 'an unknown model'),
];

const videos: readonly Case[] = [
  { name: 'a start', path: VIDEOS, body: filming(), waits: true },
  { name: 'a completed video', path: `${VIDEOS}?id={video}` },
  { name: 'a start of one that will fail', path: VIDEOS, body: filming({ prompt: '[[fail]]' }), waits: true },
  { name: 'a failed video', path: `${VIDEOS}?id={video}` },
  { name: 'a start that fails', path: VIDEOS, body: filming({ prompt: '[[fail-start]]' }) },
  { name: 'a resolution that is not sold', path: VIDEOS, body: filming({ resolution: '8k' }) },
  { name: 'no prompt', path: VIDEOS, body: { model: 'film-a' } },
  { name: 'an unknown video', path: `${VIDEOS}?id=vid_unknown` },
  { name: 'no id', path: VIDEOS },
  ...refusals(VIDEOS, filming),
];

const embedding = (more: object = {}) => ({ model: 'vector-a', input: 'A red square', dimensions: 4, ...more });

const embeddings: readonly Case[] = [
  { name: 'one text', path: EMBEDDINGS, body: embedding() },
  { name: 'two texts in base64', path: EMBEDDINGS, body: embedding({ input: ['a', 'b'], encoding_format: 'base64' }) },
  { name: 'a call that fails', path: EMBEDDINGS, body: embedding({ input: '[[fail]]' }) },
  { name: 'a refused text', path: EMBEDDINGS, body: embedding({ input: '[[refuse]]' }) },
  { name: 'too few vectors', path: EMBEDDINGS, body: embedding({ input: '[[empty]]' }) },
  { name: 'vectors that are none', path: EMBEDDINGS, body: embedding({ input: '[[undecodable]]' }) },
  { name: 'too many texts', path: EMBEDDINGS, body: embedding({ input: ['a', 'b', 'c'] }) },
  { name: 'tokens', path: EMBEDDINGS, body: embedding({ input: [1, 2] }) },
  { name: 'an empty text', path: EMBEDDINGS, body: embedding({ input: ['a', ''] }) },
  { name: 'a length that is not offered', path: EMBEDDINGS, body: embedding({ dimensions: 512 }) },
  { name: 'a text model', path: EMBEDDINGS, body: embedding({ model: 'model-a' }) },
  { name: 'smart', path: EMBEDDINGS, body: embedding({ model: 'smart' }) },
  { name: 'a retired model', path: EMBEDDINGS, body: embedding({ model: 'old-a' }) },
  ...refusals(EMBEDDINGS, embedding),
];

const others: readonly Case[] = [
  { name: 'the models', path: '/api/v1/models' },
  { name: 'one model', path: '/api/v1/models/model-a' },
  { name: 'an unknown model', path: '/api/v1/models/nothing' },
  { name: 'a balance', path: '/api/v1/balance' },
  { name: 'counted tokens', path: '/api/v1/messages/count_tokens', body: hello() },
  { name: 'counted tokens of a response', path: '/api/v1/responses/input_tokens', body: hello() },
  { name: 'an unknown path', path: '/api/v1/nothing' },
  { name: 'a wrong base address', path: '/v1/messages', body: hello() },
];

export const GROUPS: readonly (readonly [name: string, cases: readonly Case[]])[] = [
  ['messages', textCases(MESSAGES, 'message')],
  ['chat', textCases(CHAT, 'chat')],
  ['responses', textCases(RESPONSES, 'responses')],
  ['text-refusals', text],
  ['embeddings', embeddings],
  ['images', images],
  ['videos', videos],
  ['others', others],
];
