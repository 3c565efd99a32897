// The cases that the contract suite derives from recordings: a plugin that gets one wrong fails that check alone.
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { FIXED_CLOCK, PACED_CLOCK } from '../../../lib/upstream/check/stage.ts';
import type { Check } from '../../../lib/upstream/check/subject.ts';
import { useAcmeFolders } from './acme-folder.ts';

/** Reads chat completions by the host, after what a test changes in each event. */
const plugin = (change: string) => `
export default {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  create: (settings, host) => ({
    tools: true,
    text(call, signal) {
      const reader = host.chat.reader();
      const seen = {};
      const body = (base64) => ({ ...host.chat.body(call, base64), max_tokens: call.maxTokens });
      const request = { method: 'POST', auth: host.bearer, body, signal };
      return host.answer(settings.baseUrl + '/chat/completions', request, {
        ...reader,
        end: (out, marked) => reader.end?.(out, marked),
        take(event, out, name) {
          const value = structuredClone(event);
          const calls = value.choices?.[0]?.delta?.tool_calls ?? [];
          ${change}
          reader.take(value, out, name);
        },
      });
    },
  }),
};
`;

const data = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, reason: string | null = null) =>
  data({ choices: [{ index: 0, delta, finish_reason: reason }] });
const usage = data({ choices: [], usage: { prompt_tokens: 30, completion_tokens: 20, total_tokens: 50 } });
const piece = (call: object) => chunk({ tool_calls: [{ index: 0, ...call }] });

const reply = (body: string) => ({ headers: { 'content-type': 'text/event-stream' }, body });
const source = 'https://docs.acme.example/streaming';
const counts = { usage: { input: 30, output: 20 } };
const TEXT = {
  name: 'an ordinary answer',
  source,
  reply: reply(`${chunk({ content: 'Blue.' })}${chunk({}, 'stop')}${usage}data: [DONE]\n\n`),
  expect: { text: 'Blue.', finish: 'stop', ...counts },
};
const CALL = {
  name: 'a call',
  source,
  call: { tools: { list: [{ name: 'look' }] } },
  reply: reply(
    piece({ id: 'call_1', type: 'function', function: { name: 'look', arguments: '' } }) +
      piece({ function: { arguments: '{"at":' } }) +
      piece({ function: { arguments: '"sky"}' } }) +
      `${chunk({}, 'tool_calls')}${usage}data: [DONE]\n\n`,
  ),
  expect: { finish: 'tool', tools: [{ id: 'call_1', name: 'look', json: '{"at":"sky"}' }], ...counts },
};

const INTERLEAVED = 'calls are told apart when their pieces come in turn';
const REPEATED = 'a call that says its arguments again has them once';
const ZEROS = 'a later count of zero replaces an earlier one';
const ABORT = 'an abort within a call of a tool closes the connection';
const REASONING = 'reasoning comes with the state that goes back';

describe('the cases of the contract suite', () => {
  const writeAcme = useAcmeFolders();

  async function casesOf(change: string, recordings: readonly object[]): Promise<readonly Check[]> {
    const folder = await writeAcme({ 'index.js': plugin(change), 'fixtures/answers.json': recordings });
    return (await collectChecks(folder)).filter(({ group }) => group === 'cases');
  }

  async function failures(change: string): Promise<readonly string[]> {
    const failed: string[] = [];
    for (const { name, run } of await casesOf(change, [TEXT, CALL])) await run().catch(() => failed.push(name));
    return failed;
  }

  it('pass a plugin that reads by the host', async () => {
    expect(await failures('')).to.deep.equal([]);
  });

  const defects: readonly (readonly [what: string, change: string, failing: string])[] = [
    ['takes the pieces of all calls for one', 'for (const call of calls) call.index = 0;', INTERLEAVED],
    [
      'adds arguments to those that it has',
      `const [call] = calls;
       if (call) {
         seen[call.index] = (seen[call.index] ?? '') + call.function.arguments;
         call.function = { name: call.function.name, arguments: { all: seen[call.index] } };
       }`,
      REPEATED,
    ],
    [
      'keeps a count that a zero takes back',
      `const details = value.usage?.prompt_tokens_details;
       if (details) details.cached_tokens = seen.cached = details.cached_tokens || seen.cached;`,
      ZEROS,
    ],
  ];
  for (const [what, change, failing] of defects) {
    it(`catch a plugin that ${what}`, async () => expect(await failures(change)).to.include(failing));
  }

  it('end a pause between polls of a job once the call is given up', async () => {
    for (const { sleep } of [FIXED_CLOCK, PACED_CLOCK]) {
      const call = new AbortController();
      const paused = sleep(60_000, call.signal).catch((error: unknown) => error);
      call.abort('given up');
      expect(await paused).to.equal('given up');
      expect(await sleep(60_000, new AbortController().signal)).to.equal(undefined);
    }
  });

  it('say what they have no recording for, and are content with one that names the case', async () => {
    const unchecked = async (recordings: readonly object[]) => {
      const cases = await casesOf('', recordings);
      return cases.filter((each) => each.unchecked !== undefined).map(({ name }) => name);
    };
    const bare = await unchecked([TEXT]);
    expect(bare).to.include.members([REASONING, INTERLEAVED, REPEATED, ABORT]).and.not.to.include(ZEROS);
    const named = await unchecked([TEXT, CALL, { ...TEXT, name: 'thought', case: 'reasoning' }]);
    expect(named).not.to.include(REASONING).and.not.to.include(INTERLEAVED);
    const nevers = ['reasoning', 'interleaved', 'repeated'].map((label) => ({ case: label, never: 'it has none' }));
    expect(await unchecked([TEXT, ...nevers])).to.deep.equal([ABORT]);
  });
});
