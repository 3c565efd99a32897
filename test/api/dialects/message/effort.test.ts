// The effort that system messages set within a conversation.
import { expect } from 'chai';
import { parseMessageRequest } from '../../../../lib/api/dialects/message/request.ts';

const set = (effort: unknown, content: unknown = []) => ({ role: 'system', content, output_config: { effort } });
const ask = (content: unknown = 'hi') => ({ role: 'user', content });
const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] };
const answer = { role: 'assistant', content: 'Hello.' };
const result = { type: 'tool_result', tool_use_id: 'a', content: 'seen' };

const read = (messages: readonly object[], more: object = {}) =>
  parseMessageRequest({ model: 'm', max_tokens: 4096, output_config: { effort: 'high' }, ...more, messages });
const effortOf = (...messages: readonly object[]) => {
  const { reasoning } = read(messages);
  return reasoning && 'effort' in reasoning ? reasoning.effort : undefined;
};

describe('an effort set within a conversation', () => {
  it('counts for the answer to the message before it, and for all after it', () => {
    expect(effortOf(ask())).to.equal('high');
    expect(effortOf(ask(), set('low'))).to.equal('low');
    expect(effortOf(ask(), set('low'), answer, ask())).to.equal('low');
    expect(effortOf(ask(), set('low'), set('max'))).to.equal('max');
  });

  it('counts from the next message of the user on, elsewhere', () => {
    expect(effortOf(set('low'), ask())).to.equal('low');
    expect(effortOf(ask(), answer, set('low'), ask())).to.equal('low');
    expect(effortOf(ask(), set('max'), answer, set('low'), ask(), set('medium'))).to.equal('medium');
  });

  it('counts for no answer to results alone before that', () => {
    expect(effortOf(ask(), use, ask([result]), set('low'))).to.equal('high');
    expect(effortOf(ask(), use, set('low'), ask([result]))).to.equal('high');
    expect(effortOf(ask(), use, ask([result]), set('low'), answer, ask())).to.equal('low');
    expect(effortOf(ask(), use, ask([result, { type: 'text', text: 'Quick!' }]), set('low'))).to.equal('low');
  });

  it('is none if it is null or not there', () => {
    expect(effortOf(ask(), set('low'), set(null), answer, ask())).to.equal('low');
    expect(effortOf(ask(), { role: 'system', content: 'Late.', output_config: {} })).to.equal('high');
    expect(effortOf(ask(), { role: 'system', content: 'Late.', output_config: null })).to.equal('high');
  });

  it('turns no thinking on that the request turns off', () => {
    const { reasoning } = read([ask(), set('low')], { thinking: { type: 'disabled' } });
    expect(reasoning).to.deep.equal({ mode: 'off', effort: 'low' });
    expect(read([ask(), set('low')], { output_config: undefined }).reasoning).to.deep.equal({
      mode: 'on',
      effort: 'low',
    });
  });

  it('may stand in a message without content, which is none for a model', () => {
    const alone = { role: 'system', output_config: { effort: 'low' } };
    const { messages, system, reasoning } = read([alone, ask(), alone]);
    expect({ messages, system }).to.deep.equal({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
      system: undefined,
    });
    expect(reasoning).to.deep.equal({ mode: 'on', effort: 'low' });
  });

  for (const [config, words] of [
    [{ effort: 'minimal' }, '`messages[1].output_config.effort`: must be one of low, medium, high, xhigh, max'],
    ['low', '`messages[1].output_config`: must be an object'],
  ] as const) {
    it(`is refused where it is ${JSON.stringify(config)}`, () => {
      const message = { role: 'system', content: [], output_config: config };
      expect(() => read([ask(), message])).to.throw(`Invalid ${words}`);
    });
  }

  it('leaves a system message without content refused that sets nothing', () => {
    expect(() => read([ask(), { role: 'system' }])).to.throw('`messages[1].content`');
  });

  it('leaves a message of the user without content refused', () => {
    expect(() => read([ask(), { ...set('low', null), role: 'user' }])).to.throw('`messages[1].content`');
  });
});
