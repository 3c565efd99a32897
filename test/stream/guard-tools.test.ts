import { expect } from 'chai';
import { type FaultCode, isFault } from '../../lib/base/faults.ts';
import { Guard } from '../../lib/stream/guard.ts';
import type { GuardOptions } from '../../lib/stream/guard-options.ts';
import type { ProviderPart, StreamPart } from '../../lib/stream/part.ts';

const START: ProviderPart = { type: 'start' };
const text = (index: number, words: string): ProviderPart[] => [
  { type: 'block-start', index, block: { type: 'text' } },
  { type: 'block-delta', index, text: words },
  { type: 'block-end', index },
];
const tool = (index: number, id: string, ...pieces: string[]): ProviderPart[] => [
  { type: 'block-start', index, block: { type: 'tool', id, name: 'f' } },
  ...pieces.map((piece): ProviderPart => ({ type: 'block-delta', index, text: piece })),
  { type: 'block-end', index },
];
const finish = (reason: string): ProviderPart => ({ type: 'finish', reason }) as ProviderPart;

function pass(parts: readonly unknown[], options?: GuardOptions): readonly StreamPart[] {
  const guard = new Guard(options);
  const whole = [...guard.push(parts as ProviderPart[]), ...guard.end()];
  const other = new Guard(options);
  const single = [...parts.flatMap((part) => other.push([part] as ProviderPart[])), ...other.end()];
  const isFailed = (seen: readonly StreamPart[]) => seen.at(-1)?.type === 'error';
  if (!isFailed(whole)) expect(single).to.deep.equal(whole);
  return whole;
}

const codeOf = (parts: readonly StreamPart[]): FaultCode | undefined => {
  const last = parts.at(-1);
  return last?.type === 'error' && isFault(last.fault) ? last.fault.data?.code : undefined;
};

const WITHOUT: GuardOptions = { outputMax: 1000, calls: 'none' };

