import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { OperatorError } from '../lib/base/operator-error.ts';
import { type Config, findMisspellings, VARIABLES as NAMES, readConfig } from '../lib/config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

function mistake(env: Environment): string {
  try {
    readConfig(env);
  } catch (error) {
    expect(error, String(error)).to.be.instanceOf(OperatorError);
    const { message } = error as OperatorError;
    expect(message)
      .to.match(/^Bad environment: /)
      .and.not.to.contain('\n');
    return message;
  }
  throw new Error(`it was accepted: ${JSON.stringify(env)}`);
}

interface Variable {
  readonly field: keyof Config;
  readonly byDefault: unknown;
  /** What may be written, and what it is read as. */
  readonly good: readonly (readonly [text: string, value: unknown])[];
  readonly bad: readonly string[];
}

const count = (field: keyof Config, byDefault: number): Variable => ({
  field,
  byDefault,
  good: [
    ['1', 1],
    ['250', 250],
  ],
  bad: ['0', '-1', '1.5', 'many', '1 000', '0x10x', 'NaN', 'Infinity', '9007199254740993'],
});
const milliseconds = (field: keyof Config, byDefault: number, least = 1): Variable => ({
  ...count(field, byDefault),
  good: [
    [`${least}`, least],
    ['2147483647', 2_147_483_647],
  ],
  // A timer of more fires at once.
  bad: [...count(field, byDefault).bad.slice(least > 0 ? 0 : 1), `${least - 1}`, '2147483648', '10s'],
});

const CATALOG = fileURLToPath(new URL('../catalog/', import.meta.url));

