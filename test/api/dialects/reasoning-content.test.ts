// What an upstream wants back of its reasoning: every format of a state survives the way to a client and back.
import { expect } from 'chai';
import {
  readReasoningFields,
  readReasoningItem,
  readThinkingBlock,
  writeEncryptedContent,
  writeReasoningDetails,
  writeSignature,
} from '../../../lib/api/dialects/reasoning-content.ts';
import type { BlockState } from '../../../lib/stream/provider-part.ts';

const text = 'Hm.';

const tell = (state: BlockState) => writeReasoningDetails({ text, state }, 0);
const hide = (state: BlockState) => writeReasoningDetails({ text: '', redacted: true, state }, 0);

const DIALECTS: Readonly<Record<string, (state: BlockState) => unknown>> = {
  chat: (state) => readReasoningFields({ reasoning_details: writeReasoningDetails({ text, state }, 0) }, 'm')[0],
  messages: (state) => readThinkingBlock({ type: 'thinking', thinking: text, signature: writeSignature(state) }, 'm'),
  responses: (state) => {
    const encrypted = writeEncryptedContent({ text, state });
    return readReasoningItem({ summary: [{ text }], encrypted_content: encrypted }, 'm');
  },
};

describe('states of reasoning', () => {
  for (const [dialect, goThrough] of Object.entries(DIALECTS)) {
    for (const format of ['messages', 'contents', 'responses', 'chat', 'plugin', 'quill', 'acme-2.1_b']) {
      it(`of the format ${format} come back from clients of ${dialect}`, () => {
        const state = { format, value: 'c2ln:bmVk' };
        expect(goThrough(state)).to.deep.equal({ type: 'reasoning', text, state });
      });
    }
  }

  it('of an upstream of chat completions come back as they were', () => {
    const detail = { type: 'reasoning.text', text, signature: 's', format: 'of-a-vendor', index: 0 };
    const state = { format: 'chat', value: JSON.stringify(detail) };
    expect(writeReasoningDetails({ text, state }, 0)).to.deep.equal([detail]);
    expect(readReasoningFields({ reasoning_details: [detail] }, 'm')).to.deep.equal([
      { type: 'reasoning', text, state },
    ]);
  });

  it('without text are not taken for reasoning that anybody may see', () => {
    const state = { format: 'quill', value: 's' };
    const details = writeReasoningDetails({ text: '', redacted: true, state }, 0);
    const read = { type: 'reasoning', text: '', redacted: true, state };
    expect(readReasoningFields({ reasoning_details: details }, 'm')).to.deep.equal([read]);
  });
});

describe('reasoning in a history', () => {
  const state = { format: 'messages', value: 's' };
  const read: readonly (readonly [what: string, read: () => unknown, found: unknown])[] = [
    ['a block without fields', () => readThinkingBlock({ type: 'thinking' }, 'm'), { type: 'reasoning', text: '' }],
    [
      'a block whose fields are null',
      () => readThinkingBlock({ type: 'thinking', thinking: null, signature: null }, 'm'),
      { type: 'reasoning', text: '' },
    ],
    [
      'a block whose text is in parts',
      () => readThinkingBlock({ type: 'thinking', thinking: [{ type: 'text', text: 'H' }, { text: 'm.' }] }, 'm'),
      { type: 'reasoning', text },
    ],
    [
      'a block of no parts',
      () => readThinkingBlock({ type: 'thinking', thinking: [] }, 'm'),
      { type: 'reasoning', text: '' },
    ],
    [
      'a redacted block',
      () => readThinkingBlock({ type: 'redacted_thinking', data: 's' }, 'm'),
      { type: 'reasoning', text: '', redacted: true, state },
    ],
    ['a block of another type', () => readThinkingBlock({ type: 'text', data: 's' }, 'm'), undefined],
    [
      'an item of text alone',
      () => readReasoningItem({ summary: [{ text }, { text: 'So.' }], encrypted_content: null }, 'm'),
      { type: 'reasoning', text: 'Hm.\n\nSo.' },
    ],
    [
      'an item with the mark of text alone',
      () => readReasoningItem({ summary: [{ text }], encrypted_content: writeEncryptedContent({}) }, 'm'),
      { type: 'reasoning', text },
    ],
    [
      'an item whose content says more than its summary',
      () => readReasoningItem({ summary: [{ text: 'Short.' }], content: [{ text }] }, 'm'),
      { type: 'reasoning', text },
    ],
    ['an item without texts', () => readReasoningItem({ content: null }, 'm'), { type: 'reasoning', text: '' }],
    ['a message without any', () => readReasoningFields({ reasoning_content: null, reasoning_details: null }, 'm'), []],
    ['an empty text', () => readReasoningFields({ reasoning_content: '' }, 'm'), []],
    ['a text', () => readReasoningFields({ reasoning_content: text }, 'm'), [{ type: 'reasoning', text }]],
    ['a text by its other name', () => readReasoningFields({ reasoning: text }, 'm'), [{ type: 'reasoning', text }]],
    ['no text by its other name', () => readReasoningFields({ reasoning: { effort: 'low' } }, 'm'), []],
    [
      'a text beside details without one',
      () => readReasoningFields({ reasoning_content: text, reasoning_details: hide(state) }, 'm'),
      [
        { type: 'reasoning', text },
        { type: 'reasoning', text: '', redacted: true, state },
      ],
    ],
    [
      'a text that the details say as well',
      () => readReasoningFields({ reasoning_content: text, reasoning_details: tell(state) }, 'm'),
      [{ type: 'reasoning', text, state }],
    ],
  ];
  for (const [what, readIt, found] of read) {
    it(`is read of ${what}`, () => expect(readIt()).to.deep.equal(found));
  }

  const refused: readonly (readonly [field: string, read: () => unknown])[] = [
    ['m.thinking', () => readThinkingBlock({ type: 'thinking', thinking: 1 }, 'm')],
    ['m.signature', () => readThinkingBlock({ type: 'thinking', signature: 1 }, 'm')],
    ['m.data', () => readThinkingBlock({ type: 'redacted_thinking' }, 'm')],
    ['m.encrypted_content', () => readReasoningItem({ encrypted_content: 1 }, 'm')],
    ['m.content', () => readReasoningItem({ content: 'x' }, 'm')],
    ['m.summary', () => readReasoningItem({ summary: 'x' }, 'm')],
    ['m.summary[1].text', () => readReasoningItem({ summary: [{ text }, { text: 1 }] }, 'm')],
    ['m.summary[0].text', () => readReasoningItem({ summary: [null] }, 'm')],
    ['m.reasoning_content', () => readReasoningFields({ reasoning_content: 1 }, 'm')],
    ['m.reasoning_details', () => readReasoningFields({ reasoning_details: 'x' }, 'm')],
    ['m.reasoning_details[1]', () => readReasoningFields({ reasoning_details: [{}, 'x'] }, 'm')],
  ];
  for (const [field, readIt] of refused) {
    it(`is refused at ${field}`, () => {
      expect(readIt).to.throw('must be').with.nested.property('data.detail.field', field);
    });
  }
});

describe('details of reasoning', () => {
  it('say their type, their format and their place', () => {
    const state = { format: 'quill', value: 's' };
    expect(writeReasoningDetails({ text, state }, 3)).to.deep.equal([
      { type: 'reasoning.text', text, signature: 's', format: 'plugin:quill', index: 3 },
    ]);
    expect(
      writeReasoningDetails({ text: '', redacted: true, state: { ...state, format: 'messages' } }, 1),
    ).to.deep.equal([{ type: 'reasoning.encrypted', data: 's', format: 'messages', index: 1 }]);
  });
});
