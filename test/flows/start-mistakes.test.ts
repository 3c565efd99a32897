// Every mistake of an operator is one clear line on stderr and exit code 1: no stack, nothing on stdout, no secret.
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { checkCatalog } from '../../lib/catalog/check.ts';
import { readConfig } from '../../lib/config.ts';
import { createGateway } from '../../lib/gateway.ts';
import { createLog } from '../../lib/http/log.ts';
import { chatCatalog } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { type Exit, type Home, makeHome, spawnService } from '../../testkit/process.ts';
import { emptyFolder, foreignDatabase, lockedDatabase, newerDatabase, plugin } from './mistakes.ts';

interface Mistake {
  readonly name: string;
  /** What the line says. */
  readonly says: RegExp;
  /** Made by a real process, to the exit code; the rest, of the same kinds, end in the same error inside this one. */
  readonly spawned?: boolean;
  readonly env?: (home: Home) => Record<string, string>;
  readonly catalog?: unknown;
  /** A second file of the catalog. */
  readonly more?: unknown;
  /** Prepares the home; what it returns is called after the run. */
  readonly arrange?: (home: Home) => void | Promise<() => Promise<void>>;
}

const AT_ONCE = 3;
const LEAVES_WITHIN_MS = 50_000;
const SECRET = 'up-secret-key-1';

const base = chatCatalog('http://127.0.0.1:9') as {
  upstreams: Record<string, { plugin: string; settings: Record<string, unknown> }>;
  models: Record<string, unknown>[];
};
const [textModel, imageModel, videoModel] = base.models as [object, object, object];
const withModel = (change: object, more: object = {}) => ({ ...base, models: [{ ...textModel, ...change }], ...more });
const tiers = { lite: 'model-a', standard: 'model-a', heavy: 'model-a' };
const price = (input: unknown) => withModel({ price: { input, output: '1' } });
const settings = (change: object) => ({
  ...base,
  upstreams: { up: { plugin: 'openai-compatible', settings: { ...base.upstreams.up?.settings, ...change } } },
});

