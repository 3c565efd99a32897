// The sandbox as a model that calls tools: as often and with what a prompt asks for, and then it answers.
import { expect } from 'chai';
import { Guard } from '../../lib/stream/guard.ts';
import type { StreamPart } from '../../lib/stream/part.ts';
import type { TextCall, TextMessage, ToolCallContent, Tools } from '../../lib/upstream/contract/provider.ts';
import { createProvider } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/sandbox/index.ts';
import { itTimed } from '../../testkit/timed.ts';

const never = new AbortController().signal;
const TOOLS: Tools = { list: ['look', 'listen'].map((name) => ({ name, schema: { type: 'object' } })) };

const user = (text: string): TextMessage => ({ role: 'user', content: [{ type: 'text', text }] });

interface Answer {
  readonly text: string;
  readonly calls: readonly { id: string; name: string; json: string }[];
  readonly finish: string | undefined;
  readonly output: number | undefined;
}

async function ask(messages: readonly TextMessage[], more: Partial<TextCall> = {}): Promise<Answer> {
  const { provider } = createProvider({ plugin, upstream: 'sandbox', settings: {}, log: { warn() {} } });
  const guard = new Guard();
  const parts: StreamPart[] = [];
  const call = { model: 'standard', messages, maxTokens: 1000, options: {}, tools: TOOLS, ...more };
  for await (const arrived of provider.text?.(call, never) ?? []) parts.push(...guard.push(arrived));
  parts.push(...guard.end());
  const answer = { text: '', calls: [] as { id: string; name: string; json: string }[] };
  let isCall = false;
  for (const part of parts) {
    if (part.type === 'error') throw part.fault;
    if (part.type === 'block-start') {
      isCall = part.block.type === 'tool';
      if (part.block.type === 'tool') answer.calls.push({ id: part.block.id, name: part.block.name, json: '' });
    } else if (part.type === 'block-delta' && isCall) (answer.calls.at(-1) as { json: string }).json += part.text;
    else if (part.type === 'block-delta') answer.text += part.text;
  }
  return {
    ...answer,
    finish: parts.find((part) => part.type === 'finish')?.reason,
    output: parts.findLast((part) => part.type === 'usage')?.output,
  };
}

const said = ({ calls }: Answer) => calls.map(({ name, json }) => [name, json]);

/** The messages with what was called and what it came to. */
function answered(messages: readonly TextMessage[], { calls }: Answer, text: string): readonly TextMessage[] {
  const made = calls.map((call): ToolCallContent => ({ type: 'tool-call', ...call }));
  const results = calls.map(({ id, name }) => {
    return { type: 'tool-result', id, name, isError: false, content: [{ type: 'text', text }] } as const;
  });
  return [...messages, { role: 'assistant', content: made }, { role: 'user', content: results }];
}

