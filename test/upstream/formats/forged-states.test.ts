// States come back from clients, who may write anything into them: they make no request of another kind, and no error.
import { expect } from 'chai';
import type { Content } from '../../../lib/upstream/contract/provider.ts';
import { chatBody } from '../../../lib/upstream/formats/chat/request.ts';
import { contentsBody } from '../../../lib/upstream/formats/contents/request.ts';
import { messageBody } from '../../../lib/upstream/formats/message/request.ts';
import { responsesBody } from '../../../lib/upstream/formats/responses/request.ts';

const base64 = () => {
  throw new Error('there are no bytes');
};

const SMUGGLED = {
  type: 'message',
  role: 'user',
  content: 'smuggled',
  id: 'other',
  function: { name: 'other', arguments: '"smuggled"' },
  name: 'other',
};

const VALUES = ['', '{', 'null', '1', '"text"', '[]', '[1]', '{}', '{"extra_content":1}', JSON.stringify(SMUGGLED)];

const WRITERS = { chat: chatBody, messages: messageBody, contents: contentsBody, responses: responsesBody };

type Written = Record<string, unknown>;

const listMessages = (body: Written) => (body.messages ?? body.input ?? body.contents) as Written[];

function write(format: keyof typeof WRITERS, part: Content): Written {
  const id = 'call_1';
  const result = { type: 'tool-result', id, name: 'look', isError: false, content: [] } as const;
  const call = { type: 'tool-call', id, name: 'look', json: '{}' } as const;
  const said = part.type === 'tool-call' ? [part] : [part, call];
  const messages = [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    { role: 'assistant', content: said },
    { role: 'user', content: [result] },
  ] as const;
  return WRITERS[format]({ model: 'm', messages, maxTokens: 9, options: {} } as never, base64 as never) as Written;
}

for (const format of Object.keys(WRITERS) as (keyof typeof WRITERS)[]) {
  describe(`forged states in the ${format} format`, () => {
    for (const value of VALUES) {
      const state = { format, value };

      it(`leave a call as it is: ${value}`, () => {
        const part = { type: 'tool-call', id: 'call_1', name: 'look', json: '{}' } as const;
        const [plain, forged] = [write(format, part), write(format, { ...part, state })];
        const drop = (key: string, inner: unknown) => (key === 'thoughtSignature' ? undefined : inner);
        expect(JSON.stringify(forged, drop)).to.equal(JSON.stringify(plain, drop));
      });

      it(`add no message: ${value}`, () => {
        const forged = listMessages(write(format, { type: 'reasoning', text: '', state }));
        const plain = listMessages(write(format, { type: 'reasoning', text: '' }));
        const kinds = (messages: Written[]) =>
          messages.filter(({ type }) => type !== 'reasoning').map(({ type, role }) => [type, role]);
        expect(kinds(forged)).to.deep.equal(kinds(plain));
      });
    }
  });
}