const variables: readonly [name: string, value: string, says: RegExp][] = [
  ['HOST', '203.0.113.1', /^Cannot listen on 203\.0\.113\.1:\d+ \(HOST\): EADDRNOTAVAIL$/],
  ['PORT', '70000', /PORT must be less than or equal to 65535/],
  ['PORT', 'http', /PORT must be a number/],
  ['PUBLIC_URL', 'ftp://files', /PUBLIC_URL must be an http:\/\/ or https:\/\/ URL/],
  ['DATA_DIR', '/proc/tollgate', /^DATA_DIR: the folder \/proc\/tollgate\/media cannot be written to: ENOENT$/],
  ['DATABASE_URL', 'oracle:db', /DATABASE_URL/],
  ['DATABASE_URL', 'sqlite:', /DATABASE_URL/],
  ['CATALOG_VARIABLES', '$HOME', /CATALOG_VARIABLES must be names with \* for any text/],
  ['LOG_LEVEL', 'loud', /LOG_LEVEL must be one of \[trace, debug/],
  ['SANDBOX', 'maybe', /SANDBOX must be one of \[auto, on, off\]/],
  ['KEY_PREFIX', 'My_', /KEY_PREFIX must be at most 16 lower-case letters, digits and dashes/],
  ['RATE_LIMIT_PER_MINUTE', '0', /RATE_LIMIT_PER_MINUTE must be greater than or equal to 1/],
  ['BALANCE_RATE_LIMIT_PER_MINUTE', 'many', /BALANCE_RATE_LIMIT_PER_MINUTE must be a number/],
  ['FIRST_TOKEN_TIMEOUT_MS', '1.5', /FIRST_TOKEN_TIMEOUT_MS must be an integer/],
  ['IDLE_TIMEOUT_MS', '0', /IDLE_TIMEOUT_MS must be greater/],
  ['TOTAL_TIMEOUT_MS', '9999999999', /TOTAL_TIMEOUT_MS must be less/],
  ['CLIENT_STALL_MS', '-1', /CLIENT_STALL_MS must be greater/],
  ['LEASE_MS', 'soon', /LEASE_MS must be a number/],
  ['DRAIN_MS', '-1', /DRAIN_MS must be greater than or equal to 0/],
  ['METRICS_PORT', '65536', /METRICS_PORT must be less than or equal to 65535/],
  ['METRICS_PORT', 'yes', /METRICS_PORT must be a number/],
];

const mistakes: readonly Mistake[] = [
  ...variables.map(([name, value, says]) => ({ name: `${name}=${value}`, env: () => ({ [name]: value }), says })),
  {
    name: 'two bad variables at once',
    // `start-env-file.test.ts` has such a process.
    spawned: longer(false, true),
    env: () => ({ LEASE_MS: '0', LOG_LEVEL: 'loud' }),
    says: /LOG_LEVEL.*; LEASE_MS|LEASE_MS.*; LOG_LEVEL/,
  },
  {
    name: 'a catalog folder that is missing',
    env: () => ({ CATALOG_DIR: '/nowhere/catalog' }),
    says: /CATALOG_DIR \/nowhere\/catalog: cannot be read \(ENOENT\)/,
  },
  {
    name: 'a catalog folder that is a file',
    env: ({ folder }) => ({ CATALOG_DIR: join(folder, 'catalog/models.json') }),
    says: /CATALOG_DIR .*ENOTDIR/,
  },
  {
    name: 'a catalog folder without a file',
    env: ({ folder }) => ({ CATALOG_DIR: emptyFolder(folder) }),
    says: /there is no \*\.json file in it/,
  },
  { name: 'JSON that breaks off', catalog: '{\n  "models": [\n', says: /models\.json: .*JSON/ },
  {
    name: 'JSON with a mistake beside a key',
    catalog: `{\n  "upstreams": {\n "apiKey": ${SECRET}\n}}`,
    says: /models\.json: Unexpected token 'u' in JSON near line 3$/,
  },
  {
    name: "the database's address in a setting",
    env: () => ({ CATALOG_VARIABLES: '*' }),
    catalog: settings({ apiKey: '$' + '{DATABASE_URL}' }),
    says: /models\.json: upstreams\.up\.settings\.apiKey: DATABASE_URL belongs to the service itself and is never available to a catalog$/,
  },
  {
    name: 'any variable of the machine in a setting',
    catalog: settings({ baseUrl: 'https://up.example/$' + '{HOME}' }),
    says: /models\.json: upstreams\.up\.settings\.baseUrl: HOME is not among the variables that CATALOG_VARIABLES allows a catalog to name/,
  },
  {
    name: 'the payments of a sandbox beside models that cost money',
    spawned: longer(false, true),
    catalog: { ...base, payments: { trial: { plugin: 'sandbox' } } },
    says: /models\.json: payments\.trial: its money is not real, and the upstream up costs real money: .*SANDBOX=on/,
  },
  {
    name: 'a shop under test beside models that cost money',
    catalog: {
      ...base,
      payments: { shop: { plugin: 'yookassa', settings: { shopId: '5', secret: 'test_a-secret' } } },
    },
    says: /models\.json: payments\.shop: its money is not real, and the upstream up costs real money/,
  },
  { name: 'JSON that is no object', catalog: '[]', says: /models\.json: .*must be of type object/ },
  { name: 'a field nobody knows', catalog: { ...base, model: [] }, says: /models\.json: model is not allowed/ },
  {
    name: 'a type nobody knows',
    catalog: withModel({ type: 'sound' }),
    says: /models\[0\]\.type must be one of \[text, embedding, image, video\]/,
  },
  { name: 'no price', catalog: withModel({ price: undefined }), says: /model .*: price is required/ },
  {
    name: 'half a price',
    catalog: withModel({ price: { input: '1' } }),
    says: /models\[0\]\.price\.output is required/,
  },
  {
    name: 'a price of zero',
    catalog: price('0'),
    says: /models\[0\]\.price\.input must be a decimal string in RUB above zero/,
  },
  { name: 'a negative price', catalog: price('-1'), says: /models\[0\]\.price\.input must be a decimal string/ },
  {
    name: 'a price with 7 decimals',
    catalog: price('1.0000001'),
    says: /models\[0\]\.price\.input must be .* at most 6 decimals/,
  },
  { name: 'a price that is a number', catalog: price(12.5), says: /models\[0\]\.price\.input must be a string/ },
  {
    name: 'an image without a price',
    catalog: { ...base, models: [{ ...imageModel, price: {} }] },
    says: /price\.request is required/,
  },
  {
    name: 'a video priced twice',
    catalog: { ...base, models: [{ ...videoModel, price: { second: '1', request: '2' } }] },
    says: /price contains a conflict/,
  },
  {
    name: 'a video with a free resolution',
    catalog: { ...base, models: [{ ...videoModel, price: { second: { '720p': '0' } } }] },
    says: /price\.second/,
  },
  {
    name: 'an id used twice',
    catalog: { ...base, models: [textModel, textModel] },
    says: /the name model-a is used twice/,
  },
  {
    name: 'an alias that is an id',
    catalog: withModel({ aliases: ['model-a'] }),
    says: /the name model-a is used twice/,
  },
  {
    name: 'a retired id that is in use',
    catalog: { ...base, retired: { a: 'model-a' } },
    says: /the name a is used twice/,
  },
  {
    name: 'a model named smart',
    catalog: withModel({ id: 'smart' }),
    says: /the name smart belongs to the smart model/,
  },
  {
    name: 'an alias named auto',
    catalog: withModel({ aliases: ['auto'] }),
    says: /the name auto belongs to the smart model/,
  },
  {
    name: 'an upstream nobody defined',
    catalog: withModel({ routes: [{ upstream: 'down', model: 'm' }] }),
    says: /model model-a: routes\[0\]\.upstream: unknown upstream down/,
  },
  {
    name: 'an upstream defined twice',
    catalog: base,
    more: { upstreams: base.upstreams },
    says: /upstream up is defined twice/,
  },
  {
    name: 'a plugin nobody has',
    catalog: { ...base, upstreams: { up: { plugin: 'nobody' } } },
    says: /upstream up: unknown plugin nobody/,
  },
  {
    name: 'a tier that is no text model',
    catalog: { ...base, smart: { lite: 'model-a', standard: 'image-a', heavy: 'model-a' } },
    says: /smart\.standard: image-a is not a text model/,
  },
  {
    name: 'a tier of a model nobody has',
    catalog: { ...base, smart: { lite: 'model-z', standard: 'model-a', heavy: 'model-a' } },
    says: /smart\.lite: model-z is not a text model/,
  },
  {
    name: 'thresholds out of order',
    catalog: { ...base, smart: { ...tiers, thresholds: { standard: 65, heavy: 35 } } },
    says: /smart\.thresholds\.heavy must be above smart\.thresholds\.standard/,
  },
  {
    name: 'settings the plugin refuses',
    spawned: longer(false, true),
    catalog: settings({ apiKey: [SECRET, 5] }),
    says: /Upstream `up`: bad settings/,
  },
  {
    name: 'a base URL that is none',
    catalog: settings({ baseUrl: SECRET }),
    says: /Upstream `up`: bad settings|Upstream `up`: `baseUrl`/,
  },

  {
    name: 'a port in use',
    spawned: longer(false, true),
    env: () => ({ PORT: String(taken), LOG_LEVEL: 'error' }),
    says: /^Cannot listen on 127\.0\.0\.1:\d+ \(PORT\): the port is in use$/,
  },
  {
    name: 'a metrics port in use',
    env: () => ({ METRICS_PORT: String(taken) }),
    says: /^Cannot listen on 127\.0\.0\.1:\d+ \(METRICS_PORT\): the port is in use$/,
  },
  {
    name: 'one port for clients and metrics',
    env: () => ({ PORT: '8123', METRICS_PORT: '8123' }),
    says: /METRICS_PORT must differ from PORT/,
  },
  {
    name: 'a database below a file',
    env: ({ folder }) => ({ DATABASE_URL: `sqlite:${folder}/catalog/models.json/x/t.db` }),
    says: /^DATABASE_URL: The folder of the database .* cannot be created: (ENOTDIR|EEXIST)/,
  },
  {
    name: 'a database where nothing can be written',
    env: () => ({ DATABASE_URL: 'sqlite:/proc/tollgate/t.db' }),
    says: /The folder of the database \/proc\/tollgate\/t\.db cannot be created/,
  },
  {
    name: 'a directory as database',
    env: ({ folder }) => ({ DATABASE_URL: `sqlite:${folder}` }),
    says: /The database .* is a folder/,
  },
  {
    name: 'a text file as database',
    env: ({ folder }) => ({ DATABASE_URL: `sqlite:${folder}/catalog/models.json` }),
    says: /is not a SQLite database/,
  },
  {
    name: 'a database of another program',
    arrange: foreignDatabase,
    says: /belongs to another program/,
  },
  { name: 'a database of a newer version', arrange: newerDatabase, says: /start a newer Tollgate/ },
  {
    name: 'a database that another process keeps locked',
    arrange: lockedDatabase,
    says: /database.*(locked|busy)/i,
  },

  {
    name: 'a folder of plugins that is missing',
    env: () => ({ PROVIDERS_PATH: '/nowhere/plugins' }),
    says: /^The folder \/nowhere\/plugins \(PROVIDERS_PATH\) cannot be read: ENOENT$/,
  },
  {
    name: 'a plugin without an index',
    env: plugin('hollow', undefined),
    says: /The plugin in \S*hollow is broken: it has neither/,
  },
  {
    name: 'a plugin that does not parse',
    env: plugin('garbled', 'export default {'),
    says: /The plugin in \S*garbled is broken: .* does not load/,
  },
  {
    name: 'a plugin that throws',
    spawned: longer(false, true),
    env: plugin('angry', 'throw new Error("first\\nsecond")'),
    says: /The plugin in \S*angry is broken: .*first$/,
  },
  {
    name: 'a plugin without a default',
    env: plugin('mute', 'export const name = "mute";'),
    says: /The plugin in \S*mute is broken: its index has no default export/,
  },
  {
    name: 'a plugin of another contract',
    env: plugin('old', 'export default { contract: 3 };'),
    says: /The plugin in \S*old is broken: it has contract version 3/,
  },
  {
    name: 'a plugin under a false name',
    env: plugin('liar', 'export default { contract: 1, name: "saint" };'),
    says: /The plugin in \S*liar is broken: its name is "saint"/,
  },
];

let taken = 0;

describe('mistakes at the start', () => {
  let server: Server;
  const runs = new Map<string, Promise<Exit>>();

  before(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    taken = (server.address() as { port: number }).port;
    // A few at once, each awaited by its own test.
    const queue: Promise<unknown>[] = Array(AT_ONCE).fill(Promise.resolve());
    for (const mistake of mistakes) {
      const exit = (queue.shift() as Promise<unknown>).then(() => commit(mistake));
      runs.set(mistake.name, exit);
      queue.push(exit.catch(() => undefined));
    }
  });
  after(() => server.close());

  for (const { name, says } of mistakes) {
    it(name, async () => {
      const { code, stdout, stderr } = (await runs.get(name)) as Exit;
      expect(stderr).to.match(/^tollgate: [^\n]+\n$/);
      expect(stderr.slice('tollgate: '.length, -1)).to.match(says);
      expect(stderr).to.not.match(/\bat .*\.[jt]s:\d+/);
      expect(stderr).to.not.contain(SECRET.slice(0, 8));
      expect([code, stdout]).to.deep.equal([1, '']);
    });
  }
});

