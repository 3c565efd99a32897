// What an upstream wants back of its reasoning: every format of a state survives the way to a client and back.
import { expect } from 'chai';
import {
  readReasoningFields,
  readReasoningItem,
  readThinkingBlock,
  writeEncryptedContent,
  writeReasoningDetails,
  writeSignature,
} from '../../../lib/api/dialects/thoughts.ts';
import type { BlockState } from '../../../lib/stream/provider-part.ts';

const text = 'Hm.';

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
