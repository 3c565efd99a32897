// The shipped catalog with the variables of a single upstream.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { computeVideoTerms } from '../../lib/calls/videos/terms.ts';
import type { Catalog } from '../../lib/catalog/catalog.ts';
import { openLiveCatalog } from '../../lib/catalog/live.ts';
import type { VideoModel } from '../../lib/catalog/model.ts';
import type { ModelEntry, TextEntry } from '../../lib/catalog/schema.ts';
import { SECONDS } from '../../lib/catalog/video-lengths.ts';
import { readConfig } from '../../lib/config.ts';
import { toRub } from '../../lib/money/money.ts';

const SHIPPED = fileURLToPath(new URL('../../catalog', import.meta.url));

interface Row {
  readonly env: Readonly<Record<string, string>>;
  /** Of `lite`, `standard` and `heavy`. */
  readonly smart: readonly string[];
  readonly vision: readonly string[];
  readonly image?: string;
  readonly edit?: string;
  /** Models that make videos, with what a video costs that names nothing but its prompt. */
  readonly videos?: Readonly<Record<string, string>>;
}

const FILMS = { smart: [], vision: [] };

type Fields = Readonly<Record<string, unknown>>;

const FLAGS = ['vision', 'documents', 'audio', 'tools', 'json', 'schema', 'reasoning'];

const ROWS: readonly Row[] = [
  {
    env: { OPENAI_API_KEY: 'sk-test' },
    smart: ['gpt-6-luna', 'gpt-6.1-terra', 'gpt-6.1-sol'],
    vision: ['gpt-6.1-terra', 'gpt-6.1-sol'],
    image: 'gpt-image-2',
    edit: 'gpt-image-2',
  },
  {
    env: { ANTHROPIC_API_KEY: 'sk-ant-test' },
    smart: ['claude-haiku-5-5', 'claude-sonnet-5-5', 'claude-opus-5-5'],
    vision: ['claude-haiku-5-5', 'claude-sonnet-5-5'],
  },
  {
    env: { OPENROUTER_API_KEY: 'sk-or-test' },
    smart: ['gpt-6-luna', 'gpt-6.1-terra', 'claude-opus-5-5'],
    vision: [
      ...['gpt-6.1-terra', 'claude-haiku-5-5', 'gpt-6.1-sol', 'claude-sonnet-5-5', 'deepseek-flash'],
      ...['gemini-3.1-flash-lite', 'gemini-3.8-flash', 'mistral-small', 'mistral-medium'],
      ...['gemma-4-31b', 'qwen3.5-397b', 'grok-4.3', 'grok-4.7'],
    ],
  },
  {
    env: { MISTRAL_API_KEY: 'mistral-test' },
    smart: ['mistral-small', 'mistral-large', 'mistral-medium'],
    vision: ['mistral-small', 'mistral-medium'],
  },
  {
    env: { XAI_API_KEY: 'xai-test' },
    videos: { 'grok-imagine-video': '150 RUB, 5 s at 1080p' },
    smart: ['grok-4.3', 'grok-4.3', 'grok-4.7'],
    vision: ['grok-4.3', 'grok-4.7'],
  },
  {
    env: { GROQ_API_KEY: 'gsk-test' },
    smart: ['gpt-oss-20b', 'gpt-oss-120b', 'gpt-oss-120b'],
    vision: ['qwen3.8-27b'],
  },
  {
    env: { TOGETHER_API_KEY: 'tgp-test' },
    smart: ['gemma-4-31b', 'llama-3.3-70b', 'qwen3.5-397b'],
    vision: ['gemma-4-31b', 'qwen3.5-397b'],
  },
  {
    env: { DEEPSEEK_API_KEY: 'sk-test' },
    smart: ['deepseek-flash', 'deepseek-flash', 'deepseek-v4-pro'],
    vision: ['deepseek-flash'],
  },
  {
    env: { GEMINI_API_KEY: 'AIza-test' },
    videos: { 'veo-3.1': '192 RUB, 4 s at 720p', 'veo-3.1-fast': '48 RUB, 4 s at 720p' },
    smart: ['gemini-3.1-flash-lite', 'gemini-3.8-flash', 'gemini-3.8-flash'],
    vision: ['gemini-3.1-flash-lite', 'gemini-3.8-flash'],
    image: 'gemini-3.1-flash-image',
    edit: 'gemini-3.1-flash-image',
  },
  {
    env: { GIGACHAT_API_KEY: 'a2V5OnNlY3JldA==' },
    smart: ['gigachat-2', 'gigachat-2-pro', 'gigachat-2-max'],
    vision: ['gigachat-2-max', 'gigachat-2-pro'],
  },
  {
    env: { YANDEX_API_KEY: 'AQVN-test', YANDEX_FOLDER: 'b1g' },
    smart: ['yandexgpt-lite', 'yandexgpt', 'yandexgpt'],
    vision: [],
  },
  {
    ...FILMS,
    env: { FAL_API_KEY: 'fal-test' },
    image: 'flux-schnell',
    edit: 'nano-banana',
    videos: { 'kling-v2.5-turbo': '42 RUB, 5 s at 1080p' },
  },
  {
    ...FILMS,
    env: { REPLICATE_API_KEY: 'r8-test' },
    image: 'flux-1.1-pro',
    edit: 'nano-banana',
    videos: { 'kling-v2.5-turbo': '42 RUB, 5 s at 1080p' },
  },
  {
    ...FILMS,
    env: { KLING_API_KEY: 'access:secret' },
    videos: { 'kling-v3': '67.2 RUB, 5 s at 1080p', 'kling-v2-6': '42 RUB, 5 s at 1080p' },
  },
  {
    ...FILMS,
    env: { MINIMAX_API_KEY: 'mm-test' },
    videos: { 'hailuo-2.3': '40.32 RUB, 6 s at 768p', 'hailuo-2.3-hd': '58.86 RUB, 6 s at 1080p' },
  },
  { ...FILMS, env: { ARK_API_KEY: 'ark-test' }, videos: { 'seedance-2.0': '227.5 RUB, 5 s at 1080p' } },
  { ...FILMS, env: { RUNWAYML_API_SECRET: 'key_test' }, videos: { 'gen-4.5': '72 RUB, 5 s at 720p' } },
  { ...FILMS, env: { DASHSCOPE_API_KEY: 'sk-test' }, videos: { 'wan-2.6': '90 RUB, 5 s at 1080p' } },
  { env: { BFL_API_KEY: 'bfl-test' }, smart: [], vision: [], image: 'flux-kontext-pro', edit: 'flux-kontext-pro' },
];