const VARIABLES: Readonly<Record<string, Variable>> = {
  HOST: { field: 'host', byDefault: '127.0.0.1', good: [['::', '::']], bad: [] },
  TRUSTED_PROXIES: {
    field: 'trustedProxies',
    byDefault: '0',
    good: [
      ['1', '1'],
      ['10.0.0.0/8, ::1', '10.0.0.0/8, ::1'],
    ],
    bad: ['proxy', '10.0.0.0/33', '0.0.0.0/0', '-1', '10.0.0.1;10.0.0.2', '100'],
  },
  WORKERS: {
    field: 'workers',
    byDefault: 1,
    good: [
      ['2', 2],
      ['64', 64],
    ],
    bad: ['0', '-1', '1.5', 'auto', '65', '2x'],
  },
  PORT: {
    field: 'port',
    byDefault: 8080,
    good: [
      ['0', 0],
      ['65535', 65_535],
    ],
    bad: ['-1', '65536', '80.5', 'http', '8080a'],
  },
  PUBLIC_URL: {
    field: 'publicUrl',
    byDefault: 'http://127.0.0.1:8080',
    good: [
      ['https://ai.example', 'https://ai.example'],
      ['https://ai.example/base//', 'https://ai.example/base'],
    ],
    bad: [
      ...['ai.example', 'ftp://ai.example', '//ai.example', 'javascript:1', 'https://', 'https://a b'],
      ...[
        'https://ann@ai.example',
        'https://ann:hunter22@ai.example',
        'https://ai.example?a=1',
        'https://ai.example/#a',
      ],
    ],
  },
  DATABASE_URL: {
    field: 'databaseUrl',
    byDefault: 'sqlite:./data/tollgate.db',
    good: ['sqlite:/var/lib/x.db', 'mongodb://a,b/tollgate', 'mongodb+srv://cluster.example/tollgate'].map((url) => [
      url,
      url,
    ]),
    bad: ['postgres://user:hunter22@host/db', 'sqlite', 'sqlite:', './data/tollgate.db', 'mysql:hunter22'],
  },
  DATA_DIR: { field: 'dataDir', byDefault: './data', good: [['/srv', '/srv']], bad: [] },
  MEDIA_TTL_HOURS: {
    field: 'mediaTtlHours',
    byDefault: 24,
    good: [
      ['1', 1],
      ['8760', 8760],
    ],
    bad: ['0', '8761', '1.5', 'a day'],
  },
  SECRETS_KEY: {
    field: 'secretsKeys',
    byDefault: [],
    good: [
      ['ab'.repeat(32), [Buffer.alloc(32, 0xab)]],
      ['AB'.repeat(32), [Buffer.alloc(32, 0xab)]],
      [Buffer.alloc(32, 1).toString('base64'), [Buffer.alloc(32, 1)]],
      [Buffer.alloc(32, 0xff).toString('base64url'), [Buffer.alloc(32, 0xff)]],
      [`${'01'.repeat(32)} , ${'02'.repeat(32)}`, [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]],
    ],
    bad: ['hunter22', 'ab'.repeat(31), 'ab'.repeat(33), `${'ab'.repeat(32)},`, 'g'.repeat(64), 'a'.repeat(45), ','],
  },
  PROVIDERS_PATH: {
    field: 'providersPath',
    byDefault: [],
    good: [
      ['/a', ['/a']],
      ['/a:b::/c d:', ['/a', 'b', '/c d']],
      [':', []],
    ],
    bad: [],
  },
  PAYMENTS_PATH: { field: 'paymentsPath', byDefault: [], good: [['/a:b', ['/a', 'b']]], bad: [] },
  CATALOG_VARIABLES: {
    field: 'catalogVariables',
    byDefault: ['*_API_KEY', '*_SECRET', '*_SHOP_ID', '*_BASE_URL', '*_FOLDER', '*_SCOPE', '*_AUTH_URL', '*_CA'],
    good: [
      ['MY_KEY', ['MY_KEY']],
      [' A_*, *_B ,C', ['A_*', '*_B', 'C']],
    ],
    bad: ['A,', ',A', 'A B', '[A]', '$' + '{A}', '.*'],
  },
  LOG_LEVEL: {
    field: 'logLevel',
    byDefault: 'info',
    good: ['trace', 'debug', 'warn', 'error', 'fatal', 'silent'].map((level) => [level, level]),
    bad: ['loud', 'INFO', '30'],
  },
  SANDBOX: {
    field: 'sandbox',
    byDefault: 'auto',
    good: [
      ['on', 'on'],
      ['off', 'off'],
    ],
    bad: ['yes', 'true', '1', 'ON'],
  },
  KEY_PREFIX: {
    field: 'keyPrefix',
    byDefault: 'tg-',
    good: [
      ['my-own-0-', 'my-own-0-'],
      ['a'.repeat(16), 'a'.repeat(16)],
    ],
    bad: ['TG-', 'tg_', 'a'.repeat(17), 'tg sk', 'тг-'],
  },
  RATE_LIMIT_PER_MINUTE: count('rateLimitPerMinute', 30),
  MANAGEMENT_RATE_LIMIT_PER_MINUTE: count('managementRateLimitPerMinute', 300),
  COUNT_RATE_LIMIT_PER_MINUTE: count('countRateLimitPerMinute', 120),
  BALANCE_RATE_LIMIT_PER_MINUTE: count('balanceRateLimitPerMinute', 120),
  VIDEO_RATE_LIMIT_PER_MINUTE: count('videoRateLimitPerMinute', 120),
  PAGE_RATE_LIMIT_PER_MINUTE: count('pageRateLimitPerMinute', 300),
  BODY_MEMORY_MB: {
    field: 'bodyMemoryBytes',
    byDefault: 96 * 1024 * 1024,
    good: [
      ['97', 97 * 1024 * 1024],
      ['1000000', 1_000_000 * 1024 * 1024],
    ],
    bad: ['95', '1000001', '96.5', '96 MB'],
  },
  REGISTRATION: {
    field: 'registration',
    byDefault: 'closed',
    good: [
      ['invite', 'invite'],
      ['open', 'open'],
    ],
    bad: ['yes', 'on', 'OPEN'],
  },
  STATUS_PAGE: { field: 'statusPage', byDefault: false, good: [['on', true]], bad: ['yes', 'ON'] },
  SMTP_URL: {
    field: 'smtpUrl',
    byDefault: undefined,
    good: [['smtp://mail.example', 'smtp://mail.example']],
    bad: [],
  },
  TELEGRAM_BOT_TOKEN: {
    field: 'telegramToken',
    byDefault: undefined,
    good: [['123456:AAE-abcdefghijklmnopqrstuvwxyz_01234', '123456:AAE-abcdefghijklmnopqrstuvwxyz_01234']],
    bad: ['AAE-abcdefghijklmnopqrstuvwxyz_01234', '123456:short', '123456:AAE abcdefghijklmnopqrstuvwxyz_01234'],
  },
  TELEGRAM_API: {
    field: 'telegramApi',
    byDefault: 'https://api.telegram.org',
    good: [['http://127.0.0.1:8081/', 'http://127.0.0.1:8081']],
    bad: ['api.telegram.org', 'https://user:secret@api.example'],
  },
  CATALOG_DIR: { field: 'catalogDir', byDefault: CATALOG, good: [['./mine', './mine']], bad: [] },
  IMAGE_TRUSTED_ORIGINS: {
    field: 'imageTrustedOrigins',
    byDefault: '',
    good: [['http://10.0.0.5:9000', 'http://10.0.0.5:9000']],
    bad: [],
  },
  WEBHOOK_TRUSTED_ORIGINS: {
    field: 'webhookTrustedOrigins',
    byDefault: '',
    good: [['http://10.0.0.6:9000', 'http://10.0.0.6:9000']],
    bad: [],
  },
  FIRST_TOKEN_TIMEOUT_MS: milliseconds('firstTokenTimeoutMs', 60_000),
  IDLE_TIMEOUT_MS: milliseconds('idleTimeoutMs', 60_000),
  TOTAL_TIMEOUT_MS: milliseconds('totalTimeoutMs', 600_000),
  CLIENT_STALL_MS: milliseconds('clientStallMs', 60_000),
  VIDEO_POLL_MS: milliseconds('videoPollMs', 5_000),
  VIDEO_DEADLINE_MS: milliseconds('videoDeadlineMs', 7_200_000),
  LEASE_MS: milliseconds('leaseMs', 15_000, 50),
  METRICS_HOST: { field: 'metricsHost', byDefault: '127.0.0.1', good: [['::1', '::1']], bad: [] },
  METRICS_PORT: {
    field: 'metricsPort',
    byDefault: undefined,
    good: [['9464', 9464]],
    bad: ['-1', '65536', '94.5', 'none'],
  },
  SHUTDOWN_DELAY_MS: milliseconds('shutdownDelayMs', 0, 0),
  DRAIN_MS: milliseconds('drainMs', 30_000, 0),
};

