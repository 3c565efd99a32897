// A request that is refused for the states of earlier answers goes to the same route once more, without them.
import { expect } from 'chai';
import type { RequestContent, RequestMessage } from '../../../lib/calls/text/request.ts';
import type { TextCall } from '../../../lib/upstream/contract/provider.ts';
import { upstreamFault } from '../../../lib/upstream/host/fault.ts';
import { type Answer, delta, OPEN, playing, START, Stage, whole } from './stage.ts';

const SIGNED = { type: 'reasoning', text: 'Hm.', state: { format: 'messages', value: 'sig' } } as const;
const HIDDEN = { type: 'reasoning', text: '', redacted: true, state: { format: 'messages', value: 'data' } } as const;
/** What a vendor made of everything before it. */
const SUMMARY = { type: 'reasoning', text: '', redacted: true, state: { format: 'responses', value: '{}' } } as const;
const CALL = { type: 'tool-call', id: 'a', name: 'look', json: '{}' } as const;
const SIGNED_CALL = { ...CALL, state: { format: 'contents', value: 'sig' } } as const;
const RESULT = { type: 'tool-result', id: 'a', name: 'look', isError: false, content: [] } as const;
const user = (...content: RequestContent[]): RequestMessage => ({ role: 'user', content });
const answer = (...content: RequestContent[]): RequestMessage => ({ role: 'assistant', content });

const SIGNATURE = 'messages.1.content.0: Invalid `signature` in `thinking` block';

describe('states of earlier answers', () => {
  const stage = new Stage();
  before(() => stage.open());
  afterEach(() => stage.check());
  after(() => stage.close());

  const refused = (detail: string) => upstreamFault('request', detail, { status: 400 });
  const refusing = (detail: string) => playing([], refused(detail));
  const good = whole('Hello', { input: 7, output: 900 });

  /** A route that plays one answer after the other, the last one again and again. */
  function inTurn(answers: readonly Answer[]): { readonly route: Answer; readonly calls: TextCall[] } {
    const calls: TextCall[] = [];
    const route: Answer = (call, signal) => {
      calls.push(call);
      return answers[Math.min(calls.length, answers.length) - 1]?.(call, signal);
    };
    return { route, calls };
  }

  const MESSAGES = [user(SUMMARY, { type: 'text', text: 'Look.' }), answer(SIGNED, HIDDEN, SIGNED_CALL), user(RESULT)];
  const ask = (messages: readonly RequestMessage[], ...routes: Answer[]) =>
    stage.call({ routes, tools: true, request: { messages, hasCalls: true } });

  for (const words of [
    SIGNATURE,
    'ValidationException: messages.369.content.0.thinking.signature: Field required',
    '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
    'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`.',
    'INVALID_ARGUMENT: Corrupted thought signature.',
    'invalid_encrypted_content: The encrypted content gAAA could not be verified.',
    'Could not decode the compaction blob. Ensure it is unmodified from the compact response.',
    "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "Invalid value: 'reasoning_text'. Supported values are: 'input_text', 'output_text'.",
    "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
  ]) {
    it(`go no further when they are refused: ${words}`, async () => {
      const { route, calls } = inTurn([refusing(words), good]);
      const result = await ask(MESSAGES, route);
      expect(result.text).to.equal('Hello');
      expect(calls.map(({ messages }) => messages)).to.deep.equal([
        MESSAGES,
        [MESSAGES[0], answer({ type: 'reasoning', text: 'Hm.' }, CALL), user(RESULT)],
      ]);
      expect(result.attempts.map(({ ending, upstream }) => [ending, upstream])).to.deep.equal([
        ['refused', 'up-0'],
        ['answered', 'up-0'],
      ]);
      expect(result.attempts[0]?.cost?.cost).to.equal(0n);
    });
  }

  it('are left out once: a request that is refused again is refused', async () => {
    const { route, calls } = inTurn([refusing(SIGNATURE)]);
    const result = await ask(MESSAGES, route, good);
    expect([calls.length, result.asked]).to.deep.equal([2, [0, 0]]);
    expect(result.parts.at(-1)).to.have.nested.property('fault.data.code', 'upstream_refused');
    expect(result.wallet.charged).to.equal(0n);
  });

  it('stay where something else is refused, where there are none, and once the answer has begun', async () => {
    for (const [messages, ...answers] of [
      [MESSAGES, refusing('temperature is deprecated for this model')],
      [[user({ type: 'text', text: 'Hi' }), answer(CALL), user(RESULT)], refusing(SIGNATURE)],
      [[user(SUMMARY, { type: 'text', text: 'Hi' })], refusing('The encrypted content could not be verified')],
      [MESSAGES, playing([START, OPEN, delta('Hel')], refused(SIGNATURE))],
      [MESSAGES, playing([], upstreamFault('server', SIGNATURE, { status: 500 }))],
    ] as const) {
      const { route, calls } = inTurn([...answers, good]);
      await ask(messages, route);
      expect(calls).to.have.length(1);
    }
  });
});
