// The format of an answer and the reasoning before it, as each dialect names them: what is read, and what is refused by its path.
import { expect } from 'chai';
import { parseChatRequest } from '../../../lib/api/dialects/chat/request.ts';
import { parseMessageRequest } from '../../../lib/api/dialects/message/request.ts';
import { parseResponsesRequest } from '../../../lib/api/dialects/responses/request.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';

const body = (more: object) => ({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more });
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

type Read = Pick<TextRequest, 'format' | 'reasoning'>;

/** Who is shown the reasoning has a table of its own. */
function readBy(parse: (body: unknown) => TextRequest, more: object): Read {
  const { format, reasoning } = parse(body(more));
  const { isShown: _, ...wish } = { isShown: true, ...reasoning };
  return { ...(format && { format }), ...(reasoning && { reasoning: wish as TextRequest['reasoning'] }) };
}

/** As older drafts name definitions, and newer ones. */
const OLDER = {
  ...SCHEMA,
  items: { $ref: '#/definitions/x' },
  definitions: { x: { items: { $ref: '#/definitions/x' } } },
};
const NEWER = { ...SCHEMA, items: { $ref: '#/$defs/x' }, $defs: { x: { items: { $ref: '#/$defs/x' } } } };

const chatForm = (wanted: object) => ({ response_format: { type: 'json_schema', json_schema: wanted } });
const named = (more: object) => ({ type: 'json-schema', name: 'place', schema: SCHEMA, ...more });

const CHAT: readonly (readonly [more: object, read: object])[] = [
  [{}, {}],
  [{ response_format: null, reasoning_effort: null }, {}],
  [{ response_format: { type: 'text' } }, {}],
  [{ response_format: { type: 'json_object' } }, { format: { type: 'json' } }],
  [{ response_format: { type: 'json_object', schema: SCHEMA } }, { format: named({ name: 'answer' }) }],
  [chatForm({ name: 'place' }), { format: { type: 'json' } }],
  [chatForm({ name: 'place', schema: SCHEMA, strict: null, description: null }), { format: named({}) }],
  [chatForm({ name: 'place', schema: OLDER }), { format: named({ schema: NEWER }) }],
  [{ response_format: { type: 'json_object', schema: OLDER } }, { format: named({ name: 'answer', schema: NEWER }) }],
  [
    chatForm({ name: 'place', schema: SCHEMA, strict: true, description: 'A place.' }),
    { format: named({ strict: true, description: 'A place.' }) },
  ],
  [chatForm({ name: 'place', schema: SCHEMA, strict: false }), { format: named({ strict: false }) }],
  [chatForm({ name: 'a'.repeat(64), schema: SCHEMA }), { format: named({ name: 'a'.repeat(64) }) }],
  [{ reasoning_effort: 'none' }, { reasoning: { mode: 'off' } }],
  [{ reasoning_effort: 'xhigh' }, { reasoning: { mode: 'on', effort: 'xhigh' } }],
  [{ reasoning_effort: 'ultra' }, { reasoning: { mode: 'on', effort: 'max' } }],
  [{ reasoning: { effort: 'ultra' } }, { reasoning: { mode: 'on', effort: 'max' } }],
  [{ reasoning_effort: 'default' }, {}],
  [{ reasoning: { effort: 'default', enabled: false } }, { reasoning: { mode: 'off' } }],
  [{ reasoning_effort: 'low', reasoning: {} }, { reasoning: { mode: 'on', effort: 'low' } }],
  [{ reasoning_effort: 'low', reasoning: { effort: 'high' } }, { reasoning: { mode: 'on', effort: 'high' } }],
  [{ reasoning_effort: 'low', reasoning: { effort: 'none' } }, { reasoning: { mode: 'off' } }],
  [{ reasoning: { effort: 'high', max_tokens: 1024 } }, { reasoning: { mode: 'on', budgetTokens: 1024 } }],
  [{ reasoning: { effort: null, max_tokens: null, exclude: null } }, {}],
  [{ reasoning: { enabled: false } }, { reasoning: { mode: 'off' } }],
  [{ reasoning: { enabled: true } }, { reasoning: { mode: 'auto' } }],
  [{ reasoning: { enabled: false, effort: 'low' } }, { reasoning: { mode: 'on', effort: 'low' } }],
  [{ thinking: { type: 'disabled' } }, { reasoning: { mode: 'off' } }],
  [{ thinking: { type: 'between_tools' } }, { reasoning: { mode: 'off' } }],
  [{ thinking: { type: 'enabled', clear_thinking: false } }, { reasoning: { mode: 'auto' } }],
  [{ thinking: { type: 'enabled', budget_tokens: 2048 } }, { reasoning: { mode: 'on', budgetTokens: 2048 } }],
  [{ thinking: { type: 'enabled', budget_tokens: 5 } }, { reasoning: { mode: 'auto' } }],
  [{ thinking: { type: 'adaptive' }, reasoning_effort: 'low' }, { reasoning: { mode: 'on', effort: 'low' } }],
  [{ enable_thinking: false }, { reasoning: { mode: 'off' } }],
  [{ enable_thinking: true }, { reasoning: { mode: 'auto' } }],
  [{ enable_thinking: true, thinking: { type: 'disabled' } }, { reasoning: { mode: 'off' } }],
  [{ chat_template_kwargs: { enable_thinking: false } }, { reasoning: { mode: 'off' } }],
  [{ chat_template_kwargs: { thinking: true } }, { reasoning: { mode: 'auto' } }],
  [{ chat_template_kwargs: { enable_thinking: false }, enable_thinking: true }, { reasoning: { mode: 'auto' } }],
  [
    { chat_template_kwargs: { enable_thinking: false }, reasoning_effort: 'low' },
    { reasoning: { mode: 'on', effort: 'low' } },
  ],
  // Not in a shape that says anything.
  [{ chat_template_kwargs: { enable_thinking: 'no', add_generation_prompt: false } }, {}],
  [{ chat_template_kwargs: 'enable_thinking' }, {}],
  [{ thinking: 5, output_config: 5 }, {}],
  [{ thinking: { type: 'off' }, enable_thinking: 'no', reasoning: { enabled: 'no' } }, {}],
];