describe('config', () => {
  it('has no other variables', () => {
    expect(Object.keys(VARIABLES)).to.have.members(NAMES);
  });

  for (const [name, { field, byDefault, good, bad }] of Object.entries(VARIABLES)) {
    describe(name, () => {
      it(`defaults to ${JSON.stringify(byDefault)}, also if empty`, () => {
        expect(readConfig({})[field]).to.deep.equal(byDefault);
        expect(readConfig({ [name]: '' })[field]).to.deep.equal(byDefault);
        expect(readConfig({ [name]: undefined })[field]).to.deep.equal(byDefault);
      });
      for (const [text, value] of good) {
        it(`accepts ${text}`, () => expect(readConfig({ [name]: text })[field]).to.deep.equal(value));
      }
      for (const text of bad) {
        it(`refuses ${text}`, () => expect(mistake({ [name]: text })).to.contain(name));
      }
    });
  }

  it('never repeats a value that may contain a password', () => {
    for (const url of ['postgres://user:hunter22@host/db', 'hunter22', 'mysql:hunter22']) {
      expect(mistake({ DATABASE_URL: url })).not.to.contain('hunter22');
    }
    const key = 'ab'.repeat(32);
    expect(mistake({ SECRETS_KEY: `${key},hunter22` }))
      .to.match(/32 bytes/)
      .and.not.to.match(/hunter22|abab/);
  });

  it('reports all mistakes at once', () => {
    expect(mistake({ PORT: 'x', SANDBOX: 'x', LEASE_MS: '-1' })).to.match(/PORT.*; .*SANDBOX.*; .*LEASE_MS/);
  });

  it('refuses the main port for metrics, also the default one', () => {
    expect(() => readConfig({ METRICS_PORT: '8080' })).to.throw(OperatorError, 'METRICS_PORT must differ from PORT');
    expect(readConfig({ PORT: '0', METRICS_PORT: '0' })).to.include({ port: 0, metricsPort: 0 });
    expect(readConfig({ METRICS_PORT: '' }).metricsPort).to.equal(undefined);
  });

  it('uses its own port as the public URL unless one is set', () => {
    expect(readConfig({ PORT: '9000' })).to.include({ publicUrl: 'http://127.0.0.1:9000', publicUrlSet: false });
    expect(readConfig({ PUBLIC_URL: '' }).publicUrlSet).to.equal(false);
    const urls = ['0.0.0.0', '::', '::1', 'localhost'].map((HOST) => readConfig({ HOST, PORT: '9000' }).publicUrl);
    const loopback = 'http://127.0.0.1:9000';
    expect(urls).to.deep.equal([loopback, loopback, 'http://[::1]:9000', 'http://localhost:9000']);
    const set = readConfig({ PORT: '9000', PUBLIC_URL: 'https://ai.example/' });
    expect(set).to.include({ publicUrl: 'https://ai.example', publicUrlSet: true });
  });

  it('finds the shipped catalog from any working directory', () => {
    const before = process.cwd();
    process.chdir('/');
    try {
      expect(existsSync(join(readConfig({}).catalogDir, 'models.json'))).to.equal(true);
    } finally {
      process.chdir(before);
    }
    expect(readConfig({ CATALOG_DIR: './mine' }).catalogDir).to.equal('./mine');
    expect(readConfig({ CATALOG_DIR: '' }).catalogDir).to.equal(readConfig({}).catalogDir);
  });

  it('keeps other variables for the catalog', () => {
    const env = { UPSTREAM_KEY: 'x', EMPTY: '' };
    expect(readConfig(env).env).to.deep.equal(env);
  });

  describe('of files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
    after(() => rmSync(folder, { recursive: true }));
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };

    it('takes the value of a variable from a file, for the service and for the catalog', () => {
      const { databaseUrl, env } = readConfig({
        DATABASE_URL_FILE: write('url', 'sqlite:/srv/a.db\n'),
        OPENAI_API_KEY_FILE: write('key', 'sk-1'),
        COMPOSE_FILE: 'docker-compose.yml',
        OTHER_FILE: '/not/there',
      });
      expect(databaseUrl).to.equal('sqlite:/srv/a.db');
      expect(env).to.include({ OPENAI_API_KEY: 'sk-1' }).and.to.not.have.any.keys('COMPOSE', 'OTHER');
      const own = { CATALOG_VARIABLES: 'ACME_*', ACME_TOKEN_FILE: write('token', 't') };
      expect(readConfig(own).env).to.include({ ACME_TOKEN: 't' });
    });

    it('refuses a variable that is set twice, and a file without a value', () => {
      const twice = { SECRETS_KEY: 'a', SECRETS_KEY_FILE: write('secret', 'b') };
      expect(mistake(twice)).to.equal('Bad environment: both SECRETS_KEY and SECRETS_KEY_FILE are set');
      for (const [path, words] of [
        [join(folder, 'none'), 'ENOENT'],
        [folder, 'EISDIR'],
        [write('empty', '\n'), 'is empty'],
        [write('binary', 'a\0b'), 'is not a text'],
      ] as const) {
        expect(mistake({ SMTP_URL_FILE: path }))
          .to.include(path)
          .and.to.include(words);
      }
      expect(mistake({ PORT_FILE: write('port', 'x') })).to.include('PORT');
    });
  });

  it('detects misspelled variables', () => {
    const slips: Readonly<Record<string, string>> = {
      LEASEMS: 'LEASE_MS',
      LEASE_M: 'LEASE_MS',
      LOG_LEVELS: 'LOG_LEVEL',
      DATABASE_URI: 'DATABASE_URL',
      RATE_LIMIT_PRE_MINUTE: 'RATE_LIMIT_PER_MINUTE',
      WORKRES: 'WORKERS',
      sandbox: 'SANDBOX',
      Metrics_Prt: 'METRICS_PORT',
    };
    for (const [name, meant] of Object.entries(slips)) {
      expect(findMisspellings({ [name]: 'x', HOME: '/' })).to.deep.equal([{ name, meant }]);
    }
  });

  it('does not take other variables for misspellings', () => {
    const others = [
      'PATH',
      'ADNSBOX',
      'ABTADASE_URL',
      'HOSTS',
      'GHOST',
      'SORT',
      'POST',
      'TERM',
      'OPENAI_API_KEY',
      'LEASE',
      'RELEASE_MS',
      'WORK',
    ];
    expect(findMisspellings(Object.fromEntries([...others, ...NAMES].map((name) => [name, 'x'])))).to.deep.equal([]);
  });

  it('is frozen', () => {
    const config = readConfig({}) as { port: number };
    expect(() => {
      config.port = 1;
    }).to.throw(TypeError);
  });

  it('has a new owner id each time', () => {
    expect(readConfig({}).ownerId).to.match(/^own_[0-9a-f]{24}$/);
    expect(readConfig({}).ownerId).not.to.equal(readConfig({}).ownerId);
  });
});
