// Secrets at rest, over restarts: an operator signs in with an app and a webhook is signed while keys come, change and
// are lost.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { openStore } from '../../lib/store/open.ts';
import { until } from '../../testkit/client.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { comeIn, createVisitor, makeCode, PASSWORD, setUpOperator, setUpOwner } from '../../testkit/pages.ts';
import { SQLITE, STORES } from '../../testkit/stores.ts';
import { isSigned, type Receiver, startReceiver } from '../../testkit/webhook.ts';
import { runCommand } from '../cli/command.ts';
import type { StoreDatabase } from '../contract/store/context.ts';

const EMAIL = 'op@example.com';
const ALERTS = '/account/settings/alerts';
const [OLD, NEW, OTHER] = [
  randomBytes(32).toString('hex'),
  randomBytes(32).toString('base64'),
  randomBytes(32).toString('base64url'),
] as const;

for (const kind of longer([SQLITE], STORES)) {
  describe(`secrets at rest: ${kind.name}`, () => {
    let database: StoreDatabase;
    let receiver: Receiver;
    let test: TestGateway | undefined;
    let log = '';
    let [app, webhook] = ['', ''];
    let owner: Awaited<ReturnType<typeof setUpOwner>>;

    before(async () => {
      [database, receiver] = await Promise.all([kind.create(), startReceiver()]);
    });
    afterEach(() => stop());
    after(async () => {
      await receiver.stop();
      await database.remove();
    });

    async function stop(): Promise<void> {
      if (!test) return;
      const file = join(test.folder, 'log');
      await until(() => readFileSync(file, 'utf8').includes('"msg"'));
      log += readFileSync(file, 'utf8');
      await test.stop();
      test = undefined;
    }

    async function start(keys: string): Promise<TestGateway> {
      const env = { SECRETS_KEY: keys, WEBHOOK_TRUSTED_ORIGINS: receiver.origin };
      test = await startGateway({ catalog: { upstreams: {}, models: [] }, database: database.url, env });
      return test;
    }

    async function refusal(keys: string): Promise<string> {
      const error: unknown = await start(keys).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(OperatorError);
      return (error as Error).message;
    }

    const command = (keys: string, ...args: readonly string[]) =>
      runCommand([...args, '--json'], {
        PATH: process.env.PATH,
        DATABASE_URL: database.url,
        DATA_DIR: '.',
        SECRETS_KEY: keys,
      });

    /** Whether the operator comes in with password and app. */
    async function signsIn({ url, store }: TestGateway): Promise<boolean> {
      // A code of now works again.
      const user = await store.users.find(EMAIL);
      if (user) await store.users.change({ ...user, totpStep: -1 });
      const fields = { email: EMAIL, password: PASSWORD, code: makeCode(app) };
      return (await createVisitor(url).submit('/login', fields)).status === 303;
    }

    async function postsSigned({ url }: TestGateway): Promise<boolean> {
      const before = receiver.posts.length;
      const visitor = createVisitor(url, { session: owner.cookies.get('session') ?? '' });
      await visitor.submit(ALERTS, { change: 'test' });
      const post = receiver.posts[before];
      return post !== undefined && isSigned(post, webhook);
    }

    /** The secrets as they are in the database. */
    async function stored(): Promise<readonly (string | null | undefined)[]> {
      const raw = await openStore(database.url);
      try {
        const settings = await raw.alerts.page({ limit: 10 });
        return [(await raw.users.find(EMAIL))?.totpSecret, settings.find((row) => row.webhook)?.webhook?.secret];
      } finally {
        await raw.close();
      }
    }

    it('are in plain without a key', async () => {
      const gateway = await start('');
      ({ secret: app } = await setUpOperator(gateway));
      owner = await setUpOwner(gateway, (await gateway.account()).id);
      const made = await owner.submit(ALERTS, { change: 'wishes', threshold: '', webhook: `${receiver.origin}/hook` });
      webhook = /whsec_[\w-]{43}/.exec(made.text)?.[0] ?? '';
      expect(await stored()).to.deep.equal([app, webhook]);
    });

    it('are read as they are by a gateway with a key, which encrypts what it writes', async () => {
      const gateway = await start(OLD);
      expect(await postsSigned(gateway)).to.equal(true);
      expect(await signsIn(gateway)).to.equal(true);
      const [ofApp, ofWebhook] = await stored();
      expect(ofApp).to.match(/^enc:v1:/);
      expect(ofWebhook).to.equal(webhook);
    });

    it('stop a start without their key, with an explanation, and nobody is locked out', async () => {
      const words = /^SECRETS_KEY: secrets in the store are encrypted with the key [0-9a-f]{8}, which is not /;
      expect(await refusal(''))
        .to.match(words)
        .and.contain('is not set');
      expect(await refusal(OTHER))
        .to.match(words)
        .and.contain('is not among those set');
      expect(await signsIn(await start(`${OTHER},${OLD}`))).to.equal(true);
    });

    it('are encrypted by a command, and the old key is needed no more', async () => {
      const missing = await command('', 'secrets', 'encrypt');
      expect([missing.code, missing.stdout]).to.deep.equal([1, '']);
      expect(missing.stderr).to.equal('tollgate: SECRETS_KEY is not set: there is no key to encrypt with.\n');
      // The app is encrypted with the third key by now.
      const wrong = await command(NEW, 'secrets', 'encrypt');
      expect([wrong.code, wrong.stdout]).to.deep.equal([1, '']);
      expect(wrong.stderr).to.match(
        /^tollgate: 1 of 2 secrets cannot be decrypted with the keys of SECRETS_KEY \(usr_/,
      );
      const done = await command(`${NEW},${OTHER}`, 'secrets', 'encrypt');
      expect(done.stderr).to.equal('');
      expect(JSON.parse(done.stdout)).to.include({ secrets: 2, encrypted: 1 });
      const again = await command(NEW, 'secrets', 'encrypt');
      expect(JSON.parse(again.stdout)).to.include({ secrets: 2, encrypted: 0 });
      for (const secret of await stored()) expect(secret).to.match(/^enc:v1:/);
      const gateway = await start(NEW);
      expect([await signsIn(gateway), await postsSigned(gateway)]).to.deep.equal([true, true]);
    });

    it('do not stop a start once their key is given up, and their owner sets them anew', async () => {
      const [key = ''] = /[0-9a-f]{8}(?=, which)/.exec(await refusal(OTHER)) ?? [];
      expect((await command('', 'secrets', 'forget', '00000000')).stderr).to.contain(
        'No start asks for a key "00000000"',
      );
      expect(JSON.parse((await command('', 'secrets', 'forget', key)).stdout)).to.include({ key });
      const gateway = await start(OTHER);
      // Not without the code, and not with a wrong secret.
      await createVisitor(gateway.url).submit('/login', { email: EMAIL, password: PASSWORD, code: '' });
      const login = { email: EMAIL, password: PASSWORD, code: makeCode(app) };
      const locked = await createVisitor(gateway.url).submit('/login', login);
      expect([locked.status, locked.headers['set-cookie']?.join() ?? '']).to.satisfy(
        ([status, cookies]: [number, string]) => status === 500 && !cookies.includes('session='),
      );
      expect(await postsSigned(gateway)).to.equal(false);
      const { stdout } = await command(OTHER, 'operator', 'reset', EMAIL);
      ({ secret: app } = await comeIn(gateway, JSON.parse(stdout).url));
      expect(await signsIn(gateway)).to.equal(true);
      const visitor = createVisitor(gateway.url, { session: owner.cookies.get('session') ?? '' });
      webhook = /whsec_[\w-]{43}/.exec((await visitor.submit(ALERTS, { change: 'secret' })).text)?.[0] ?? '';
      expect(await postsSigned(gateway)).to.equal(true);
    });

    it('let commands that need none work without a key', async () => {
      const { code, stdout } = await command('', 'account', 'list');
      expect([code, JSON.parse(stdout).accounts]).to.have.nested.property('[0]', 0);
      expect((await command('', 'operator', 'reset', EMAIL)).code).to.equal(0);
    });

    it('appear in no log line, nor do their keys', async () => {
      expect(log).to.contain('"msg"');
      for (const secret of [app, webhook, OLD, NEW, OTHER]) {
        expect(secret.length).to.be.above(30);
        expect(log).not.to.contain(secret);
      }
    });
  });
}
