// What the contract suite checks of a provider with tools: a plugin that drops some of them fails that check alone.
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { useAcmeFolders } from './acme-folder.ts';

/** Asks an upstream whose messages are lists of parts, after what a test changes in the request. */
const plugin = (change: string) => `
export default {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  create: (settings, host) => ({
    tools: true,
    text(call, signal) {
      const write = (part) => {
        if (part.type === 'tool-call') return { call: part.id, name: part.name, args: host.argumentsOf(part.json) };
        if (part.type === 'tool-result')
          return { result: part.id, said: host.textOf(part.content), failed: part.isError };
        return { text: part.text };
      };
      const parts = call.messages.flatMap(({ content }) => content.map(write));
      const value = { model: call.model, max: call.maxTokens, parts, tools: call.tools?.list, choice: call.tools?.choice };
      ${change}
      const request = { method: 'POST', auth: host.bearer, body: JSON.stringify(value), signal };
      return host.answer(settings.baseUrl + '/answers', request, {
        take({ text, end }, out) {
          if (text) out.text(text);
          if (end) out.finish(end);
        },
      });
    },
  }),
};
`;

const ANSWER = {
  name: 'an ordinary answer',
  source: 'https://docs.acme.example',
  reply: { headers: { 'content-type': 'application/x-ndjson' }, body: '{"text":"Blue."}\n{"end":"stop"}\n' },
  expect: { text: 'Blue.', finish: 'stop' },
};

const DEFINITIONS = 'sends the tools';
const PAIRS = 'says which call a result belongs to';
const BROKEN = 'sends a call whose arguments are no JSON';
const FAILURE = 'says that a tool has failed';
const CHOICE = 'sends which tool has to be called';
const TOOL_CHECKS = [DEFINITIONS, PAIRS, BROKEN, FAILURE, CHOICE];

const DEFECTS: readonly (readonly [what: string, change: string, failing: string])[] = [
  ['sends no tools', 'delete value.tools;', DEFINITIONS],
  ['sends the names of tools alone', 'value.tools = value.tools?.map(({ name }) => ({ name }));', DEFINITIONS],
  ['sends results without their calls', 'for (const part of parts) delete part.result;', PAIRS],
  ['sends calls without their ids', 'for (const part of parts) delete part.call;', PAIRS],
  [
    'believes that arguments are JSON',
    "for (const { content } of call.messages) for (const { type, json } of content) if (type === 'tool-call') JSON.parse(json);",
    BROKEN,
  ],
  ['keeps to itself that a tool has failed', 'for (const part of parts) delete part.failed;', FAILURE],
  ['leaves the choice of a tool to the model', 'delete value.choice;', CHOICE],
  ['drops the choice of one tool', 'if (value.choice?.name) delete value.choice;', CHOICE],
];

describe('the checks of tools in the contract suite', () => {
  const writeAcme = useAcmeFolders();

  async function failures(change: string, answers: object | readonly object[] = ANSWER): Promise<readonly string[]> {
    const folder = await writeAcme({ 'index.js': plugin(change), 'fixtures/answers.json': answers });
    const failed: string[] = [];
    for (const { name, run } of await collectChecks(folder)) {
      if (TOOL_CHECKS.includes(name)) await run().catch(() => failed.push(name));
    }
    return failed;
  }

  it('pass a plugin that sends everything', async () => expect(await failures('')).to.deep.equal([]));

  it('pass a plugin whose upstream has no ids and goes by the order', async () => {
    expect(await failures('for (const part of parts) { delete part.call; delete part.result; }')).to.deep.equal([
      PAIRS,
    ]);
    const sorted = `const results = parts.filter((part) => part.result);
      const order = parts.filter((part) => part.call).map((part) => part.call);
      results.sort((one, other) => order.indexOf(one.result) - order.indexOf(other.result));
      value.parts = [...parts.filter((part) => !part.result), ...results].map(({ call, result, ...rest }) => rest);`;
    expect(await failures(sorted)).to.deep.equal([]);
  });

  it('pass a plugin whose upstream cannot be told which tool, if its folder says so', async () => {
    const never = { kind: 'text', case: 'choice', never: 'the vendor has no such option' };
    expect(await failures('delete value.choice;', [ANSWER, never])).to.deep.equal([]);
  });

  for (const [what, change, failing] of DEFECTS) {
    it(`catch a plugin that ${what}`, async () => expect(await failures(change)).to.deep.equal([failing]));
  }
});
