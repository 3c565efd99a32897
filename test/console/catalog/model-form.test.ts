// What an operator types about costs, prices and sizes of models.
import { expect } from 'chai';
import type { CostEntry } from '../../../lib/catalog/cost.ts';
import {
  readChange,
  readNewModels,
  readRoutes,
  readSizes,
  refuseModels,
  type Sellable,
} from '../../../lib/console/catalog/model-form.ts';
import type { Form } from '../../../lib/console/forms.ts';
import type { Language } from '../../../lib/console/language.ts';

const formOf = (fields: Readonly<Record<string, string>>) =>
  ({
    text: (name: string) => fields[name]?.trim() ?? '',
    has: (name: string) => name in fields,
    entries: () => Object.entries(fields),
  }) as unknown as Form;

const COST = { 'input-0': '1', 'output-0': '2' };

describe('a form of models', () => {
  function readCost(
    fields: Readonly<Record<string, string>>,
    { type = 'text', known }: { type?: Sellable; known?: CostEntry } = {},
  ) {
    const sent = formOf({ 'id-0': 'sold', currency: 'USD', markup: '1.3', maker: 'Acme', ...fields });
    const findKnown = () => ({ cost: known, options: undefined });
    const made = readNewModels({ sent, language: 'ru' }, { type, models: ['m'] }, { upstream: 'up', findKnown });
    return typeof made === 'string' ? made : made[0];
  }
  const costOf = (model: ReturnType<typeof readCost>) => typeof model === 'object' && model.routes[0]?.cost;

  it('takes costs from nothing to a billion', () => {
    const most = { ...COST, 'input-0': '1 000 000 000', 'output-0': '0' };
    expect(costOf(readCost(most))).to.deep.equal({ currency: 'USD', input: '1000000000.00', output: '0.00' });
    for (const wrong of ['1000000000.000001', '-1', ''])
      expect(readCost({ ...COST, 'input-0': wrong })).to.equal('cost');
  });

  it('takes prices above nothing', () => {
    const price = (input: string) => {
      const sent = formOf({ kind: 'written', input, output: '1' });
      return readChange({ sent, language: 'ru' }, { type: 'text', before: { aliases: [], isOwn: true } });
    };
    expect([price('0'), price('0.000001')]).to.deep.equal(['price', { price: { input: '0.000001', output: '1.00' } }]);
  });

  it('takes no price on an English page that may be a thousand or one', () => {
    const sent = formOf({ kind: 'written', input: '1,500', output: '1,500.50' });
    const read = (language: Language) =>
      readChange({ sent, language }, { type: 'text', before: { aliases: [], isOwn: true } });
    expect([read('en'), read('ru')]).to.deep.equal(['price', 'price']);
    const plain = formOf({ kind: 'written', input: '1500', output: '1,500.50' });
    const change = readChange({ sent: plain, language: 'en' }, { type: 'text', before: { aliases: [], isOwn: true } });
    expect(change).to.deep.equal({ price: { input: '1500.00', output: '1500.50' } });
  });

  for (const [problem, field, typed] of [
    ['cost', 'output-1', { 'output-1': 'abc' }],
    ['cost', 'audio-0', { 'audio-0': '-1' }],
    ['price', 'output', { output: '0' }],
    ['price', 'audio', { audio: 'abc' }],
    ['size', 'context-1', { 'context-1': '0' }],
    ['name', 'id-1', { 'id-1': '' }],
    ['markup', 'markup', { markup: '0' }],
    ['maker', 'maker', { maker: '' }],
    ['aliases', 'aliases', { aliases: 'a\nb' }],
    ['served', undefined, {}],
  ] as const) {
    it(`is refused ${field === undefined ? 'as a whole' : `at ${field}`} for ${problem}`, () => {
      const right = {
        ...{ 'id-0': 'one', 'input-0': '1', 'output-0': '2', 'audio-0': '', 'context-0': '' },
        ...{ 'id-1': 'two', 'input-1': '0', 'output-1': '2', 'audio-1': '', 'context-1': '200 000' },
        ...{ input: '1', output: '2', audio: '', markup: '1.3', maker: 'Acme', aliases: '' },
      };
      const refusal = refuseModels({ sent: formOf({ ...right, ...typed }), language: 'en' }, problem);
      expect(refusal.field).to.equal(field);
      expect(refusal.text).to.not.equal('');
    });
  }

  it('takes whole numbers of tokens of up to nine digits, whose thousands may be separated', () => {
    const size = (context: string) => readSizes(formOf({ 'context-0': context }), 0);
    for (const typed of ['123456789', '123 456 789', '123,456,789', '123.456.789'])
      expect(size(typed), typed).to.deep.equal({ context: 123_456_789 });
    for (const typed of ['1234567890', '1,2345', '012', '0']) expect(size(typed), typed).to.equal('size');
  });

  it('says nothing of the cache, sizes and abilities of what is no text model', () => {
    const more = { 'audio-0': '5', 'above-0-0': '1000', 'context-0': '5', 'can-vision': 'yes' };
    const embedding = readCost({ 'input-0': '1', ...more }, { type: 'embedding' });
    expect(embedding).to.deep.equal({
      ...{ id: 'sold', type: 'embedding', provider: 'Acme', price: { markup: '1.30' } },
      routes: [{ upstream: 'up', model: 'm', cost: { currency: 'USD', input: '1.00' } }],
    });
  });

  it('keeps known costs of long prompts in the same currency, and what else a route has', () => {
    const bands = [{ above: 1000, input: '3', output: '4' }];
    const cost = { currency: 'USD', input: '1.00', output: '2.00' };
    const known = { ...cost, bands };
    expect(costOf(readCost(COST, { known }))).to.deep.equal(known);
    expect(costOf(readCost({ ...COST, currency: 'EUR' }, { known }))).to.deep.equal({ ...cost, currency: 'EUR' });
    const routes = [{ upstream: 'up', model: 'm', options: { a: 1 }, cost: known }];
    const sent = formOf({ ...COST, 'currency-0': 'USD' });
    expect(readRoutes({ sent, language: 'ru' }, 'text', routes)).to.deep.equal(routes);
  });
});
