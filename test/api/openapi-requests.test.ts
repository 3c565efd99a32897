// The API document accepts and rejects the same requests as the gateway.
import { expect } from 'chai';
import { describeApi } from '../../lib/api/openapi/document.ts';
import { SUBJECTS } from '../contract/dialect/subject.ts';
import { readDocument } from './document.ts';

const SCHEMAS: Readonly<Record<string, string>> = {
  message: 'MessageRequest',
  chat: 'ChatRequest',
  responses: 'ResponseRequest',
};

const text = { type: 'text', text: 'hi' };
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });

const GOOD = [
  {},
  { max_tokens: 99_999, stream: null, temperature: 'hot', foo: 1 },
  user([text, { type: 'who_knows', source: 5 }]),
  { messages: [{ role: 'assistant', content: null }, { role: 'assistant' }, ...user('hi').messages] },
];

const WRONG = [
  { model: 5 },
  { model: '' },
  { messages: [] },
  { messages: 5 },
  { messages: ['hi'] },
  { messages: [{ role: 'bot', content: 'hi' }] },
  { max_tokens: 0 },
  { max_tokens: 1.5 },
  { max_tokens: '5' },
  { stream: 'true' },
  user(5),
  user(['hi']),
  user([{ text: 'hi' }]),
];

/** For single dialects. */
const GOOD_OF: Readonly<Record<string, readonly object[]>> = {
  message: [{ max_completion_tokens: null }],
  chat: [{ max_completion_tokens: null }],
  responses: [
    { messages: 'hi' },
    { tools: [{ type: 'web_search' }, { type: 'custom', name: 'a' }], metadata: { a: 'b' }, store: true },
    { text: { format: { type: 'json_object' }, verbosity: 'low' }, include: ['reasoning.encrypted_content'] },
  ],
};
const WRONG_OF: Readonly<Record<string, readonly object[]>> = {
  message: [
    { messages: 'hi' },
    { max_completion_tokens: -1 },
    user([{ type: 'text' }]),
    user([text, { type: 'image', source: { type: 'url', url: 'x' } }]),
  ],
  chat: [
    { messages: 'hi' },
    { max_completion_tokens: -1 },
    user([{ type: 'text' }]),
    user([text, { type: 'image_url', image_url: 'x' }]),
  ],
  responses: [{ metadata: { a: 5 } }, { metadata: 'x' }, { tool_choice: 5 }, { text: { format: { type: 'xml' } } }],
};

/** What a request that leaves a field out means, and fields that a newer one replaces. */
const DEFAULTS: Readonly<Record<string, object>> = {
  message: { max_tokens: 8192, stream: false },
  chat: { max_tokens: 8192, stream: false, parallel_tool_calls: true },
  responses: { max_output_tokens: 8192, stream: false, parallel_tool_calls: true, store: false, background: false },
};
const OLDER: Readonly<Record<string, object>> = {
  message: { output_format: true },
  chat: { functions: true, function_call: true },
};

describe('requests in the API document', () => {
  const open = readDocument(describeApi('http://x') as never, { open: true });

  for (const { name, dialect, body } of SUBJECTS) {
    const pointer = `/components/schemas/${SCHEMAS[name]}`;
    const write = (fields: object) => body({ ...user('hi'), ...fields });

    it(`of ${name} have their defaults and older fields`, () => {
      const { properties } = open.json.components.schemas[SCHEMAS[name] ?? ''];
      const list = (word: string) =>
        Object.fromEntries(
          Object.keys(properties).flatMap((key) => (word in properties[key] ? [[key, properties[key][word]]] : [])),
        );
      expect(list('default')).to.deep.equal(DEFAULTS[name]);
      expect(list('deprecated')).to.deep.equal(OLDER[name] ?? {});
    });

    it(`of ${name} are accepted like by the gateway`, () => {
      for (const fields of [...GOOD, ...(GOOD_OF[name] ?? [])]) {
        expect(() => dialect.parse(write(fields)), JSON.stringify(fields)).not.to.throw();
        open.check(pointer, write(fields));
      }
    });

    it(`of ${name} are rejected like by the gateway`, () => {
      for (const fields of [...WRONG, ...(WRONG_OF[name] ?? [])]) {
        expect(() => dialect.parse(write(fields)), JSON.stringify(fields)).to.throw();
        expect(() => open.check(pointer, write(fields)), JSON.stringify(fields)).to.throw();
      }
    });
  }
});