describe('guard of calls of tools', () => {
  it('passes texts and calls one after the other, texts together', () => {
    const parts = [
      START,
      ...text(0, 'a'),
      ...text(1, 'b'),
      ...tool(2, 'x', '{', '}'),
      ...tool(3, 'y', '{}'),
      ...text(4, 'c'),
    ];
    expect(pass([...parts, finish('tool')])).to.deep.equal([
      START,
      { type: 'block-start', index: 0, block: { type: 'text' } },
      { type: 'block-delta', index: 0, text: 'a' },
      { type: 'block-delta', index: 0, text: 'b' },
      { type: 'block-end', index: 0 },
      ...tool(1, 'x', '{', '}'),
      ...tool(2, 'y', '{}'),
      ...text(3, 'c'),
      finish('tool'),
    ]);
  });

  it('calls a tool by the name that the client knows, whatever a model or a server puts around it', () => {
    const toolNames = ['f', 'get_time', 'mcp.read', 'a:1'];
    const nameIn = (name: string, names?: readonly string[]) => {
      const call = { type: 'block-start', index: 0, block: { type: 'tool', id: 'x', name } };
      const parts = [START, call, { type: 'block-end', index: 0 }, finish('tool')];
      const passed = pass(parts, { outputMax: 1000, toolNames: names });
      return passed.flatMap((part) => (part.type === 'block-start' && 'name' in part.block ? [part.block.name] : []));
    };
    for (const [given, known] of [
      ['get_time', 'get_time'],
      ['functions.get_time', 'get_time'],
      ['functions.get_time:0', 'get_time'],
      ['functions.mcp.read', 'mcp.read'],
      ['default_api:get_time', 'get_time'],
      ['get_time<|channel|>commentary', 'get_time'],
      ['functions.f<|channel|>json\n', 'f'],
      [' get_time\n', 'get_time'],
      ['a:1', 'a:1'],
      ['x.a:1', 'a:1'],
      // Not known for certain.
      ['get_times', 'get_times'],
      ['my_get_time', 'my_get_time'],
      ['functions.other', 'functions.other'],
      [`${'functions.'.repeat(200)}f`, `${'functions.'.repeat(200)}f`],
      ['<|channel|>', '<|channel|>'],
    ] as const) {
      expect(nameIn(given, toolNames), given).to.deep.equal([known]);
      expect(nameIn(given), given).to.deep.equal([given]);
    }
  });

  it('gives a call an id that no earlier call of the conversation has', () => {
    const idsOf = (id: string, callIds?: readonly string[]) => {
      const parts = pass([START, ...tool(0, id, '{}'), finish('tool')], {
        outputMax: 1000,
        isCallId: callIds && ((each) => callIds.includes(each)),
      });
      return parts.flatMap((part) => (part.type === 'block-start' && 'id' in part.block ? [part.block.id] : []));
    };
    expect(idsOf('read:0')).to.deep.equal(['read:0']);
    expect(idsOf('read:1', ['read:0'])).to.deep.equal(['read:1']);
    expect(idsOf('read:0', ['read:0'])).to.deep.equal(['read:0_2']);
    expect(idsOf('read:0', ['read:0', 'read:0_2'])).to.deep.equal(['read:0_3']);
  });

  it('gives a call without arguments empty ones', () => {
    expect(pass([START, ...tool(0, 'x'), ...tool(1, 'y', ''), finish('tool')])).to.deep.equal([
      START,
      ...tool(0, 'x', '{}'),
      ...tool(1, 'y', '{}'),
      finish('tool'),
    ]);
  });

  it('passes the first call alone where one is allowed, and all text', () => {
    const parts = [START, ...text(0, 'a'), ...tool(1, 'x', '{}'), ...tool(2, 'y', '{', '}'), ...text(3, 'b')];
    const more = [...tool(4, 'z'), finish('tool')];
    expect(pass([...parts, ...more], { outputMax: 1000, calls: 'one' })).to.deep.equal([
      START,
      ...text(0, 'a'),
      ...tool(1, 'x', '{}'),
      { type: 'hidden', text: '{' },
      { type: 'hidden', text: '}' },
      ...text(2, 'b'),
      finish('tool'),
    ]);
  });

  it('ends for calls where there are some, and never where there are none', () => {
    const reasons = ['stop', 'length', 'filter', 'tool', 'other', 'odd'];
    const ending = (parts: ProviderPart[], options?: GuardOptions) =>
      reasons.map((reason) => (pass([START, ...parts, finish(reason)], options).at(-1) as { reason: string }).reason);
    expect(ending(tool(0, 'x', '{}'))).to.deep.equal(['tool', 'length', 'filter', 'tool', 'tool', 'tool']);
    expect(ending(text(0, 'a'))).to.deep.equal(['stop', 'length', 'filter', 'stop', 'other', 'other']);
    const both = [...text(0, 'a'), ...tool(1, 'x', '{}')];
    expect(ending(both, WITHOUT)).to.deep.equal(['stop', 'length', 'filter', 'stop', 'other', 'other']);
  });

  it('drops calls that were not asked for, and the text goes on', () => {
    const parts = [START, ...text(0, 'a'), ...tool(1, 'x', '{"a":1}'), ...text(2, 'b'), finish('tool')];
    const [, ...passed] = pass(parts, WITHOUT);
    expect(passed).to.deep.equal([
      { type: 'block-start', index: 0, block: { type: 'text' } },
      { type: 'block-delta', index: 0, text: 'a' },
      { type: 'hidden', text: '{"a":1}' },
      { type: 'block-delta', index: 0, text: 'b' },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'stop' },
    ]);
    expect(codeOf(pass([START, ...tool(0, 'x', '{}'), finish('tool')], WITHOUT))).to.equal('upstream_empty');
  });

  it('cuts arguments like text, and closes their block', () => {
    const long = 'x'.repeat(40);
    const parts = pass([START, ...tool(0, 'x', long, long), finish('tool')], { outputMax: 3 });
    expect(parts.slice(2)).to.deep.equal([
      { type: 'block-delta', index: 0, text: long },
      { type: 'block-delta', index: 0, text: 'x'.repeat(8) },
      { type: 'block-end', index: 0 },
      { type: 'finish', reason: 'length', raw: 'cut at max_tokens' },
    ]);
  });

  it('ends a call that waited, and ended, in its turn', () => {
    const [begun, ended] = [text(0, 'a').slice(0, 2), text(0, 'a').slice(2)];
    const parts = new Guard().push([START, ...begun, ...tool(1, 'x', '{}'), ...ended]);
    expect(parts.slice(-3)).to.deep.equal(tool(1, 'x', '{}'));
  });

  it('accepts an answer of hidden reasoning alone, and finds one of hidden calls alone empty', () => {
    const thought = [{ type: 'block-start', index: 0, block: { type: 'reasoning' } }, ...text(0, 'hm').slice(1)];
    expect(pass([START, ...thought, finish('stop')], WITHOUT)).to.deep.include({ ...finish('stop') });
    expect(codeOf(pass([START, ...tool(0, 'x', '{}'), finish('stop')], WITHOUT))).to.equal('upstream_empty');
  });

  it('fails what breaks the grammar', () => {
    const begin = (block: unknown) => [START, { type: 'block-start', index: 0, block }];
    for (const parts of [
      begin({ type: 'tool', id: '', name: 'f' }),
      begin({ type: 'tool', id: 'x' }),
      begin({ type: 'toll' }),
      [START, ...tool(0, 'x').slice(0, 1), { type: 'block-delta', index: 1, text: '{' }],
      [START, ...tool(0, 'x'), { type: 'block-end', index: 0 }],
      [START, { type: 'block-end', index: 0 }],
    ]) {
      expect(codeOf(pass(parts))).to.equal('upstream_failed');
    }
    expect(codeOf(pass([START, ...tool(0, 'x', '{')]))).to.equal('upstream_truncated');
  });
});
