// The catalog that channels, ratios and groups become.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import { buildCatalogParts } from '../../lib/moving/catalog-parts.ts';
import { readSource } from '../../lib/moving/read-source.ts';
import type { Source, SourceChannel } from '../../lib/moving/source.ts';
import { NEW_API } from './new-api.ts';

const NOTHING = { completionRatio: undefined, taken: new Set<string>() };

describe('the catalog of what moved in', () => {
  let source: Source;

  before(async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-moving-'));
    const db = new DatabaseSync(join(folder, 'a.db'));
    db.exec(NEW_API);
    db.close();
    source = await readSource(join(folder, 'a.db'), { program: 'new-api', rate: 80_000_000n });
    rmSync(folder, { recursive: true });
  });

  const leftOut = (parts: ReturnType<typeof buildCatalogParts>) =>
    parts.leftOut.map(({ what, why }) => `${what}: ${why}`);

  function build(channel: Partial<SourceChannel>, program: Source['program'] = 'new-api') {
    const channels = [{ ...(source.channels[0] as SourceChannel), ...channel }];
    return buildCatalogParts({ ...source, program, channels }, NOTHING);
  }

  it('has upstreams without their secrets, and models with prices and routes in order', () => {
    const { catalog, secrets } = buildCatalogParts(source, NOTHING);
    const variable = (name: string) => `\${NEW_API_${name}_API_KEY}`;
    expect(catalog.upstreams).to.deep.equal({
      'new-api-7': {
        plugin: 'openai-compatible',
        settings: { baseUrl: 'http://127.0.0.1:4010/v1', apiKey: [variable('7_1'), variable('7_2')] },
      },
      'new-api-7-image': {
        plugin: 'openai-images',
        settings: { baseUrl: 'http://127.0.0.1:4010/v1', apiKey: [variable('7_1'), variable('7_2')] },
      },
      'new-api-8': {
        plugin: 'openai-compatible',
        settings: { baseUrl: 'https://api.deepseek.com/v1', apiKey: variable('8') },
      },
    });
    expect([...secrets]).to.deep.equal([
      ['NEW_API_7_1_API_KEY', 'sk-one'],
      ['NEW_API_7_2_API_KEY', 'sk-two'],
      ['NEW_API_8_API_KEY', 'sk-deep'],
    ]);
    const text = { type: 'text', provider: 'OpenAI', tools: true, json: true };
    const chat = { upstream: 'new-api-7', model: 'deepseek-chat' };
    expect(catalog.models).to.deep.equal([
      {
        ...{ ...text, id: 'gpt-4o', vision: true, routes: [{ upstream: 'new-api-7', model: 'up-4o' }] },
        price: { input: '200.00', output: '800.00', audio: '3200.00', cacheRead: '100.00', cacheWrite: '250.00' },
      },
      {
        ...{ ...text, id: 'deepseek-chat', routes: [chat, { ...chat, upstream: 'new-api-8' }] },
        price: { input: '21.60', output: '87.912' },
      },
      {
        ...{ id: 'text-embedding-3-small', type: 'embedding', provider: 'OpenAI', price: { input: '1.60' } },
        routes: [{ upstream: 'new-api-7', model: 'text-embedding-3-small' }],
      },
      {
        ...{ id: 'gpt-image-1', type: 'image', provider: 'OpenAI', price: { request: '3.20' } },
        routes: [{ upstream: 'new-api-7-image', model: 'gpt-image-1' }],
      },
    ]);
  });

  it('makes groups with other ratios price lists', () => {
    const { catalog, lists, leftOut: notes } = buildCatalogParts(source, NOTHING);
    expect(catalog.priceLists).to.deep.equal({ vip: { factor: '0.85' }, 'group-2': { factor: '1.2' } });
    expect([...lists]).to.deep.equal([
      ['vip', 'vip'],
      ['Группа 2', 'group-2'],
    ]);
    expect(notes.map(({ what }) => what)).to.include('group free');
  });

  it('has price lists only if a group has another ratio', () => {
    const parts = (groups: Source['groups']) => buildCatalogParts({ ...source, groups }, NOTHING).catalog;
    expect(parts(new Map([['default', { units: 10n, scale: 1 }]]))).to.not.have.property('priceLists');
    const one = parts(new Map([['vip', { units: 9n, scale: 1 }]]));
    expect(one.priceLists).to.deep.equal({ vip: { factor: '0.9' } });
  });

  it('takes factors above zero, up to a thousand and with six decimals', () => {
    const listed = (units: bigint, scale: number) => {
      const { lists, leftOut: notes } = buildCatalogParts(
        { ...source, groups: new Map([['g', { units, scale }]]) },
        NOTHING,
      );
      return lists.has('g') ? 'listed' : notes.find(({ what }) => what === 'group g');
    };
    expect([listed(1000n, 0), listed(1n, 6), listed(10000n, 1)]).to.deep.equal(['listed', 'listed', 'listed']);
    const not = (factor: string) => ({
      what: 'group g',
      count: 1,
      why: `a price list cannot have the factor ${factor}`,
    });
    expect([listed(0n, 0), listed(1001n, 0), listed(1n, 7), listed(10_000_001n, 4)]).to.deep.equal(
      ['0', '1001', '0.0000001', '1000.0001'].map(not),
    );
  });

  it('tries channels by priority, then by weight, then by age', () => {
    const channel = (id: string, priority: bigint, weight: bigint, isActive = true) => {
      const shared = { type: '1', keys: ['k'], models: ['gpt-4o'], mapping: new Map(), baseUrl: '' };
      return { ...(source.channels[0] as SourceChannel), ...shared, id, priority, weight, isActive };
    };
    const channels = [
      ...[channel('10', 0n, 0n), channel('9', 0n, 0n), channel('8', 0n, 1n), channel('7', 0n, 5n)],
      ...[channel('6', -1n, 9n), channel('11', 3n, 0n), channel('5', 9n, 9n, false), channel('4', 9n, 9n, false)],
    ];
    const parts = buildCatalogParts({ ...source, channels }, NOTHING);
    const [model] = parts.catalog.models as readonly { routes: readonly { upstream: string }[] }[];
    expect(model?.routes.map(({ upstream }) => upstream)).to.deep.equal(
      ['11', '7', '8', '9', '10', '6'].map((id) => `new-api-${id}`),
    );
    expect(parts.leftOut[0]).to.deep.equal({
      what: 'disabled channels',
      count: 2,
      why: 'they are switched off there',
    });
    const one = buildCatalogParts({ ...source, channels: channels.slice(0, 7) }, NOTHING);
    expect(one.leftOut[0]).to.include({ what: 'disabled channels', count: 1 });
    expect(leftOut(buildCatalogParts(source, NOTHING)).join()).to.not.include('disabled channels');
  });

  it('leaves out models without a price, and those that cost an amount a call', () => {
    const models = ['gpt-nowhere', 'gpt-4o', 'gpt-other', 'gpt-a-call'];
    const channels = [{ ...(source.channels[0] as SourceChannel), models }];
    const dollars = { units: 1n, scale: 2 };
    const findPrice: Source['findPrice'] = (model, type) =>
      model === 'gpt-a-call' ? { per: 'call', dollars } : source.findPrice(model, type);
    const parts = buildCatalogParts({ ...source, channels, findPrice }, NOTHING);
    expect(parts.leftOut.filter(({ what }) => what.startsWith('models'))).to.deep.equal([
      { what: 'models gpt-nowhere, gpt-other', count: 2, why: 'the store has no price of them' },
      {
        what: 'models gpt-a-call',
        count: 1,
        why: 'they cost an amount a call there, and tokens are counted here',
      },
    ]);
  });

  it('gives each group a list of its own, whatever the others are called', () => {
    const names = ['group-2', 'Группа', 'VIP', 'vip', 'group-4', 'none', '__proto__', 'a b', 'a-b'];
    const groups = new Map(names.map((name, at) => [name, { units: BigInt(at + 2), scale: 0 }]));
    const { catalog, lists } = buildCatalogParts({ ...source, groups }, NOTHING);
    const factors = names.map((name) => (catalog.priceLists?.[lists.get(name) ?? ''] as { factor?: string })?.factor);
    expect(factors).to.deep.equal(names.map((_name, at) => String(at + 2)));
    expect(names.map((name) => lists.get(name))).to.deep.equal([
      ...['group-2', 'group-3', 'vip', 'group-4', 'group-5', 'group-6', 'group-7', 'a-b', 'group-9'],
    ]);
  });

  it('says which models it leaves out, and why', () => {
    expect(leftOut(buildCatalogParts(source, NOTHING))).to.include.members([
      'models deepseek-reasoner: they cost nothing there, and nothing is free here',
      'models gemini-2.5-flash: the store does not say what their output costs: --completion-ratio does',
      'models veo-3: nothing here makes what they make through their channel',
    ]);
    const options = { completionRatio: { units: 85n, scale: 1 }, taken: new Set(['gpt-4o']) };
    const parts = buildCatalogParts(source, options);
    expect(leftOut(parts)).to.include('models gpt-4o: the catalog has models of these names already');
    const flash = parts.catalog.models.find((model) => (model as { id: string }).id === 'gemini-2.5-flash');
    expect(flash).to.deep.include({ price: { input: '24.00', output: '204.00' }, vision: true });
  });

  for (const [what, channel, why] of [
    ['of an unknown type', { type: '99' }, 'its type 99 is unknown'],
    ['of a type that nothing here speaks', { type: '33' }, 'nothing here speaks the API of its type, AWS Bedrock'],
    ['without a base URL', { type: '3', baseUrl: '' }, 'it has no base URL'],
    ['without a key', { keys: [] }, 'it has no key'],
    ['with a key that is a text', { keys: ['{"a": 1}'] }, 'its key is no plain text'],
  ] as const) {
    it(`leaves out a channel ${what}`, () => {
      const parts = build(channel);
      expect(parts.catalog).to.deep.include({ upstreams: {}, models: [] });
      expect(parts.leftOut).to.deep.include({ what: 'channel 7 main', count: 1, why });
    });
  }

  for (const [program, type, baseUrl, wanted] of [
    ['new-api', '1', 'https://api.example.com/v1/', 'https://api.example.com/v1'],
    ['new-api', '8', 'https://api.example.com/x/chat/completions', 'https://api.example.com/x'],
    ['one-api', '8', 'https://api.example.com', 'https://api.example.com/v1'],
    ['one-api', '50', 'https://api.example.com/x/v1', 'https://api.example.com/x/v1'],
    ['one-api', '36', '', 'https://api.deepseek.com/v1'],
    ['one-hub', '28', '', 'https://api.deepseek.com/v1'],
    ['new-api', '26', '', 'https://open.bigmodel.cn/api/paas/v4'],
  ] as const) {
    it(`knows the address of type ${type} of ${program} with ${baseUrl || 'none of its own'}`, () => {
      const [upstream] = Object.values(build({ type, baseUrl }, program).catalog.upstreams);
      expect((upstream as { settings: { baseUrl: string } }).settings.baseUrl).to.equal(wanted);
    });
  }
});
