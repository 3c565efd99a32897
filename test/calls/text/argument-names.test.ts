import { expect } from 'chai';
import { fitArguments, restoreArguments } from '../../../lib/calls/text/argument-names.ts';
import type { ProviderPart, TextCall, Tool } from '../../../lib/upstream/contract/provider.ts';

const argumentNames = /^[a-z]+$/;
const SCHEMA = { type: 'object', properties: { $a: {}, b: {} } };

function toVendor(tools: readonly Tool[], json = '{}') {
  const content = [{ type: 'tool-call', id: 'c', name: 'look', json }] as const;
  const call: Pick<TextCall, 'messages' | 'tools'> = {
    messages: [{ role: 'assistant', content }],
    tools: { list: tools },
  };
  return { given: call, ...fitArguments(call, { argumentNames }) };
}

async function restore(batches: readonly (readonly ProviderPart[])[], clientNames: ReadonlyMap<string, string>) {
  const passed: (readonly ProviderPart[])[] = [];
  for await (const batch of restoreArguments(
    (async function* () {
      yield* batches;
    })(),
    clientNames,
  ))
    passed.push(batch);
  return passed;
}

const delta = (text: string, index = 0): ProviderPart => ({ type: 'block-delta', index, text });
const start = (type: 'tool' | 'text', index = 0): ProviderPart => ({
  type: 'block-start',
  index,
  block: type === 'tool' ? { type, id: 'c', name: 'look' } : { type },
});

describe('names of arguments', () => {
  it('leave a call as it is where all are taken, or no vendor minds', () => {
    const plain: Tool = { name: 'look', schema: { type: 'object', properties: { b: {} } } };
    const { given, call, clientNames } = toVendor([plain], '{"$a":1}');
    expect(call).to.equal(given);
    expect(clientNames.size).to.equal(0);
    expect(fitArguments(toVendor([{ name: 'look', schema: SCHEMA }]).given, {}).clientNames.size).to.equal(0);
    expect(fitArguments({ messages: [] }, { argumentNames }).clientNames.size).to.equal(0);
  });

  it('keep what else a tool has', () => {
    const messageFields = { defer_loading: true };
    const tool: Tool = { name: 'look', description: 'looks', schema: SCHEMA, strict: true, messageFields };
    const bare: Tool = { name: 'walk', schema: { type: 'object' } };
    const { call } = toVendor([tool, bare]);
    const [fitted, other] = call.tools?.list ?? [];
    expect(fitted).to.deep.include({ description: 'looks', strict: true, messageFields });
    expect(other).to.deep.equal(bare);
  });

  it('stay in arguments that have none of them', () => {
    const tools = [{ name: 'look', schema: SCHEMA }];
    for (const json of ['{ "b": 1 }', '{"c":{"$a":1}}', '["$a"]', '{"$a"']) {
      const { call, given } = toVendor(tools, json);
      expect(call.messages).to.deep.equal(given.messages);
    }
  });

  it('are put back in the calls of an answer alone, and what was held comes at its end at the latest', async () => {
    const names = new Map([['a_1', '$a']]);
    const text = '"a_1"';
    const ended: ProviderPart = { type: 'block-end', index: 0 };
    expect(await restore([[start('text'), delta(text), ended]], names)).to.deep.equal([
      [start('text'), delta(text), ended],
    ]);
    expect(await restore([[start('tool'), delta('{"a_'), start('tool', 1), delta('{"a', 1)]], names)).to.deep.equal([
      [start('tool'), delta('{'), start('tool', 1), delta('{', 1)],
      [delta('"a_'), delta('"a', 1)],
    ]);
    expect(await restore([[start('tool'), delta('"'), delta('a_1'), delta('":1'), ended]], names)).to.deep.equal([
      [start('tool'), { type: 'alive' }, { type: 'alive' }, delta('"$a":1'), ended],
    ]);
    expect(await restore([[start('tool'), delta('{"b"'), ended]], names)).to.deep.equal([
      [start('tool'), delta('{"b'), delta('"'), ended],
    ]);
  });

  it('are not looked for in what is no part', async () => {
    const odd = [
      null,
      { type: 'block-start' },
      { type: 'block-delta', index: 0, text: 7 },
    ] as unknown as ProviderPart[];
    const names = new Map([['a_1', '$a']]);
    expect(await restore([[start('tool'), ...odd]], names)).to.deep.equal([[start('tool'), ...odd]]);
    const whole = 'no list' as unknown as readonly ProviderPart[];
    expect(await restore([whole], names)).to.deep.equal([whole]);
  });
});