async function load(env: Readonly<Record<string, string>>): Promise<[Catalog, readonly string[]]> {
  const lines: string[] = [];
  const note = (message: string) => void lines.push(message);
  const config = { ...readConfig({}), catalogDir: SHIPPED, env };
  const log = { info() {}, warn: note, error: note };
  const live = await openLiveCatalog({ config, sandbox: false, log, onSecrets() {} });
  await live.close();
  return [live.current(), lines];
}

interface ShippedFile {
  readonly models?: readonly ModelEntry[];
  readonly upstreams?: object;
}

function readShipped(): readonly ShippedFile[] {
  const files = readdirSync(SHIPPED).filter((name) => name.endsWith('.json'));
  return files.map((file) => JSON.parse(readFileSync(join(SHIPPED, file), 'utf8')));
}

function listShippedModels(): readonly ModelEntry[] {
  return readShipped().flatMap(({ models = [] }) => models);
}

function listShippedTexts(): readonly TextEntry[] {
  return listShippedModels().filter((model) => model.type === 'text');
}

const ALL_KEYS: Readonly<Record<string, string>> = Object.assign({}, ...ROWS.map(({ env }) => env));

describe('the shipped catalog', () => {
  it('is tested with the variables of each upstream alone', () => {
    const named = readShipped().flatMap(({ upstreams = {} }) =>
      [...JSON.stringify(upstreams).matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name),
    );
    expect(ROWS.flatMap(({ env }) => Object.keys(env))).to.have.members([...new Set(named)]);
  });

  it('declares the abilities of every text model', () => {
    const silent = (listShippedTexts() as unknown as readonly Fields[]).flatMap((model) =>
      FLAGS.filter((flag) => typeof model[flag] !== 'boolean').map(() => model.id),
    );
    expect(silent).to.deep.equal([]);
  });

  it('says how long a prompt of each text model but the sandbox may be', () => {
    const unknown = listShippedTexts().filter(({ id, context }) => context === undefined && !id.startsWith('sandbox'));
    expect(unknown.map(({ id }) => id)).to.deep.equal([]);
    for (const { id, context = 0, maxOutput = 0 } of listShippedTexts()) expect(maxOutput, id).to.be.at.most(context);
  });

  it('asks no model of OpenAI for minimal effort, which they refuse', () => {
    const routes = listShippedTexts().flatMap(({ routes }) => routes);
    const optionsOf = (name: string) =>
      routes.filter(({ upstream }) => upstream === name).map(({ options = {} }) => options as Fields);
    expect(optionsOf('openai')).to.have.length.above(0);
    for (const { efforts } of optionsOf('openai'))
      expect(efforts).to.deep.equal(['none', 'low', 'medium', 'high', 'xhigh', 'max']);
    for (const { off } of optionsOf('openai-responses')) expect(off).to.equal('low');
  });

  it('prices cached tokens below others, their writing above, and long prompts above short ones', async () => {
    const [{ models }] = await load(ALL_KEYS);
    for (const { id, price } of models.flatMap((model) => (model.type === 'text' ? [model] : []))) {
      const { bands = [], ...base } = price;
      for (const rates of [base, ...bands]) {
        const { input, output, cacheRead = input, cacheWrite = input, cacheWrite1h = cacheWrite } = rates;
        const rising = [cacheRead, input, cacheWrite, cacheWrite1h].map(Number);
        expect(rising, id).to.deep.equal(rising.toSorted((one, other) => one - other));
        expect(Number(output), id).to.be.at.least(Number(input));
        // A band has its own cache prices: one that is forgotten would be the input price.
        const names = Object.keys(rates).filter((name) => name !== 'above');
        expect(names, id).to.have.members(Object.keys(base));
      }
      for (const { input, above } of bands) {
        expect(Number(input), id).to.be.above(Number(base.input));
        expect(above, id).to.be.at.least(100_000);
      }
    }
  });

  it('states the facts of every embedding model, and takes tokens only where they are those of its vendor', async () => {
    const [{ models }] = await load(ALL_KEYS);
    const found = models.flatMap((model) =>
      model.type === 'embedding' && model.provider !== 'Sandbox' ? [model] : [],
    );
    expect(found.map(({ id }) => id)).to.include.members([
      'text-embedding-3-small',
      'text-embedding-3-large',
      'gemini-embedding-001',
      'mistral-embed',
      'text-search-doc',
      'text-search-query',
    ]);
    for (const { id, dimensions, context } of found) {
      expect(dimensions?.default, id).to.be.a('number');
      expect(context, id).to.be.a('number');
    }
    const takingTokens = found.filter(({ tokens }) => tokens).map(({ provider }) => provider);
    expect([...new Set(takingTokens)]).to.deep.equal(['OpenAI']);
  });

  it('sends few texts of an embedding at once to a vendor that takes few tokens in one request', () => {
    const { upstreams } = JSON.parse(readFileSync(join(SHIPPED, 'vendor-mistral.json'), 'utf8'));
    // Of 512 tokens each: it takes 16,384 in all.
    expect(upstreams.mistral.settings.inputsMax).to.equal(32);
  });

  for (const { env, smart, vision, image, edit, videos = {} } of ROWS) {
    describe(`with ${Object.keys(env).join(' and ')} alone`, () => {
      let catalog: Catalog;
      let lines: readonly string[];
      before(async () => {
        [catalog, lines] = await load(env);
      });

      it('loads without warnings', () => expect(lines).to.deep.equal([]));

      it('has a model for every tier', () => {
        expect(Object.values(catalog.smart?.models ?? {}).map(({ id }) => id)).to.deep.equal(smart);
      });

      it('has vision models', () => {
        expect(catalog.vision.map(({ id }) => id)).to.deep.equal(vision);
        for (const model of catalog.vision) expect(model.vision, model.id).to.equal(true);
      });

      it('declares tools only if all routes of a model support them', () => {
        const texts = catalog.models.flatMap((model) => (model.type === 'text' && model.tools ? [model] : []));
        for (const { id, routes } of texts) {
          expect(
            routes.every(({ provider }) => provider.tools),
            id,
          ).to.equal(true);
        }
      });

      it('has video models that support every declared length and aspect', () => {
        const models = catalog.models.filter(
          (model) => model.type === 'video' && model.routes.length > 0,
        ) as VideoModel[];
        const bare = { seconds: undefined, size: undefined, aspect: undefined, resolution: undefined };
        const found = models.map((model) => {
          const { price, asked } = computeVideoTerms(model, bare);
          return [model.id, `${toRub(price.amount)} RUB, ${asked.seconds} s at ${asked.resolution}`];
        });
        expect(Object.fromEntries(found)).to.deep.equal(videos);
        for (const model of models) {
          for (const aspect of model.aspects ?? [])
            expect(computeVideoTerms(model, { ...bare, aspect }).asked.aspect).to.equal(aspect);
          for (const seconds of model.seconds ?? []) {
            expect(seconds).to.be.within(SECONDS.least, SECONDS.most);
            expect(computeVideoTerms(model, { ...bare, seconds }).asked.seconds).to.equal(seconds);
          }
        }
      });

      it('has default models for images and edits', () => {
        expect(catalog.defaults.image?.id).to.equal(image);
        expect(catalog.defaults.edit?.id).to.equal(edit);
      });
    });
  }
});
