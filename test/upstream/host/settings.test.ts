import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type Joi from 'joi';
import { OperatorError } from '../../../lib/base/operator-error.ts';
import type { AccountSettings, Host, ProviderPlugin } from '../../../lib/upstream/contract/provider.ts';
import { createProvider, type OpenProvider } from '../../../lib/upstream/host/settings.ts';

type Keys = (joi: Joi.Root) => Joi.SchemaMap;

const usual: Keys = (joi) => ({
  baseUrl: joi.string().uri().default('https://api.example.com/v1'),
  apiKey: joi.alternatives(joi.string(), joi.array().items(joi.string())).required().meta({ secret: true }),
  proxy: joi.string(),
  retries: joi.number().integer(),
});

interface Opened {
  readonly open: OpenProvider;
  readonly host: Host;
  readonly settings: object;
}

function open(keys: Keys, settings: unknown, more: Partial<ProviderPlugin> = {}): Opened {
  let given: { settings: object; host: Host } | undefined;
  const plugin: ProviderPlugin = {
    contract: 1,
    name: 'acme-compatible',
    settings: (joi) => joi.object(keys(joi)),
    create(settings, host) {
      given = { settings, host };
      return {};
    },
    ...more,
  };
  const made = createProvider({ plugin, upstream: 'acme', settings, log: { warn() {} } });
  if (!given) throw new Error('create was not called');
  return { open: made, ...given };
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).to.be.instanceOf(OperatorError);
    const { message } = error as OperatorError;
    expect(message).not.to.include('\n');
    return message;
  }
  return expect.fail('it was not refused');
}

