// The catalog is edited while the service runs: new prices for new calls only, bad edits without effect, no secret shown.
import { readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { createGateway } from '../../lib/gateway.ts';
import { createLog } from '../../lib/http/log.ts';
import { ask, CHAT, DIALECTS, findBilling, MESSAGES, parseEvents, send, until } from '../../testkit/client.ts';
import { chatCatalog, type TestAccount } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { type Books, type Home, makeHome, openBooks, startService } from '../../testkit/process.ts';
import { answerStatus, chatAnswer, chatHeld, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

const SECRETS = { file: 'secret-in-file-1', environment: 'secret-in-env-2', later: 'secret-set-later-3' };

interface Running {
  readonly url: string;
  stdout(): string;
  stderr(): string;
  reload(): void;
  stop(): Promise<unknown>;
}

async function runInside({ folder, env: own }: Home, env: Readonly<Record<string, string>>): Promise<Running> {
  const config = readConfig({ ...own, ...env });
  const destination = join(folder, 'log');
  const log = createLog({ level: config.logLevel, keyPrefix: config.keyPrefix, destination });
  const gateway = await createGateway(config, log);
  await gateway.start();
  return {
    url: `http://127.0.0.1:${gateway.server.info.port}`,
    stdout: () => readFileSync(destination, 'utf8'),
    stderr: () => '',
    reload: () => void gateway.reload(),
    stop: () => gateway.stop(),
  };
}

/** In a process, which reloads on a signal. */
async function runOutside(home: Home, env: Readonly<Record<string, string>>): Promise<Running> {
  const service = await startService(home, { env });
  return { ...service, reload: () => service.kill('SIGHUP') };
}

describe('catalog in service', () => {
  let upstream: TestUpstream;
  let home: Home;
  let books: Books;
  let service: Running;
  let account: TestAccount;

  const catalog = (change: object = {}, apiKey = SECRETS.file) => {
    const base = chatCatalog(upstream.url) as { models: object[] };
    const settings = { baseUrl: `${upstream.url}/v1`, apiKey };
    return {
      ...base,
      upstreams: { up: { plugin: 'openai-compatible', settings } },
      models: [{ ...base.models[0], ...change }],
    };
  };
  const priced = (output: string) => catalog({ price: { input: '1000', output } });

  before(async () => {
    upstream = await startUpstream();
    home = makeHome(catalog());
    books = await openBooks(home);
    account = await books.account();
    const env = { SANDBOX: 'off', LOG_LEVEL: 'trace', UP_API_KEY: SECRETS.environment };
    service = await longer(runInside, runOutside)(home, env);
  });
  beforeEach(async () => {
    upstream.behave(chatAnswer('Hello.', { input: 1000, output: 1000 }));
    home.writeCatalog(catalog());
    await priceIs(5000);
  });
  after(async () => {
    await service.stop();
    await books.checkMoney();
    await books.close();
    await upstream.close();
    home.remove();
  });

  const listed = async () => {
    const { json } = await send(`${service.url}/api/v1/models`, { key: account.key });
    return json.data[0] ?? {};
  };
  const priceIs = (rub: number, model = 'model-a') =>
    until(async () => {
      const { id, output_price_rub } = await listed();
      return id === model && output_price_rub === rub;
    });
  const call = async (path: string) => {
    const reply = await send(service.url + path, { key: account.key, body: ask('hi', { stream: true }) });
    return findBilling(parseEvents(reply.text));
  };
  const logged = (text: string) => until(() => service.stdout().includes(text));

  it('prices new calls by an edit and running ones by what they began with', async () => {
    const { behaviour, finish } = chatHeld({ input: 1000, output: 1000 });
    upstream.behave(behaviour);
    const before = upstream.calls.length;
    const running = DIALECTS.map(call);
    await until(() => upstream.calls.length === before + DIALECTS.length);
    home.writeCatalog(priced('9000'));
    await priceIs(9000);
    upstream.behave(chatAnswer('Hello.', { input: 1000, output: 1000 }));
    for (const path of DIALECTS) {
      expect(await call(path)).to.include({ charged_rub: 10, rub_per_mtok_out: 9000, reserved_rub: 9.005 });
    }
    finish();
    for (const billing of await Promise.all(running)) {
      expect(billing).to.include({ charged_rub: 6, rub_per_mtok_out: 5000, reserved_rub: 5.005 });
    }
  });

  it('takes a new model and drops an old one', async () => {
    home.writeCatalog(catalog({ id: 'model-b', aliases: [] }));
    await priceIs(5000, 'model-b');
    const old = await send(service.url + MESSAGES, { key: account.key, body: ask('hi') });
    expect(old.status).to.equal(400);
    const fresh = await send(service.url + MESSAGES, { key: account.key, body: ask('hi', { model: 'model-b' }) });
    expect(fresh.status).to.equal(200);
  });

  const bad: readonly [name: string, edit: () => unknown, says: string][] = [
    ['broken JSON', () => '{ "models": [', 'Unexpected end of JSON input'],
    ['broken JSON beside a key', () => `{ "apiKey": ${SECRETS.file} }`, 'in JSON near line 1'],
    ['a price of zero', () => priced('0'), 'must be a decimal string'],
    ['an unknown upstream', () => catalog({ routes: [{ upstream: 'down', model: 'm' }] }), 'unknown upstream down'],
    ['settings that are none', () => catalog({}, 7 as unknown as string), 'bad settings'],
  ];
  for (const [name, edit, says] of bad.filter((_, at) => longer(at % 3 === 0, true))) {
    it(`keeps the old catalog after a bad edit: ${name}`, async () => {
      const before = service.stdout().length;
      home.writeCatalog(edit());
      await until(() => service.stdout().slice(before).includes('the old one stays'));
      expect(service.stdout().slice(before)).to.contain(says);
      expect((await listed()).output_price_rub).to.equal(5000);
      expect(await call(CHAT)).to.include({ charged_rub: 6 });
      // The right edit after it counts.
      home.writeCatalog(priced('7000'));
      await priceIs(7000);
    });
  }

  it('reloads when told to what it does not watch', async () => {
    const target = join(home.folder, 'elsewhere.json');
    const link = join(home.folder, 'catalog', 'models.json');
    writeFileSync(target, JSON.stringify(priced('6000')));
    unlinkSync(link);
    symlinkSync(target, link);
    await priceIs(6000);
    writeFileSync(target, JSON.stringify(priced('8000')));
    await new Promise((resolve) => setTimeout(resolve, 400));
    expect((await listed()).output_price_rub).to.equal(6000);
    service.reload();
    await priceIs(8000);
    unlinkSync(link);
  });

  it('never shows a secret: not of the file, the environment or a later edit, nor a client key', async () => {
    const echo = (secret: string) => answerStatus(401, { error: { message: `bad key ${secret}` } });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the catalog's own notation
    const variable = '${UP_API_KEY}';
    const keys = { [SECRETS.file]: SECRETS.file, [variable]: SECRETS.environment, [SECRETS.later]: SECRETS.later };
    let output = 5000;
    for (const [apiKey, secret] of Object.entries(keys)) {
      output += 1;
      home.writeCatalog(catalog({ price: { input: '1000', output: String(output) } }, apiKey));
      await priceIs(output);
      upstream.behave(echo(secret));
      const reply = await send(service.url + MESSAGES, { key: account.key, body: ask(`my key is ${account.key}`) });
      expect(reply.status).to.equal(502);
      expect(reply.text).to.not.contain(secret);
      expect(upstream.calls.at(-1)?.request.headers.authorization).to.equal(`Bearer ${secret}`);
      await logged(String(reply.headers['x-request-id']));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const secret of [...Object.values(SECRETS), account.key, account.key.slice(6)]) {
      expect(service.stdout()).to.not.contain(secret);
    }
    expect(service.stderr()).to.equal('');
  });
});
