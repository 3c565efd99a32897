// What is written to an upstream in a wire format is what the API reads in it: one description serves both.
import { Buffer } from 'node:buffer';
import { expect } from 'chai';
import { parseChatRequest } from '../../../lib/api/dialects/chat/request.ts';
import { parseMessageRequest } from '../../../lib/api/dialects/message/request.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';
import { createSampleImage } from '../../../lib/upstream/check/sample-image.ts';
import type { Base64, TextCall, Tools } from '../../../lib/upstream/contract/provider.ts';
import { chatBody } from '../../../lib/upstream/formats/chat/request.ts';
import { messageBody } from '../../../lib/upstream/formats/message/request.ts';

const FORMATS = [
  { name: 'chat', body: chatBody, parse: parseChatRequest },
  { name: 'message', body: messageBody, parse: parseMessageRequest },
] as const;

const LIST: Tools['list'] = [
  { name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} }, strict: true },
  { name: 'walk', schema: { type: 'object', properties: {} } },
];
const CHOICES: readonly Tools['choice'][] = [undefined, 'auto', 'none', 'any', { name: 'walk' }];

const CALL: TextCall = {
  model: 'm',
  system: [{ type: 'text', text: 'Be brief.' }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Let me see.' },
        { type: 'tool-call', id: 'a', name: 'look', json: '{"at":1}' },
        { type: 'tool-call', id: 'b', name: 'walk', json: '{}' },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool-result', id: 'a', name: 'look', isError: false, content: [{ type: 'text', text: 'seen' }] },
        { type: 'tool-result', id: 'b', name: 'walk', isError: false, content: [{ type: 'text', text: 'there' }] },
        { type: 'text', text: 'and now?' },
      ],
    },
  ],
  maxTokens: 64,
  options: {},
};

const base64: Base64 = (bytes) => Buffer.from(bytes).toString('base64');

/** Results of tools may come in one message or in several. */
const contentsOf = ({ messages }: Pick<TextRequest, 'messages'> | TextCall) =>
  messages.flatMap(({ role, content }) => content.map((part) => ({ role, ...part })));

for (const { name, body, parse } of FORMATS) {
  describe(`the ${name} format, written and read again`, () => {
    const again = (call: TextCall) => parse(JSON.parse(JSON.stringify(body(call, base64))));

    it('has the same system prompt, texts, calls and results', () => {
      const read = again(CALL);
      expect(read).to.include({ model: 'm', stream: true, hasCalls: true });
      expect(read.system).to.deep.equal([{ type: 'text', text: 'Be brief.' }]);
      expect(contentsOf(read)).to.deep.equal(contentsOf(CALL));
    });

    it('has the same tools and choice between them', () => {
      for (const choice of CHOICES) {
        for (const single of [true, undefined]) {
          // The one format has no place for it beside the choice of none.
          if (single && choice === 'none') continue;
          const tools: Tools = { list: LIST, ...(choice && { choice }), ...(single && { single }) };
          const { text: _, ...read } = again({ ...CALL, tools }).tools ?? {};
          const said = single && choice === undefined && name === 'message' ? { ...tools, choice: 'auto' } : tools;
          expect(read).to.deep.equal(said);
        }
      }
    });

    it('has the same images', () => {
      const image = createSampleImage('png');
      const content = [
        { type: 'image', ...image },
        { type: 'text', text: 'What is it?' },
      ] as const;
      const [read] = again({ ...CALL, messages: [{ role: 'user', content }] }).messages[0]?.content ?? [];
      const source = read?.type === 'image' && typeof read.source === 'object' ? read.source : undefined;
      expect(source).to.deep.include(image);
    });
  });
}
