// The catalog that ships, with the variables of one upstream set and no others.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { Catalog } from '../../lib/catalog/catalog.ts';
import { openLiveCatalog } from '../../lib/catalog/live.ts';
import { readConfig } from '../../lib/config.ts';

const SHIPPED = fileURLToPath(new URL('../../catalog', import.meta.url));

interface Row {
  readonly env: Readonly<Record<string, string>>;
  /** Of `lite`, `standard` and `heavy`. */
  readonly smart: readonly string[];
  readonly vision: readonly string[];
  readonly image?: string;
  readonly edit?: string;
}

const ROWS: readonly Row[] = [
  {
    env: { OPENAI_API_KEY: 'sk-test' },
    smart: ['gpt-5-nano', 'gpt-5-mini', 'gpt-5'],
    vision: ['gpt-5-mini', 'gpt-5'],
  },
  {
    env: { ANTHROPIC_API_KEY: 'sk-ant-test' },
    smart: ['claude-haiku-4-5', 'claude-sonnet-4-5', 'claude-opus-4-5'],
    vision: ['claude-haiku-4-5', 'claude-sonnet-4-5'],
  },
  {
    env: { OPENROUTER_API_KEY: 'sk-or-test' },
    smart: ['gpt-5-nano', 'gpt-5-mini', 'claude-opus-4-5'],
    vision: [
      'gpt-5-mini',
      'claude-haiku-4-5',
      'gpt-5',
      'claude-sonnet-4-5',
      'gemini-2.5-flash',
      'gemini-2.5-pro',
      'mistral-small',
      'mistral-medium',
      'gemma-4-31b',
      'qwen3.5-397b',
      'grok-4.3',
      'grok-4.7',
    ],
  },
  {
    env: { MISTRAL_API_KEY: 'mistral-test' },
    smart: ['mistral-small', 'mistral-large', 'mistral-medium'],
    vision: ['mistral-small', 'mistral-medium'],
  },
  {
    env: { XAI_API_KEY: 'xai-test' },
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
  // None of its models sees.
  {
    env: { DEEPSEEK_API_KEY: 'sk-test' },
    smart: ['deepseek-chat', 'deepseek-chat', 'deepseek-reasoner'],
    vision: [],
  },
  {
    env: { GEMINI_API_KEY: 'AIza-test' },
    smart: ['gemini-2.5-flash-lite', 'gemini-2.5-flash', 'gemini-2.5-pro'],
    vision: ['gemini-2.5-flash', 'gemini-2.5-pro'],
    image: 'gemini-2.5-flash-image',
    edit: 'gemini-2.5-flash-image',
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

describe('the shipped catalog', () => {
  it('is looked at with the variables of each upstream alone', () => {
    const named = readdirSync(SHIPPED).flatMap((file) => {
      const { upstreams } = JSON.parse(readFileSync(join(SHIPPED, file), 'utf8')) as { upstreams: object };
      return [...JSON.stringify(upstreams).matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    });
    expect(ROWS.flatMap(({ env }) => Object.keys(env))).to.have.members(named);
  });

  for (const { env, smart, vision, image, edit } of ROWS) {
    describe(`with ${Object.keys(env).join(' and ')} alone`, () => {
      let catalog: Catalog;
      let lines: readonly string[];
      before(async () => {
        [catalog, lines] = await load(env);
      });

      it('loads without a complaint', () => expect(lines).to.deep.equal([]));

      it('has a model for every tier', () => {
        expect(Object.values(catalog.smart?.models ?? {}).map(({ id }) => id)).to.deep.equal(smart);
      });

      it('has models that see', () => {
        expect(catalog.vision.map(({ id }) => id)).to.deep.equal(vision);
        for (const model of catalog.vision) expect(model.vision, model.id).to.equal(true);
      });

      it('has models that draw and edit by default', () => {
        expect(catalog.defaults.image?.id).to.equal(image);
        expect(catalog.defaults.edit?.id).to.equal(edit);
      });
    });
  }
});