describe('the sandbox calls tools', () => {
  it('with arguments or without, several at once, and only those that there are', async () => {
    const nested = '{"a":[[1]],"b":"]]"}';
    const messages = [user(`Do it [[tool:look ${nested}]] and [[tool:listen]] and [[tool:other]]`)];
    const answer = await ask(messages);
    expect(said(answer)).to.deep.equal([
      ['look', nested],
      ['listen', '{}'],
    ]);
    expect(answer).to.include({ text: '', finish: 'tool', output: Math.ceil(nested.length / 8) + 1 });
    expect(new Set(answer.calls.map(({ id }) => id)).size).to.equal(2);
    const after = await ask(answered(messages, answer, 'blue'));
    expect(after).to.deep.include({ calls: [], finish: 'stop' });
    expect(after.text).to.include('The tool look said: “blue”.').and.include('“Do it and and”');
  });

  it('as many times in a row as the prompt says', async () => {
    let messages: readonly TextMessage[] = [
      user('first'),
      { ...user('x'), role: 'assistant' },
      user('[[tool:look*3]]'),
    ];
    for (let step = 0; step < 3; step += 1) {
      const answer = await ask(messages);
      expect(said(answer)).to.deep.equal([['look', '{}']]);
      messages = answered(messages, answer, `${step}`);
    }
    expect((await ask(messages)).finish).to.equal('stop');
    expect((await ask([...messages, user('and now?')])).finish).to.equal('stop');
  });

  it('one by one where no more is allowed', async () => {
    const single: Tools = { ...TOOLS, single: true };
    const messages = [user('[[tool:look]] [[tool:listen]]')];
    const first = await ask(messages, { tools: single });
    expect(said(first)).to.deep.equal([['look', '{}']]);
    expect(said(await ask(answered(messages, first, 'x'), { tools: single }))).to.deep.equal([['listen', '{}']]);
  });

  it('as the choice says', async () => {
    const by = async (choice: NonNullable<Tools['choice']>, text: string) =>
      said(await ask([user(text)], { tools: { ...TOOLS, choice } })).map(([name]) => name);
    expect(await by('none', '[[tool:look]]')).to.deep.equal([]);
    expect(await by('auto', 'hi')).to.deep.equal([]);
    expect(await by('any', 'hi')).to.deep.equal(['look']);
    expect(await by('any', '[[tool:listen]]')).to.deep.equal(['listen']);
    expect(await by({ name: 'listen' }, '[[tool:look]]')).to.deep.equal(['listen']);
    expect((await ask([user('[[tool:look]]')], { tools: undefined } as never)).calls).to.deep.equal([]);
  });

  it('with broken arguments as they are, after words that were asked for, and no more than the limit', async () => {
    expect(said(await ask([user('[[tool:look {"a": oh]]')]))).to.deep.equal([['look', '{"a": oh']]);
    const both = await ask([user('[[words:3]] [[tool:look]]')]);
    expect(both.text.trim().split(' ')).to.have.length(3);
    expect(both).to.include({ finish: 'tool', output: 4 });
    const cut = await ask([user('[[tool:look {"a":"0123456789"}]]')], { maxTokens: 2 });
    expect(said(cut)).to.deep.equal([['look', '{"a":"0123456789'.slice(0, 16)]]);
    expect(cut).to.include({ finish: 'length', output: 2 });
  });

  it('a thousand times at the most', async () => {
    const answered = (count: number): readonly TextMessage[] =>
      Array.from({ length: count }, (_, at): readonly TextMessage[] => [
        { role: 'assistant', content: [{ type: 'tool-call', id: `${at}`, name: 'look', json: '' }] },
        { role: 'user', content: [{ type: 'tool-result', id: `${at}`, name: 'look', isError: false, content: [] }] },
      ]).flat();
    for (const [count, calls] of [
      [999, 1],
      [1000, 0],
    ] as const) {
      const answer = await ask([user('[[tool:look*5000]]'), ...answered(count)]);
      expect(answer.calls, `${count}`).to.have.length(calls);
    }
  });

  it('with arguments that are an object, up to the first end that makes them one', async () => {
    for (const [prompt, json] of [
      ['[[tool:look {"a":"]]"}]] x', '{"a":"]]"}'],
      ['[[tool:look 7]] x]]', '7'],
      ['[[tool:look {]] x]]', '{'],
    ] as const) {
      expect(said(await ask([user(prompt)])), prompt).to.deep.equal([['look', json]]);
    }
  });

  it('and then it tells what the tools said last', async () => {
    const round = (id: string, text: string): readonly TextMessage[] => [
      { role: 'assistant', content: [{ type: 'tool-call', id, name: 'look', json: '' }] },
      {
        role: 'user',
        content: [{ type: 'tool-result', id, name: 'look', isError: false, content: [{ type: 'text', text }] }],
      },
    ];
    const { text } = await ask([
      user('[[tool:look*2]] Hello'),
      ...round('1', 'north wind'),
      ...round('2', 'south wind'),
    ]);
    expect(text).to.include('south wind').and.not.include('north wind');
  });

  itTimed('and is not slowed down by a prompt that is made for it', async () => {
    const startedAt = performance.now();
    await ask([user(`${'[[tool:look {"a":'.repeat(20_000)}${']]'.repeat(50_000)}`)]);
    expect(performance.now() - startedAt).to.be.below(2000);
  });
});
