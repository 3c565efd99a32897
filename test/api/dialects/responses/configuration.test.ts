// Items that change settings within a conversation.
import { expect } from 'chai';
import { parse } from './stage.ts';

const ask = { role: 'user', content: 'hi' };
const answer = { role: 'assistant', content: 'Hello.' };
const update = (settings: object) => ({ type: 'configuration_update', ...settings });
const effort = (wanted: unknown) => update({ reasoning: { effort: wanted } });
const form = (name: string) => ({ type: 'json_schema', name, schema: { type: 'object' } });

const read = (input: readonly object[], more: object = {}) => {
  const { format, formatField, reasoning, messages } = parse({ input, ...more });
  return { format, formatField, reasoning, messages: messages.length };
};

describe('a configuration update', () => {
  it('changes the effort of the request, the last one in the conversation', () => {
    const more = { reasoning: { effort: 'low', summary: 'auto' } };
    const shown = { mode: 'on', display: 'summarized' };
    expect(read([ask], more).reasoning).to.deep.equal({ ...shown, effort: 'low' });
    expect(read([ask, effort('high')], more).reasoning).to.deep.equal({ ...shown, effort: 'high' });
    expect(read([effort('high'), ask, answer, effort('max'), ask], more)).to.deep.include({
      reasoning: { ...shown, effort: 'max' },
      messages: 3,
    });
    expect(read([ask, effort('high'), effort(null)], more).reasoning).to.deep.equal({ ...shown, effort: 'high' });
    expect(read([ask, effort('none')], more).reasoning).to.deep.equal({ mode: 'off' });
    expect(read([ask, effort('high')], { reasoning: { max_tokens: 2048 } }).reasoning).to.deep.equal({
      mode: 'on',
      effort: 'high',
    });
  });

  it('changes the form of the answer, also back to text', () => {
    const [first, second] = [update({ text: { format: form('a') } }), update({ text: { format: form('b') } })];
    expect(read([first, ask, answer, second, ask])).to.deep.include({
      format: { type: 'json-schema', name: 'b', schema: { type: 'object' } },
      formatField: 'input[3].text.format',
    });
    expect(read([ask, update({ text: {} })], { text: { format: form('a') } }).formatField).to.equal('text.format');
    const plain = update({ text: { format: { type: 'text' } } });
    expect(read([ask, plain], { text: { format: form('a') } }).format).to.equal(undefined);
  });

  it('changes how long the answer is, the last one in the conversation', () => {
    const length = (verbosity: unknown) => update({ text: { verbosity } });
    const longest = { text: { verbosity: 'high' } };
    expect(parse({ input: [ask, length('low'), answer, length('medium'), ask], ...longest }).verbosity).to.equal(
      'medium',
    );
    expect(parse({ input: [ask, length(null)], ...longest }).verbosity).to.equal('high');
  });

  it('changes neither if it says nothing', () => {
    expect(read([ask, update({}), update({ reasoning: null, text: null })])).to.deep.include({
      format: undefined,
      reasoning: undefined,
    });
  });

  for (const [item, words] of [
    [effort('much'), '`input[1].reasoning.effort`: must be one of none, minimal'],
    [update({ reasoning: 'high' }), '`input[1].reasoning`: must be an object'],
    [update({ text: { format: { type: 'xml' } } }), '`input[1].text.format.type`: must be one of'],
    [update({ text: { verbosity: 'loud' } }), '`input[1].text.verbosity`: must be one of low, medium'],
    [update({ text: 'json' }), '`input[1].text`: must be an object'],
  ] as const) {
    it(`is refused as ${JSON.stringify(item)}`, () => {
      expect(() => read([ask, item])).to.throw(`Invalid ${words}`);
    });
  }
});
