import { expect } from 'chai';
import { calls, joined, line, open } from './stage.ts';

describe('calls in the chat format', () => {
  type Sent = readonly [
    index: number | string | null | undefined,
    id: string | null | undefined,
    name?: string | null,
    json?: unknown,
  ];
  const rows: readonly (readonly [what: string, lists: readonly (readonly Sent[])[], expected: readonly string[]])[] = [
    [
      'an id that is the word for none',
      [[[0, 'a', 'look', '']], [[0, 'null', '', '{"a"']], [[0, 'null', '', ':1}']]],
      ['look {"a":1}'],
    ],
    ['an index that is a text at first', [[['0', 'a', 'look', '{"a"']], [[0, '', '', ':1}']]], ['look {"a":1}']],
    [
      'another id without a name',
      [[[0, 'a', 'look']], [[0, 'b', undefined, '{"a"']], [[0, 'b', null, ':1}']]],
      ['look {"a":1}'],
    ],
    [
      'a new id with every piece',
      [[[0, 'a', 'look', '{"a"']], [[0, 'b', 'look', ':1']], [[0, 'c', 'look', '}']]],
      ['look {"a":1}'],
    ],
    [
      'one index, one id, two names',
      [[[0, 'x', 'look', '{"a":1}']], [[0, 'x', 'walk', '{"b":2}']]],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'one index, no id, two names',
      [[[0, '', 'look', '{"a":1}']], [[0, '', 'walk', '{"b":2}']]],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'one index, two ids, one name',
      [[[0, 'x', 'look', '{"a":1}']], [[0, 'y', 'look', '{"b":2}']]],
      ['look {"a":1}', 'look {"b":2}'],
    ],
    [
      'one index, no ids, one name, in one list',
      [
        [
          [0, '', 'look', '{"a":1}'],
          [0, '', 'look', '{"b":2}'],
        ],
      ],
      ['look {"a":1}', 'look {"b":2}'],
    ],
    ['no index, an empty name', [[[undefined, 'a', 'look', '{"a"']], [[undefined, '', '', ':1}']]], ['look {"a":1}']],
    [
      'an index that comes late, for the call with its id',
      [
        [
          [undefined, 'a', 'look', '{"a"'],
          [undefined, 'b', 'walk', '{"b":2}'],
        ],
        [[0, 'a', '', ':1']],
        [[0, '', '', '}']],
      ],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    ['an index that is null', [[[null, 'a', 'look', '{"a"']], [[null, null, null, ':1}']]], ['look {"a":1}']],
    [
      'no index, a repeated name',
      [[[undefined, 'a', 'look', '{"a"']], [[undefined, 'a', 'look', ':1}']]],
      ['look {"a":1}'],
    ],
    [
      'no index, two names',
      [[[undefined, '', 'look', '{"a":1}']], [[undefined, '', 'walk', '{"b"']], [[undefined, '', '', ':2}']]],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    [
      'no index, no id, one name twice',
      [[[undefined, '', 'look', { a: 1 }]], [[undefined, '', 'look', { b: 2 }]]],
      ['look {"a":1}', 'look {"b":2}'],
    ],
    [
      'an index that comes late',
      [[[undefined, 'a', 'look', '{"a"']], [[0, undefined, undefined, ':1}']]],
      ['look {"a":1}'],
    ],
    [
      'pieces in turn',
      [
        [[0, 'a', 'look', '{"a"']],
        [[1, 'b', 'walk', '{"b"']],
        [[0, undefined, undefined, ':1}']],
        [[1, undefined, undefined, ':2}']],
      ],
      ['look {"a":1}', 'walk {"b":2}'],
    ],
    ['a name that comes late', [[[0, 'a', '', '']], [[0, '', 'look', '{"a":1}']]], ['look {"a":1}']],
    [
      'one id in a whole list',
      [
        [
          [undefined, 'f:0', 'look', '{"a":1}'],
          [undefined, 'f:0', 'look', '{"b":2}'],
        ],
      ],
      ['look {"a":1}', 'look {"b":2}'],
    ],
    ['an empty object first', [[[0, 'a', 'look', '{}']], [[0, undefined, undefined, '{"a":1}']]], ['look {"a":1}']],
    [
      'an empty object in the first of many',
      [[[0, 'a', 'look', '{}']], [[0, undefined, undefined, '{"a"']], [[0, undefined, undefined, ':1}']]],
      ['look {"a":1}'],
    ],
    [
      'everything so far with each piece',
      [
        [[0, 'a', 'look', '']],
        [[0, 'a', undefined, '{"a"']],
        [[0, 'a', undefined, '{"a":1']],
        [[0, 'a', undefined, '{"a":1}']],
      ],
      ['look {"a":1}'],
    ],
    [
      'the whole again at the end',
      [[[0, 'a', 'look', '{"a"']], [[0, 'a', undefined, ':1}']], [[0, 'a', 'look', '{"a":1}']]],
      ['look {"a":1}'],
    ],
    [
      'the whole again, as an object',
      [[[0, 'a', 'look', '{"a"']], [[0, 'a', undefined, ':1}']], [[0, 'a', 'look', { a: 1 }]]],
      ['look {"a":1}'],
    ],
    [
      'one index, two ids, one name, no arguments of the first',
      [[[0, 'x', 'look', '{}']], [[0, 'y', 'look', '{"b":2}']], [[0, 'z', 'look', '{}']]],
      ['look {}', 'look {"b":2}', 'look {}'],
    ],
    [
      'no index, two ids, one name, no arguments',
      [[[undefined, 'x', 'look', '{}']], [[undefined, 'y', 'look', '{}']]],
      ['look {}', 'look {}'],
    ],
    ['no arguments at all', [[[0, 'a', 'look', '']]], ['look ']],
  ];
  for (const [what, lists, expected] of rows) {
    it(`are told apart: ${what}`, () => {
      const lines = lists.map((list) =>
        line({
          tool_calls: list.map(([index, id, name, json]) => ({ index, id, function: { name, arguments: json } })),
        }),
      );
      const reply = open();
      const parts = [...reply.push([...lines, line({}, 'tool_calls'), 'data: [DONE]'])];
      const found = new Map<number, string>();
      for (const part of parts) {
        if (part.type === 'block-start' && part.block.type === 'tool') found.set(part.index, `${part.block.name} `);
        if (part.type === 'block-delta') found.set(part.index, `${found.get(part.index)}${part.text}`);
      }
      expect([...found.values()]).to.deep.equal(expected);
      expect(new Set(calls(parts).map(({ id }) => id)).size).to.equal(expected.length);
    });
  }

  it('comes in pieces that are no lists', () => {
    const piece = (json: string, name: string | null) => {
      return line({ tool_calls: { index: 0, id: '', type: 'function', function: { name, arguments: json } } });
    };
    const parts = open().push([piece('{', 'look'), piece('"at": 1', null), piece('}', null), line({}, 'eos_token')]);
    expect(calls(parts).map(({ name }) => name)).to.deep.equal(['look']);
    expect(joined(parts)).to.equal('{"at": 1}');
  });

  it('has a name in pieces, which the names of tools tell from two names', () => {
    const read = (lists: readonly (readonly Sent[])[]) => {
      const reply = open({ toolNames: ['look', 'look_up', 'get_time', 'get_weather'] });
      const lines = lists.map((list) =>
        line({
          tool_calls: list.map(([index, id, name, json]) => ({ index, id, function: { name, arguments: json } })),
        }),
      );
      return calls([...reply.push([...lines, line({}, 'tool_calls'), 'data: [DONE]']), ...reply.end()]);
    };
    const rows = [
      [[[[0, 'a', 'get_', '']], [[0, '', 'time', '']], [[0, '', '', '{}']]], ['get_time']],
      [[[[0, 'a', 'g', '']], [[0, 'a', 'et_ti', '']], [[0, 'a', 'me', '{}']]], ['get_time']],
      [[[[0, 'a', 'get_', '']], [[0, 'a', 'get_time', '']], [[0, 'a', 'get_time', '{}']]], ['get_time']],
      [[[[undefined, 'a', 'get_', '']], [[undefined, '', 'weather', '{}']]], ['get_weather']],
      [
        [[[0, 'a', 'get_', '']], [[0, '', 'time', '']], [[1, 'b', 'get_', '']], [[1, '', 'weather', '']]],
        ['get_time', 'get_weather'],
      ],
      // Names that are whole, known or not.
      [
        [[[0, 'a', 'look', '']], [[1, 'b', 'look_up', '']]],
        ['look', 'look_up'],
      ],
      [
        [[[0, 'a', 'get_', '']], [[0, 'b', 'look', '{}']]],
        ['get_', 'look'],
      ],
      [[[[0, 'a', 'get_', '{}']]], ['get_']],
      [[[[0, 'a', 'get_', '']]], ['get_']],
      [
        [[[0, 'a', 'get_', '']], [[1, 'b', 'get', '']], [[0, '', '', '']]],
        ['get_', 'get'],
      ],
      [
        [[[0, 'a', 'other', '']], [[0, '', 'look', '{}']]],
        ['other', 'look'],
      ],
    ] as const;
    for (const [lists, names] of rows) {
      expect(
        read(lists).map((call) => 'name' in call && call.name),
        JSON.stringify(lists),
      ).to.deep.equal(names);
    }
  });

  it('takes time in proportion to its length', () => {
    const begun = (at: number) =>
      line({ tool_calls: [{ index: at, id: `c${at}`, function: { name: 'f', arguments: '{' } }] });
    const many = Array.from({ length: 20_000 }, (_, at) => begun(at));
    const blank = line({ tool_calls: [{ index: 0, function: { name: 'f', arguments: `${' '.repeat(60_000)}x` } }] });
    for (const lines of [many, [blank]]) {
      const { push } = open();
      const begin = process.cpuUsage();
      push(lines);
      expect(process.cpuUsage(begin).user / 1000).to.be.below(1000);
    }
  });
});
