// The catalogs in docs/catalog.md work as printed, alone and beside the shipped files, with servers as they describe.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { checkCatalog } from '../../lib/catalog/check.ts';
import { catalogFile, ORDERS } from '../../lib/catalog/schema.ts';
import { readConfig } from '../../lib/config.ts';
import { createAccountSchema } from '../../lib/upstream/host/account-settings.ts';
import { loadPlugins } from '../../lib/upstream/host/loader.ts';
import { ask, CHAT, send } from '../../testkit/client.ts';
import { type FilmUpstream, json, startFilmUpstream } from '../../testkit/film-upstream.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const PROVIDERS = fileURLToPath(new URL('../../providers', import.meta.url));
const SHIPPED = fileURLToPath(new URL('../../catalog', import.meta.url));
const guide = readFileSync(new URL('../../docs/catalog.md', import.meta.url), 'utf8');
const examples = [...guide.matchAll(/```json\n(.*?)```/gs)]
  .map(([, text = '']) => text)
  .filter((text) => text.includes('"models": ['));
const isOfText = (text: string) => JSON.parse(text).models[0].type === 'text';
const KEYS = { VLLM_API_KEY: 'vllm-key', SUBSCRIPTION_API_KEY: 'subscription-key' };

/** What joi says about a setting, as far as it is looked at. */
interface Described {
  readonly flags?: { readonly default?: unknown };
  readonly allow?: readonly unknown[];
}

/** What joi says about a catalog file: its parts, and the fields of each type of model. */
interface DescribedFile {
  readonly keys: Readonly<
    Record<string, { readonly items?: readonly { readonly matches: readonly { readonly switch: DescribedTypes }[] }[] }>
  >;
}
type DescribedTypes = readonly { readonly then?: { readonly keys: object } }[];

describe('the guide to the catalog', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-guide-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('documents every part of a file, and every field of a model', () => {
    const cells = guide.split('\n').flatMap((line) => /^\| ([^|]*) \|/.exec(line)?.[1] ?? []);
    const named = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    const { keys } = catalogFile.describe() as DescribedFile;
    const models = keys.models?.items?.[0]?.matches.flatMap(({ switch: types }) => types) ?? [];
    const fields = models.flatMap(({ then }) => Object.keys(then?.keys ?? {}));
    expect(fields).to.include.members(['id', 'maxOutput', 'maxInputs', 'edits', 'aspects']);
    expect(named).to.include.members([...Object.keys(keys), ...fields]);
  });

  it('documents every setting of every shipped plugin, with its values and the default address', async () => {
    const texts = [guide, readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8')];
    const rows = texts.flatMap((text) => text.split('\n')).filter((line) => line.startsWith('|'));
    for (const [name, plugin] of await loadPlugins({ shipped: PROVIDERS, path: [] })) {
      const { baseUrl, apiKey, proxy, ...own } = createAccountSchema(plugin).describe().keys as Record<
        string,
        Described
      >;
      if (baseUrl)
        expect(
          rows.find((row) => row.startsWith(`| \`${name}\` |`)),
          name,
        ).to.include(`\`${baseUrl.flags?.default}\``);
      for (const [setting, { allow = [] }] of Object.entries(own)) {
        const row = rows.find((line) => {
          const [, settings, of] = line.split('|');
          return settings?.includes(`\`${setting}\``) && of?.includes(`\`${name}\``);
        });
        for (const value of allow) expect(row, `${setting} of ${name}`).to.include(`\`${value}\``);
        expect(row, `${setting} of ${name}`).to.be.a('string');
      }
    }
  });

  it('has an example for each kind of server', () => {
    expect(examples).to.have.length(6);
    for (const name of ['vLLM', 'llama.cpp', 'Ollama', 'LM Studio', 'A subscription proxy', 'A video server'])
      expect(guide).to.match(new RegExp(`^${name.replace('.', '\\.')} ?[(,bi]?`, 'm'));
    for (const order of ORDERS) expect(guide).to.contain(`\`"order": "${order}"\``);
  });

  it('shows valid catalogs, also combined with the shipped files', async () => {
    cpSync(SHIPPED, folder, { recursive: true });
    const check = () => checkCatalog(readConfig({ CATALOG_DIR: folder, ...KEYS }));
    const before = await check();
    for (const [index, text] of examples.entries()) writeFileSync(join(folder, `z-${index}.json`), text);
    const after = await check();
    expect(after.models).to.equal(before.models + examples.length);
    expect(after.upstreams).to.equal(before.upstreams + examples.length + 1);
    expect(after.warnings).to.deep.equal(before.warnings);
  });

  describe('shows', () => {
    let upstream: TestUpstream;
    let films: FilmUpstream;
    let gateway: TestGateway;
    before(async () => {
      upstream = await startUpstream(chatAnswer('Hello there.', { input: 7, output: 400 }));
      films = await startFilmUpstream();
      gateway = await startGateway({ catalog: { upstreams: {}, models: [] }, env: KEYS });
    });
    afterEach(() => gateway.checkMoney());
    after(async () => {
      await gateway.stop();
      await Promise.all([upstream.close(), films.close()]);
    });

    /** The example is the whole catalog. */
    async function show(text: string, url: string): Promise<void> {
      gateway.writeCatalog(JSON.parse(text.replaceAll(/http:\/\/[\d.]+:\d+/g, url)));
      expect(await gateway.gateway.reload()).to.equal(true);
    }

    for (const text of examples.filter(isOfText)) {
      const { upstreams, models } = JSON.parse(text);
      const [{ id, delivery, routes }] = models;
      it(`${Object.keys(upstreams)[0]} with its replies`, async () => {
        await show(text, upstream.url);
        const { key } = await gateway.account();
        const reply = await send(gateway.url + CHAT, { key, body: ask('hi', { model: id }) });
        expect(reply.status, reply.text).to.equal(200);
        expect(reply.json.choices[0].message.content).to.equal('Hello there.');
        expect(reply.json.usage.completion_tokens).to.equal(delivery === 'buffered' ? 3 : 400);
        const { request, body } = upstream.calls.at(-1) ?? expect.fail('it was not asked');
        expect([request.url, body.model]).to.deep.equal(['/v1/chat/completions', routes[0].model]);
        const { settings } = Object.values(upstreams)[0] as { settings: { apiKey?: string } };
        expect('authorization' in request.headers).to.equal(settings.apiKey !== undefined);
        expect('stream_options' in body).to.equal(delivery !== 'buffered');
      });
    }

    it('a video server with its requests', async () => {
      await show(examples.find((example) => !isOfText(example)) ?? '', films.url);
      films.behave({ submit: ({ response, id }) => json(response, { id, status: 'queued' }) });
      const { key } = await gateway.account();
      const body = { model: 'film-local', prompt: 'x', resolution: '480p', aspect: '9:16' };
      const reply = await send(`${gateway.url}/api/v1/videos`, { key, body });
      expect(reply.json, reply.text).to.include({ seconds: 4, price_rub: 8 });
      expect([...films.begun.values()].join())
        .to.contain('480x832')
        .and.to.contain('wan');
    });
  });
});
