// A plugin that does by hand what `host.answer` would do for it: right as it stands, and easy to get wrong line by line.

/** For the same invented upstream as the example of `docs/providers.md`. */
export const HAND_MADE = `
let lastHalf = '';

const plugin = {
  contract: 1,
  name: 'acme',
  settings: (joi) => {
    const url = joi.string().uri({ scheme: ['http', 'https'] });
    return joi.object({
      baseUrl: url.default('https://api.acme.example/v1'),
      apiKey: joi.string().trim().required().meta({ secret: true }),
      proxy: url,
    });
  },
  create(given, host) {
    const choose = host.perRoute(given, (settings) => settings);
    return { text: (call, signal) => answer(call, signal, choose(call), host) };
  },
};

export default plugin;

async function* answer(call, signal, settings, host) {
  const response = await ask(call, signal, settings, host);
  if (response.status !== 200) {
    const text = await response.body.text().catch(() => '');
    throw host.fault.ofReply(response.status, response.headers, text);
  }
  yield [{ type: 'start' }, { type: 'block-start', index: 0, block: { type: 'text' } }];
  const state = { half: '', done: undefined };
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunks of response.body.chunks()) {
    for (const chunk of chunks) rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split('\\n');
    rest = lines.pop();
    const parts = [];
    try {
      for (const line of lines) parts.push(...readLine(line, state, host));
    } finally {
      if (parts.length > 0) yield parts;
    }
  }
  const last = readLast(rest, state, host);
  if (last.length > 0) yield last;
  // Text may follow a reason to end.
  const reason = REASONS.get(state.done) ?? 'other';
  if (state.done) yield [{ type: 'block-end', index: 0 }, { type: 'finish', reason, raw: state.done }];
}

const REASONS = new Map([['complete', 'stop'], ['limit', 'length'], ['filtered', 'filter']]);

function ask(call, signal, settings, host) {
  const messages = call.messages.map(({ role, content }) => ({ role, text: content.map(({ text }) => text).join('\\n') }));
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    auth: (key) => ({ authorization: 'Bearer ' + key }),
    body: JSON.stringify({ model: call.model, system: call.system, messages, max_tokens: call.maxTokens }),
    signal,
  };
  return host.request(settings.baseUrl + '/generate', request);
}

function readLast(line, state, host) {
  try {
    return readLine(line, state, host);
  } catch {
    return [];
  }
}

function readLine(line, state, host) {
  if (!line.startsWith('data:')) return [];
  const chunk = parse(line.slice(5), host);
  const parts = [];
  if (chunk.usage) parts.push({ type: 'usage', ...chunk.usage });
  if (chunk.error !== undefined) throw host.fault.ofComplaint(chunk, true);
  if (typeof chunk.text === 'string') parts.push(...readText(chunk.text, state));
  state.done = chunk.done ?? state.done;
  return parts;
}

function readText(fragment, state) {
  const text = state.half + fragment;
  const isHalf = /[\\ud800-\\udbff]$/.test(text);
  state.half = isHalf ? text.slice(-1) : '';
  return [{ type: 'block-delta', index: 0, text: isHalf ? text.slice(0, -1) : text }];
}

function parse(data, host) {
  try {
    return JSON.parse(data) ?? {};
  } catch {
    throw host.fault.make('protocol', 'an event is not JSON: ' + data);
  }
}
`;
