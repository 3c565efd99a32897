import { expect } from 'chai';
import { answers, line, open, text, thoughts, whole } from './stage.ts';

describe('reasoning in the chat format', () => {
  it('takes reasoning under every name, once, and leaves tags in the text', () => {
    for (const [said, reasoning, answer] of [
      [[{ reasoning_content: 'Hm' }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning: 'Hm' }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning_text: 'Hm' }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ thinking: 'Hm', reasoning_text: '' }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning_content: null, reasoning: 'Hm', content: '' }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning_content: 'Hm', reasoning: 'Hm', content: null }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning: 'Hm', reasoning_details: [{ type: 'reasoning.text', text: 'Hm' }] }], 'Hm', ''],
      [[{ reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm' }] }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }] }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning_content: { text: 'Hm' } }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning: [{ text: 'H' }, { type: 'text', text: 'm' }] }, { content: 'Hi' }], 'Hm', 'Hi'],
      [[{ reasoning_content: {}, reasoning: true }, { content: 'Hi' }], '', 'Hi'],
      [[{ reasoning: true }, { content: 'Hi' }], '', 'Hi'],
      // Numbers of some servers are numbers of JSON.
      [[{ reasoning_content: '4 + ' }, { reasoning_content: 2 }, { content: 6 }], '4 + 2', '6'],
      [[{ reasoning: 0 }, { content: 0 }], '0', '0'],
      [
        [
          { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] }] },
          { content: [{ type: 'text', text: 'Hi' }] },
        ],
        'Hm',
        'Hi',
      ],
      [
        [
          {
            content: [
              { type: 'reasoning', text: 'Hm' },
              { type: 'text', text: 'Hi' },
            ],
          },
        ],
        'Hm',
        'Hi',
      ],
      [[{ content: '<think>Hm</think>Hi' }], '', '<think>Hm</think>Hi'],
      [[{ content: 'A' }, { reasoning_content: 'Hm' }, { content: 'B' }], 'Hm', 'AB'],
    ] as const) {
      const reply = open();
      const parts = [...reply.push([...said.map((delta) => line(delta)), line({}, 'stop')]), ...reply.end()];
      expect([thoughts(parts), answers(parts)], JSON.stringify(said)).to.deep.equal([reasoning, answer]);
    }
    const parts = open().push([whole({ reasoning_content: 'Hm', content: 'Hi' })]);
    expect([thoughts(parts), answers(parts)]).to.deep.equal(['Hm', 'Hi']);
    const both = open().push([
      line({ reasoning: 'Hm' }),
      line({ content: 'Hi' }),
      whole({ reasoning: 'Hm', content: 'Hi' }),
    ]);
    expect([thoughts(both), answers(both)]).to.deep.equal(['Hm', 'Hi']);
  });

  it('keeps the details that have to go back with the reasoning before a text, a call or the end', () => {
    const detail = { id: 'r1', format: 'anthropic-claude-v1', index: 0 };
    const pieces = [
      line({ reasoning: 'I ', reasoning_details: [{ type: 'reasoning.text', text: 'I ', ...detail }] }),
      line({ reasoning: 'see', reasoning_details: [{ type: 'reasoning.text', text: 'see', ...detail }] }),
      line({ reasoning_details: [{ type: 'reasoning.text', signature: 'sig', ...detail }] }),
    ];
    const encrypted = { type: 'reasoning.encrypted', data: 'xyz', id: 'r2', format: 'openai-responses-v1', index: 1 };
    const call = { tool_calls: [{ index: 0, id: 'a', function: { name: 'look', arguments: '{}' } }] };
    const first = [{ type: 'reasoning.text', text: 'I see', ...detail, signature: 'sig' }];
    for (const [lines, states] of [
      [[...pieces, text('Hi'), line({}, 'stop')], [first]],
      [[...pieces, line(call), line({}, 'tool_calls')], [first]],
      [[...pieces, line({}, 'stop')], [first]],
      [
        [...pieces, text('Hi', 'stop'), line({ reasoning_details: [encrypted] }), 'data: [DONE]'],
        [first, [encrypted]],
      ],
      [[...pieces, line({ reasoning_details: [encrypted] }), text('Hi', 'stop')], [[...first, encrypted]]],
      [
        [...pieces, text('Hi'), ...pieces, line({}, 'stop')],
        [first, first],
      ],
    ] as const) {
      const parts = open().push(lines);
      const found = parts.flatMap((part) => (part.type === 'block-state' ? [part.state] : []));
      expect(found.map(({ format }) => format)).to.deep.equal(states.map(() => 'chat'));
      expect(found.map(({ value }) => JSON.parse(value))).to.deep.equal(states);
    }
  });

  it('keeps all details where every chunk has an empty list of calls', () => {
    const piece = (text: string) => ({
      reasoning_details: [{ type: 'reasoning.text', text, index: 0 }],
      tool_calls: [],
    });
    const lines = [line(piece('I ')), line(piece('see')), line({ content: 'Hi', tool_calls: [] }), line({}, 'stop')];
    const parts = open().push(lines);
    const found = parts.flatMap((part) => (part.type === 'block-state' ? [JSON.parse(part.state.value)] : []));
    expect(found).to.deep.equal([[{ type: 'reasoning.text', text: 'I see', index: 0 }]]);
  });

  it('keeps the details of a whole answer without a reason before its end', () => {
    const message = { content: 'Hi', reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 'sig' }] };
    const lines = [
      `data: ${JSON.stringify({ object: 'chat.completion', choices: [{ message }] })}`,
      `data: ${JSON.stringify({ object: 'chat.completion', choices: [{ message: { ...message, content: '' } }] })}`,
    ];
    for (const whole of lines) {
      const kinds = open()
        .push([whole])
        .map(({ type }) => type);
      expect(kinds.filter((type) => type === 'block-state' || type === 'finish')).to.deep.equal([
        'block-state',
        'finish',
      ]);
    }
  });

  it('keeps what has to go back with a call', () => {
    const extra = { extra_content: { google: { thought_signature: 'sig' } } };
    const call = { index: 0, id: 'a', function: { name: 'look', arguments: '{}' }, ...extra };
    const parts = open().push([line({ tool_calls: [call] }, 'tool_calls')]);
    const states = parts.flatMap((part) => (part.type === 'block-state' ? [part.state] : []));
    expect(states).to.deep.equal([{ format: 'chat', value: JSON.stringify(extra) }]);
  });
});