const format = { type: 'json-schema', name: 'answer', schema: SCHEMA };
const MESSAGE: readonly (readonly [more: object, read: object])[] = [
  [{}, {}],
  [{ output_config: null, thinking: null }, {}],
  [{ output_config: {} }, {}],
  [{ output_config: { format: null, effort: null } }, {}],
  [{ output_config: { format: { type: 'json_schema', schema: SCHEMA } } }, { format }],
  [{ output_format: { type: 'json_schema', schema: SCHEMA } }, { format }],
  [
    { output_config: { format: { type: 'json_schema', schema: OLDER } } },
    { format: named({ name: 'answer', schema: NEWER }) },
  ],
  [
    {
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
      output_format: { type: 'json_schema', schema: {} },
    },
    { format },
  ],
  [{ output_config: { effort: 'max' } }, { reasoning: { mode: 'on', effort: 'max' } }],
  [{ thinking: { type: 'disabled' } }, { reasoning: { mode: 'off' } }],
  [{ thinking: { type: 'adaptive', display: 'omitted' } }, { reasoning: { mode: 'auto', display: 'omitted' } }],
  [{ thinking: { type: 'adaptive', display: 'updates' } }, { reasoning: { mode: 'auto' } }],
  [{ thinking: { type: 'between_tools' } }, { reasoning: { mode: 'off' } }],
  [
    { thinking: { type: 'between_tools' }, output_config: { effort: 'low' } },
    { reasoning: { mode: 'off', effort: 'low' } },
  ],
  [{ thinking: { type: 'enabled', budget_tokens: 2048 } }, { reasoning: { mode: 'on', budgetTokens: 2048 } }],
  [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, { reasoning: { mode: 'on', budgetTokens: 1024 } }],
  [
    { thinking: { type: 'enabled', budget_tokens: 2048 }, output_config: { effort: 'low' } },
    { reasoning: { mode: 'on', budgetTokens: 2048 } },
  ],
  [{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, { reasoning: { mode: 'on', effort: 'low' } }],
  [{ thinking: { type: 'disabled' }, output_config: { effort: 'low' } }, { reasoning: { mode: 'off', effort: 'low' } }],
  [{ response_format: 5, reasoning_effort: 5 }, {}],
];

const CHAT_WRONG: readonly (readonly [more: object, field: string])[] = [
  [{ response_format: 'json' }, 'response_format'],
  [{ response_format: {} }, 'response_format.type'],
  [{ response_format: { type: 'xml' } }, 'response_format.type'],
  [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
  [chatForm({}), 'response_format.json_schema.name'],
  [chatForm({ name: 'a b' }), 'response_format.json_schema.name'],
  [chatForm({ name: 'a'.repeat(65) }), 'response_format.json_schema.name'],
  [chatForm({ name: 'a', schema: [] }), 'response_format.json_schema.schema'],
  [chatForm({ name: 'a', description: 5 }), 'response_format.json_schema.description'],
  [chatForm({ name: 'a', strict: 'yes' }), 'response_format.json_schema.strict'],
  [{ reasoning_effort: 'much' }, 'reasoning_effort'],
  [{ reasoning_effort: 5 }, 'reasoning_effort'],
  [{ reasoning: 'high' }, 'reasoning'],
  [{ reasoning: { effort: 'much' } }, 'reasoning.effort'],
  [{ reasoning: { max_tokens: 1023 } }, 'reasoning.max_tokens'],
  [{ reasoning: { exclude: 'yes' } }, 'reasoning.exclude'],
];

const MESSAGE_WRONG: readonly (readonly [more: object, field: string])[] = [
  [{ output_config: 'json' }, 'output_config'],
  [{ output_config: { format: 'json' } }, 'output_config.format'],
  [{ output_config: { format: { type: 'json' } } }, 'output_config.format.type'],
  [{ output_config: { format: { type: 'json_schema' } } }, 'output_config.format.schema'],
  [{ output_format: 'json' }, 'output_format'],
  [{ output_format: { type: 'json_schema' } }, 'output_format.schema'],
  [{ output_config: { effort: 'minimal' } }, 'output_config.effort'],
  [{ thinking: true }, 'thinking'],
  [{ thinking: {} }, 'thinking.type'],
  [{ thinking: { type: 'adaptive', display: true } }, 'thinking.display'],
  [{ thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
  [{ thinking: { type: 'enabled', budget_tokens: 1023 } }, 'thinking.budget_tokens'],
  [{ thinking: { type: 'enabled', budget_tokens: 2000.5 } }, 'thinking.budget_tokens'],
  [{ thinking: { type: 'enabled', budget_tokens: '2048' } }, 'thinking.budget_tokens'],
];

for (const [name, parse, read, wrong] of [
  ['chat', parseChatRequest, CHAT, CHAT_WRONG],
  ['message', parseMessageRequest, MESSAGE, MESSAGE_WRONG],
] as const) {
  describe(`format and reasoning of a ${name}`, () => {
    for (const [more, expected] of read) {
      it(`reads ${JSON.stringify(more)}`, () => {
        expect(readBy(parse, more)).to.deep.equal(expected);
      });
    }
    it('names the field that asked for a format, for refusals', () => {
      const fieldOf = (more: object) => parse(body(more)).formatField;
      for (const [more, { format: wanted }] of read as readonly (readonly [object, Read])[]) {
        const own = 'output_format' in more && !('output_config' in more) ? 'output_format' : 'output_config.format';
        const field = name === 'chat' ? 'response_format' : own;
        expect(fieldOf(more), JSON.stringify(more)).to.equal(wanted ? field : undefined);
      }
    });
    for (const [more, field] of wrong) {
      it(`refuses ${JSON.stringify(more)}`, () => {
        expect(() => parse(body(more))).to.throw(`Invalid \`${field}\`: must be `);
      });
    }
  });
}

describe('whether the reasoning of a chat is delivered', () => {
  for (const [reasoning, delivered] of [
    [undefined, true],
    [{ exclude: false }, true],
    [{ exclude: true }, false],
    [{ exclude: true, effort: 'low' }, false],
    [{ exclude: true, max_tokens: 2048 }, false],
  ] as const) {
    it(`is ${delivered} for ${JSON.stringify(reasoning)}`, () => {
      expect(parseChatRequest(body({ reasoning })).showsReasoning).to.equal(delivered);
    });
  }
});

describe('whether the reasoning of a message is delivered', () => {
  for (const [thinking, delivered] of [
    [undefined, undefined],
    [{ type: 'disabled' }, undefined],
    [{ type: 'between_tools' }, true],
    [{ type: 'adaptive' }, true],
  ] as const) {
    it(`is ${delivered === true} for ${JSON.stringify(thinking)}`, () => {
      expect(parseMessageRequest(body({ thinking })).showsReasoning).to.equal(delivered);
    });
  }
});

describe('whether a vendor that shows reasoning on request only is asked to', () => {
  const isShown = ({ reasoning }: TextRequest) => reasoning !== undefined && 'isShown' in reasoning;
  for (const [more, shown] of [
    [{}, false],
    [{ reasoning_effort: 'low' }, true],
    [{ reasoning_effort: 'none' }, false],
    [{ reasoning: { max_tokens: 2048 } }, true],
    [{ reasoning: { effort: 'low', exclude: true } }, false],
    [{ enable_thinking: true }, true],
    [{ enable_thinking: true, reasoning: { exclude: true } }, false],
  ] as const) {
    it(`is ${shown} for the chat ${JSON.stringify(more)}`, () => {
      expect(isShown(parseChatRequest(body(more)))).to.equal(shown);
    });
  }
  for (const [more, shown] of [
    [{ output_config: { effort: 'low' } }, false],
    [{ thinking: { type: 'disabled' } }, false],
    [{ thinking: { type: 'adaptive' } }, true],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, false],
    [{ thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } }, true],
    [{ thinking: { type: 'enabled', budget_tokens: 2048 } }, true],
    [{ thinking: { type: 'enabled', budget_tokens: 2048, display: 'omitted' } }, false],
  ] as const) {
    it(`is ${shown} for the message ${JSON.stringify(more)}`, () => {
      expect(isShown(parseMessageRequest(body(more)))).to.equal(shown);
    });
  }
  it('is false for a response, which asks for a summary itself', () => {
    const given = { model: 'm', input: 'hi', reasoning: { effort: 'low' } };
    expect(isShown(parseResponsesRequest(given))).to.equal(false);
  });
});
