// What a long conversation costs: as much more as it is longer, whatever it is made of and whichever upstream gets it.
import { expect } from 'chai';
import { CHAT, MESSAGES, RESPONSES, send } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { answerStatus, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const SHORT = 3_000;
const TIMES = 4;
/** What is quadratic takes 16 times as much. */
const TIMES_MAX = 9;
/** Other work on the machine disturbs some. */
const LOOKS = 3;
/** Of which a short conversation may have some more or less than a long one. */
const NOISE_MS = 150;

const user = { role: 'user', content: 'x' };
const answer = { role: 'assistant', content: 'x' };
const text = { type: 'text', text: 'x' };
const thought = { type: 'thinking', thinking: 'x', signature: 'abc' };
const marked = { ...text, cache_control: { type: 'ephemeral' } };
const chatCall = (at: number) => ({ id: `a${at}`, type: 'function', function: { name: 'f', arguments: '{}' } });
const chatResult = (at: number) => ({ role: 'tool', tool_call_id: `a${at}`, content: 'x' });
const calls = (list: readonly object[]) => ({ role: 'assistant', content: null, tool_calls: list });
const use = (at: number) => ({ type: 'tool_use', id: `a${at}`, name: 'f', input: {} });
const result = (at: number) => ({ type: 'tool_result', tool_use_id: `a${at}`, content: 'x' });
const item = (at: number) => ({ type: 'function_call', call_id: `a${at}`, name: 'f', arguments: '{}' });
const output = (at: number) => ({ type: 'function_call_output', call_id: `a${at}`, output: 'x' });
const reasoning = {
  type: 'reasoning',
  id: 'r',
  summary: [{ type: 'summary_text', text: 'x' }],
  encrypted_content: 'a',
};
const compaction = { type: 'compaction', id: 'r', encrypted_content: 'a' };

function repeat(times: number, ...makers: readonly ((at: number) => object)[]): readonly object[] {
  return Array.from({ length: times }, (_, at) => makers.map((make) => make(at))).flat();
}

/** What comes before the last message of the user. */
const HISTORIES: readonly (readonly [name: string, path: string, make: (times: number) => readonly object[]])[] = [
  ['messages of the user', CHAT, (times) => repeat(times, () => user)],
  [
    'turns',
    MESSAGES,
    (times) =>
      repeat(
        times,
        () => user,
        () => answer,
      ),
  ],
  ['messages of the system', CHAT, (times) => [user, ...repeat(times, () => ({ role: 'system', content: 'x' }))]],
  ['blocks', MESSAGES, (times) => [{ role: 'user', content: repeat(times, () => marked) }, answer]],
  ['thoughts', MESSAGES, (times) => [user, { role: 'assistant', content: [...repeat(times, () => thought), text] }]],
  ['rounds of a call', CHAT, (times) => [user, ...repeat(times, (at) => calls([chatCall(at)]), chatResult)]],
  [
    'calls with one id',
    CHAT,
    (times) => [
      user,
      ...repeat(
        times,
        () => calls([chatCall(0)]),
        () => chatResult(0),
      ),
    ],
  ],
  ['parallel calls', CHAT, (times) => [user, calls(repeat(times, chatCall)), ...repeat(times, chatResult)]],
  [
    'results between messages',
    CHAT,
    (times) => [user, calls(repeat(times, chatCall)), ...repeat(times, chatResult, () => user)],
  ],
  [
    'blocks of calls',
    MESSAGES,
    (times) => [
      user,
      { role: 'assistant', content: repeat(times, use) },
      { role: 'user', content: repeat(times, result) },
    ],
  ],
  ['items of calls', RESPONSES, (times) => [user, ...repeat(times, item), ...repeat(times, output)]],
  ['items of rounds', RESPONSES, (times) => [user, ...repeat(times, item, output)]],
  ['items of reasoning', RESPONSES, (times) => [user, ...repeat(times, () => reasoning), answer]],
  ['items of answers', RESPONSES, (times) => [user, ...repeat(times, () => answer)]],
  ['compactions', RESPONSES, (times) => [user, ...repeat(times, () => compaction)]],
];

const PLUGINS = {
  chat: { plugin: 'openai-compatible', path: '/v1', settings: {} },
  fitted: {
    plugin: 'openai-compatible',
    path: '/v1',
    settings: { history: 'mistral', toolReasoning: 'blank', cacheMarkers: 'send', systemMessages: 'in_place' },
  },
  message: { plugin: 'anthropic', path: '', settings: {} },
  contents: { plugin: 'gemini', path: '/v1beta', settings: {} },
  responses: { plugin: 'openai-responses', path: '/v1', settings: {} },
  yandex: { plugin: 'yandex', path: '', settings: { folder: 'f' } },
  bedrock: { plugin: 'bedrock', path: '', settings: { apiKey: `${'A'.repeat(20)}:${'b'.repeat(40)}` } },
} as const;

describe('the cost of a conversation', function () {
  this.timeout(120_000);
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    upstream = await startUpstream(answerStatus(400));
    const entries = Object.entries(PLUGINS).map(([name, { plugin, path, settings }]) => {
      return [
        name,
        { plugin, settings: { baseUrl: `${upstream.url}${path}`, apiKey: 'up-secret-key-1', ...settings } },
      ];
    });
    const models = Object.keys(PLUGINS).map((id) => ({
      id,
      type: 'text',
      provider: 'Test',
      tools: true,
      reasoning: true,
      routes: [{ upstream: id, model: 'up-model' }],
      price: { input: '1', output: '1' },
    }));
    gateway = await startGateway({ catalog: { upstreams: Object.fromEntries(entries), models } });
    account = await gateway.account();
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await upstream.close();
  });

  /** CPU in ms, the client and the upstream included. */
  async function measureCpu(path: string, model: string, history: readonly object[]): Promise<number> {
    const { length } = upstream.calls;
    const before = process.cpuUsage();
    const list = { [path === RESPONSES ? 'input' : 'messages']: [...history, user] };
    const reply = await send(`${gateway.url}${path}`, { key: account.key, body: { model, max_tokens: 16, ...list } });
    const { user: own, system } = process.cpuUsage(before);
    expect(reply.status, reply.text.slice(0, 300)).to.equal(502);
    expect(upstream.calls).to.have.lengthOf(length + 1);
    return (own + system) / 1000;
  }

  for (const [name, path, make] of HISTORIES) {
    for (const model of Object.keys(PLUGINS)) {
      it(`grows with its length: ${name}, to ${model}`, async () => {
        const looks: number[] = [];
        for (let look = 0; look < LOOKS && Math.min(...looks) > TIMES_MAX; look += 1) {
          const short = await measureCpu(path, model, make(SHORT));
          looks.push(((await measureCpu(path, model, make(SHORT * TIMES))) - NOISE_MS) / short);
        }
        expect(Math.min(...looks)).to.be.at.most(TIMES_MAX);
      });
    }
  }
});