async function commit(mistake: Mistake): Promise<Exit> {
  const { env, catalog = base, more, arrange } = mistake;
  const home = makeHome(catalog);
  if (more !== undefined) home.writeCatalog(more, 'more.json');
  const undo = await arrange?.(home);
  try {
    return await chooseWay(mistake)({ ...home.env, ...env?.(home) });
  } finally {
    await undo?.();
    home.remove();
  }
}

/** A start reads the catalog as a check of it does: in `npm test` every fourth mistake in a catalog is made by a start. */
function chooseWay(mistake: Mistake): (env: Readonly<Record<string, string>>) => Promise<Exit> {
  if (mistake.spawned) return runOut;
  const isOfCatalog = mistake.catalog !== undefined || mistake.more !== undefined;
  const byStart = longer(!isOfCatalog || mistakes.indexOf(mistake) % 4 === 0, true);
  return (env) => refuse(() => (byStart ? start(env) : checkCatalog(readConfig(env))));
}

async function runOut(env: Readonly<Record<string, string>>): Promise<Exit> {
  const service = spawnService(env);
  const timer = setTimeout(() => service.kill('SIGKILL'), LEAVES_WITHIN_MS);
  const exit = await service.exit;
  clearTimeout(timer);
  return exit;
}

/** What a process would come to: an `OperatorError` is its line on stderr. */
async function refuse(run: () => Promise<unknown>): Promise<Exit> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { code: 1, signal: null, stdout: '', stderr: `tollgate: ${error.message}\n` };
  }
  throw new Error('it started');
}

async function start(env: Readonly<Record<string, string>>): Promise<void> {
  const gateway = await createGateway(readConfig(env), log);
  try {
    await gateway.start();
  } finally {
    await gateway.stop();
  }
}

const log = createLog({ level: 'silent', keyPrefix: 'tg-' });
