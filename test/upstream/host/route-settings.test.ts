import { expect } from 'chai';
import Joi from 'joi';
import { createPerRoute } from '../../../lib/upstream/host/route-settings.ts';

describe('options of a route', () => {
  const schema = Joi.object({
    baseUrl: Joi.string(),
    apiKey: Joi.string().meta({ secret: true }),
    token: Joi.string().meta({ secret: true }),
    proxy: Joi.string(),
    region: Joi.string(),
    tries: Joi.number(),
  });
  const settings = { baseUrl: 'https://one.example//', apiKey: 'a', token: 't', proxy: 'p', region: 'north', tries: 1 };
  let warnings: unknown[][];

  const make = (options: object) => {
    warnings = [];
    const log = { debug() {}, warn: (...words: unknown[]) => void warnings.push(words) };
    const perRoute = createPerRoute({ schema, log })(settings, (its, given) => ({ its, given }));
    return perRoute({ model: 'm', options } as Parameters<typeof perRoute>[0]);
  };

  it('stand in for the settings of their names', () => {
    const options = { region: 'south', tries: 2, baseUrl: 'https://two.example/', other: true };
    const { its, given } = make(options);
    expect(its).to.deep.equal({ ...settings, region: 'south', tries: 2, baseUrl: 'https://two.example' });
    expect(given).to.equal(options);
    expect(warnings).to.deep.equal([]);
  });

  it('change neither the account nor its connection', () => {
    expect(make({ apiKey: 'b', token: 'b', proxy: 'b' }).its).to.deep.equal({
      ...settings,
      baseUrl: 'https://one.example',
    });
  });

  it('are ignored with a warning where they are of another type, or nothing', () => {
    const { its } = make({ region: 7, tries: '2', baseUrl: undefined });
    expect(its).to.deep.equal({ ...settings, baseUrl: 'https://one.example' });
    expect(warnings).to.deep.equal([
      ['route options with unknown values are ignored', { model: 'm', names: ['baseUrl', 'region', 'tries'] }],
    ]);
  });

  it('are read once for each route', () => {
    let made = 0;
    const log = { debug() {}, warn() {} };
    const perRoute = createPerRoute({ schema, log })(settings, () => {
      made += 1;
      return made;
    });
    const [one, other] = [{ region: 'south' }, { region: 'south' }].map((options) => ({ model: 'm', options }));
    const ask = (route: unknown) => perRoute(route as Parameters<typeof perRoute>[0]);
    expect([ask(one), ask(one), ask(other), ask(one)]).to.deep.equal([1, 1, 2, 1]);
  });
});