describe('settings of an upstream', () => {
  describe('that nearly every upstream has', () => {
    const account = (isKeyOptional: boolean): Partial<ProviderPlugin> => ({
      settings(joi, make) {
        const makeSchema = isKeyOptional ? make.keyOptional : make;
        return makeSchema<AccountSettings & { folder: string }>('https://api.example.com/v1', { folder: joi.string() });
      },
    });

    it('are made by the gateway, and the plugin adds its own', () => {
      const { settings, open: made } = open(usual, { apiKey: ['one-key', 'two-key'], folder: 'f' }, account(false));
      expect(settings).to.deep.equal({
        apiKey: ['one-key', 'two-key'],
        folder: 'f',
        baseUrl: 'https://api.example.com/v1',
      });
      expect(made.secrets).to.include.members(['one-key', 'two-key']);
    });

    it('have a key, unless the plugin says that there may be none', () => {
      expect(refusal(() => open(usual, {}, account(false)))).to.include('`apiKey` is required');
      expect(open(usual, {}, account(true)).settings).to.deep.equal({ baseUrl: 'https://api.example.com/v1' });
    });

    it('have one key or several, each without spaces around it, and perhaps a proxy', () => {
      const proxy = 'http://127.0.0.1:3128/';
      const { settings, open: made } = open(usual, { apiKey: ['one-key'], proxy }, account(false));
      expect(settings)
        .to.include({ proxy })
        .and.to.deep.include({ apiKey: ['one-key'] });
      expect([made.proxy, made.secrets]).to.deep.equal([proxy, ['one-key']]);
      for (const apiKey of [[], ' one-key', ['one-key ']]) {
        expect(refusal(() => open(usual, { apiKey }, account(false)))).to.include('`apiKey');
      }
    });

    it('have no key in quotes, and may have one in part of them', () => {
      for (const apiKey of ['"sk-one"', ['one-key', "'two-key'"], '""']) {
        const message = refusal(() => open(usual, { apiKey }, account(false)));
        expect(message)
          .to.include('is in quotes, which would be sent as a part of it')
          .and.not.match(/one|two/);
      }
      for (const apiKey of ['"sk-one', `"sk-one'`, '{"a":"b"}'])
        expect(open(usual, { apiKey }, account(false)).settings).to.include({ apiKey });
    });

    it('have no key that a header cannot carry', () => {
      for (const apiKey of ['sk-one\r', ['one-key', 'two-key\r\n']]) {
        expect(refusal(() => open(usual, { apiKey }, account(false)))).to.include('leading or trailing whitespace');
      }
      for (const apiKey of ['sk-one\nkey', 'sk-\u200bone', ['one-key', 'ключ-два']]) {
        const message = refusal(() => open(usual, { apiKey }, account(false)));
        expect(message)
          .to.include('has a character that no header can carry')
          .and.not.match(/one.key|ключ/s);
      }
    });

    it('lead to URLs', () => {
      expect(refusal(() => open(usual, { apiKey: 'k', baseUrl: 'ftp://a' }, account(false)))).to.include('`baseUrl`');
    });
  });

  it('are checked, completed with defaults and handed to the plugin', () => {
    const { settings, host } = open(usual, { apiKey: 'sk-abcdef' });
    expect(settings).to.deep.equal({ apiKey: 'sk-abcdef', baseUrl: 'https://api.example.com/v1' });
    expect(host.upstream).to.equal('acme');
  });

  it('tell the origin of `baseUrl`, by default and as it is set, and of nothing else', () => {
    const originOf = (keys: Keys, settings: object) => open(keys, settings).open.origin;
    expect(originOf(usual, { apiKey: 'sk-abcdef' })).to.equal('https://api.example.com');
    const baseUrl = 'http://127.0.0.1:8081/v1/';
    expect(originOf(usual, { apiKey: 'sk-abcdef', baseUrl })).to.equal('http://127.0.0.1:8081');
    expect(originOf((joi) => ({ authUrl: joi.string() }), { authUrl: 'https://auth.example.com' })).to.equal(undefined);
  });

  it('tell the proxy, which results are fetched through', () => {
    const proxy = 'http://user:p%40ssword@127.0.0.1:3128/';
    expect(open(usual, { apiKey: 'sk-abcdef', proxy }).open.proxy).to.equal(proxy);
    expect(open(usual, { apiKey: 'sk-abcdef' }).open.proxy).to.equal(undefined);
  });

  it('refuse a proxy whose password is not encoded, without showing it', () => {
    const proxy = 'http://user:p%ssword@127.0.0.1:3128/';
    expect(refusal(() => open(usual, { apiKey: 'sk-abcdef', proxy }))).to.equal(
      'Upstream `acme`: `proxy`: in the user and the password, % has to be written as %25',
    );
  });

  const bad: readonly (readonly [what: string, settings: unknown, words: string])[] = [
    ['a missing key', {}, '`apiKey` is required'],
    ['no settings at all', undefined, '`apiKey` is required'],
    ['an unknown setting', { apiKey: 'sk-abcdef', apikey: 'x' }, '`apikey` is not allowed'],
    ['a number as text', { apiKey: 'sk-abcdef', retries: '3' }, '`retries` must be a number'],
    ['something else than an object', 'sk-abcdef', 'must be of type object'],
    ['two mistakes at once', { retries: 1.5 }, '`apiKey` is required; `retries` must be an integer'],
  ];
  for (const [what, settings, words] of bad) {
    it(`refuse ${what} in one line that names the upstream`, () => {
      const message = refusal(() => open(usual, settings));
      expect(message)
        .to.match(/^Upstream `acme`: bad settings: /)
        .and.include(words);
    });
  }

  it('are refused without showing a secret', () => {
    const keys: Keys = (joi) => ({
      apiKey: joi
        .string()
        .pattern(/^\w+:\w+$/)
        .meta({ secret: true }),
    });
    const message = refusal(() => open(keys, { apiKey: 'sk-no-colon-here' }));
    expect(message).to.include('`apiKey`').and.not.include('no-colon');
  });

  it('name their secrets: marked ones at any depth, every key of a list, and those in addresses', () => {
    const keys: Keys = (joi) => ({
      ...usual(joi),
      access: joi.object({ id: joi.string(), token: joi.string().meta({ secret: true }) }),
      accounts: joi.array().items(joi.object({ password: joi.string().meta({ secret: true }) })),
      either: joi.alternatives(joi.number(), joi.string().meta({ secret: true })),
      pair: joi.object().unknown().meta({ secret: true }),
      mirrors: joi.array().items(joi.object().unknown()),
    });
    const { open: made } = open(keys, {
      apiKey: ['sk-first-key', 'sk-second-key'],
      access: { id: 'not-secret', token: 'token-value' },
      accounts: [{ password: 'password-1' }, { password: 'password-2' }],
      either: 'either-value',
      pair: { one: 'pair-value', more: ['pair-other', 7] },
      proxy: 'http://user:p%40ssword@127.0.0.1:3128',
      baseUrl: 'https://api.example.com/v1?key=key%2Fvalue&version=not-secret&empty&token=',
      mirrors: [{ url: 'https://mirror.example.com/?x-api-key=mirror%value' }],
    });
    expect(made.secrets).to.have.members([
      'key%2Fvalue',
      'key/value',
      'mirror%value',
      'sk-first-key',
      'sk-second-key',
      'token-value',
      'password-1',
      'password-2',
      'either-value',
      'pair-value',
      'pair-other',
      'p%40ssword',
      'p@ssword',
    ]);
  });

  it('tell how many keys there are', () => {
    const loosely: Keys = (joi) => ({ apiKey: joi.any() });
    for (const [settings, keys] of [
      [{}, 0],
      [{ apiKey: 'sk-abcdef' }, 1],
      [{ apiKey: ['sk-first-key', 'sk-second-key'] }, 2],
      [{ apiKey: 5 }, 0],
    ] as const) {
      expect(open(loosely, settings).open.keyHealth().keys, JSON.stringify(settings)).to.equal(keys);
    }
  });

  it('lack a secret where there is none, or any is blank', () => {
    const keys: Keys = (joi) => {
      const secret = () => joi.string().allow('', ' ').meta({ secret: true });
      return { apiKey: joi.array().items(secret()), token: secret(), note: joi.string().allow('') };
    };
    for (const [settings, lacks] of [
      [{}, true],
      [{ note: 'x' }, true],
      [{ apiKey: [] }, true],
      [{ token: '' }, true],
      [{ token: ' ' }, true],
      [{ token: 'short', note: '' }, false],
      [{ apiKey: ['sk-first-key', 'sk-second-key'] }, false],
      [{ apiKey: ['sk-first-key', ' '] }, true],
      [{ apiKey: ['sk-first-key'], token: '' }, true],
    ] as const) {
      expect(open(keys, settings).open.lacksSecret, JSON.stringify(settings)).to.equal(lacks);
    }
  });

  it('take an apiKey for a secret even when the plugin forgot to mark it', () => {
    const keys: Keys = (joi) => ({ apiKey: joi.string() });
    expect(open(keys, { apiKey: 'sk-unmarked' }).open.secrets).to.deep.equal(['sk-unmarked']);
  });

  it('name the origins that may be asked: baseUrl and every other setting that ends in Url', async () => {
    const server = createServer((_, response) => void response.end('ok'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const keys: Keys = (joi) => ({
      ...usual(joi),
      oauth: joi.object({ tokenUrl: joi.string() }),
      regions: joi.array(),
      mirrorsUrl: joi.array(),
      note: joi.string(),
    });
    const init = { method: 'GET', signal: new AbortController().signal } as const;
    for (const settings of [
      { oauth: { tokenUrl: `${origin}/token` } },
      { regions: [{ apiUrl: `${origin}/eu` }] },
      { mirrorsUrl: ['https://a.example', `${origin}/eu`] },
    ]) {
      const allowed = open(keys, { apiKey: 'sk-abcdef', ...settings });
      expect(await (await allowed.host.request(`${origin}/other`, init)).body.text()).to.equal('ok');
      await allowed.open.close();
    }
    const foreign = open(keys, { apiKey: 'sk-abcdef', note: origin });
    const refused: unknown = await foreign.host.request(origin, init).catch((error: unknown) => error);
    expect(refused).to.include({ name: 'UpstreamFault', kind: 'protocol' });
    await foreign.open.close();
    await new Promise((resolve) => server.close(resolve));
  });

  const loose: Keys = (joi) => ({ baseUrl: joi.string(), proxy: joi.any() });
  const urls: readonly (readonly [settings: object, words: string])[] = [
    [{ baseUrl: 'api.example.com' }, '`baseUrl` is not an http or https URL'],
    [{ baseUrl: 'ftp://api.example.com' }, '`baseUrl` is not an http or https URL'],
    [{ baseUrl: 'https://user:pass@api.example.com' }, '`baseUrl` carries a user or password'],
    [{ baseUrl: 'https://user@api.example.com' }, '`baseUrl` carries a user or password'],
    [{ baseUrl: 'https://:pass@api.example.com' }, '`baseUrl` carries a user or password'],
    [{ proxy: '127.0.0.1:3128' }, '`proxy` is not an http or https URL'],
    [{ proxy: 3128 }, '`proxy` is not an http or https URL'],
  ];
  for (const [settings, words] of urls) {
    it(`refuse ${JSON.stringify(settings)}`, () => {
      expect(refusal(() => open(loose, settings))).to.equal(
        `Upstream \`acme\`: ${words}`.concat(
          words.includes('carries') ? '; they belong in a setting of their own' : '',
        ),
      );
    });
  }

  it('blame a plugin whose schema or creation throws', () => {
    const throws = () => {
      throw new TypeError('x is not a function\nat once');
    };
    expect(refusal(() => open(usual, { apiKey: 'sk-abcdef' }, { settings: throws }))).to.equal(
      'Plugin acme-compatible: settings() failed: x is not a function',
    );
    expect(refusal(() => open(usual, { apiKey: 'sk-abcdef' }, { create: throws }))).to.equal(
      'Upstream `acme`: plugin acme-compatible failed: x is not a function',
    );
    const noSchema = { settings: () => ({}) } as unknown as Partial<ProviderPlugin>;
    expect(refusal(() => open(usual, {}, noSchema))).to.include('does not return a joi schema');
  });

  it('blame a plugin that creates no provider', () => {
    for (const [made, what] of [
      [Promise.reject(new Error('never')), 'a promise'],
      [undefined, 'undefined'],
      [null, 'null'],
    ]) {
      const wrong = { create: () => made } as unknown as Partial<ProviderPlugin>;
      expect(refusal(() => open(usual, { apiKey: 'sk-abcdef' }, wrong))).to.equal(
        `Upstream \`acme\`: plugin acme-compatible: create() returns ${what}, not a provider`,
      );
    }
  });

  it('close the provider before its connections', async () => {
    const steps: string[] = [];
    const closing: Partial<ProviderPlugin> = {
      create: () => ({
        close: async () => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          steps.push('provider');
        },
      }),
    };
    const made = createProvider({
      plugin: { contract: 1, name: 'acme', settings: (joi) => joi.object({}), create: closing.create as never },
      upstream: 'acme',
      settings: {},
      log: { warn() {} },
    });
    await made.close().then(() => steps.push('connections'));
    expect(steps).to.deep.equal(['provider', 'connections']);
  });

  it("go with the plugin's own words, texts and header for faults", () => {
    const own = { faultWords: { quota: 'empty_purse' }, faultTexts: { content: /nsfw/ }, faultHeader: 'x-refusal' };
    const { fault } = open(usual, { apiKey: 'key' }, own).host;
    expect(fault.ofReply(400, { 'x-refusal': 'empty_purse' }, '{}')).to.include({ kind: 'quota' });
    expect(fault.ofReply(400, {}, '{}')).to.include({ kind: 'request' });
    expect(fault.ofComplaint({ error: { code: 'empty_purse', message: 'x' } })).to.include({ kind: 'quota' });
    expect(fault.ofComplaint({ error: 'nsfw' })).to.include({ kind: 'request', about: 'content' });
  });

  it('hold until the upstream is closed, even for a request that is under way', async () => {
    const arrived = Promise.withResolvers<void>();
    const server = createServer(() => arrived.resolve());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { host, open: made } = open(usual, { apiKey: 'key', baseUrl });
      const asked = host.json(baseUrl, { method: 'GET', signal: new AbortController().signal }).catch((error) => error);
      await arrived.promise;
      await made.close();
      expect(await asked).to.include({ name: 'UpstreamFault', kind: 'network' });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
