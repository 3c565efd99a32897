// The contract suite of payment plugins: the shipped ones and that of the guide pass, and each defect is found.
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collectPaymentChecks } from '../../../lib/upstream/check/payment.ts';
import { superviseChecks } from '../../../lib/upstream/check/supervisor.ts';
import { itTimed } from '../../../testkit/timed.ts';
import { DEFECTS } from './payment-defects.ts';

const PAYMENTS = fileURLToPath(new URL('../../../payments/', import.meta.url));
const GUIDE = new URL('../../../docs/payments.md', import.meta.url);

describe('the suite of payment plugins', function () {
  this.timeout(60_000);
  let folder: string;
  let source: string;
  let fixture: string;

  before(async () => {
    const guide = await readFile(GUIDE, 'utf8');
    [, source = ''] = /```js\n(export default \{.*?)```/s.exec(guide) ?? [];
    [, fixture = ''] = /```json\n(\{\n {2}"settings".*?)```/s.exec(guide) ?? [];
    folder = await mkdtemp(join(tmpdir(), 'tollgate-payment-check-'));
  });
  after(() => rm(folder, { recursive: true }));

  let count = 0;
  async function write(text: string, more: string | null = fixture): Promise<string> {
    count += 1;
    const own = join(folder, String(count), 'acme');
    await mkdir(join(own, 'fixtures'), { recursive: true });
    await writeFile(join(own, 'index.mjs'), text);
    await writeFile(join(own, 'index.js'), "export { default } from './index.mjs';");
    if (more !== null) await writeFile(join(own, 'fixtures', 'payment.json'), more);
    return own;
  }

  async function failuresOf(own: string, only?: string): Promise<readonly string[]> {
    const failures: string[] = [];
    const checks = await collectPaymentChecks(own);
    for (const { group, name, run } of checks) {
      if (only !== undefined && only !== group && only !== `${group}: ${name}`) continue;
      await run().catch(() => failures.push(`${group}: ${name}`));
    }
    return failures;
  }

  for (const name of ['sandbox', 'yookassa']) {
    it(`passes ${name}`, async () => {
      expect(await failuresOf(join(PAYMENTS, name))).to.deep.equal([]);
    });
  }

  it('passes the plugin that the guide shows', async () => {
    expect(await failuresOf(await write(source))).to.deep.equal([]);
  });

  it('names a fixture that is no JSON', async () => {
    const error: unknown = await write(source, '{')
      .then((own) => failuresOf(own))
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.an('error').with.property('message').that.includes('payment.json: ');
  });

  for (const { what, from, to, failing } of DEFECTS) {
    it(`finds one that ${what}`, async () => {
      const changed = source.replace(from, to);
      expect(changed).not.to.equal(source);
      expect(await failuresOf(await write(changed), failing)).to.deep.equal([failing]);
    });
  }

  it('takes what is made from the secret, the time, the address and the body for a proof', async () => {
    const signed = (from: string) =>
      `import { createHmac } from 'node:crypto';\n${source.replace(
        `authorization: \`Bearer \${secret}\``,
        `authorization: createHmac('sha256', ${from}).update(host.clock.now() + baseUrl + path + JSON.stringify(body ?? '')).digest('hex')`,
      )}`;
    expect(await failuresOf(await write(signed('secret')))).to.deep.equal([]);
    expect(await failuresOf(await write(signed('shop')), 'fetch')).to.deep.equal([
      'fetch: proves who asks, by the secret of the settings',
    ]);
  });

  itTimed('gives a verdict on one that blocks its process', async () => {
    const own = await write(source.replace('notice({ body }) {', 'notice() { for (;;) {}'));
    const failed: string[] = [];
    for await (const { group, name, reason } of superviseChecks('payment', own, { blockedMs: 1000, failingMs: 4000 })) {
      if (reason !== undefined) failed.push(`${group}: ${name}: ${reason}`);
    }
    expect(failed.join()).to.match(/^webhook: leaves the event loop.*: the plugin blocks its process/);
  });

  it('needs a fixture that says what is compared before a credit', async () => {
    for (const gap of ['currency', 'shop', 'test', 'order', 'kopecks']) {
      const without = fixture.replaceAll(`"{{${gap}}}"`, gap === 'kopecks' ? '123456' : '"RUB"');
      expect((await failuresOf(await write(source, without), 'fetch')).join(), gap).to.match(/fetch: takes/);
    }
  });

  it('needs a fixture that shows refunds, and settings with a secret', async () => {
    const checks = /fetch: (says each refund|says of a payment that nothing)/;
    for (const [what, by] of [
      [/"refund": \{.*\},\n/, ''],
      [/"\{\{refunds\}\}"/g, '[]'],
    ] as const) {
      expect((await failuresOf(await write(source, fixture.replace(what, by)), 'fetch')).join()).to.match(checks);
    }
    const without = fixture.replace(', "secret": "secret-of-the-check"', '');
    const withDefault = source.replace(
      'secret: joi.string().required()',
      "secret: joi.string().default('a-long-secret')",
    );
    expect(await failuresOf(await write(withDefault, without), 'fetch')).to.deep.equal([
      'fetch: proves who asks, by the secret of the settings',
    ]);
  });

  it('says what is wrong with a fixture', async () => {
    for (const [text, says] of [
      [null, /fixtures\/payment\.json does not exist/],
      ['{}', /"states" is required.*"routes" is required.*"notices" is required/],
      [fixture.replace('"declined": "canceled"', '"declined": "pending"'), /no word of `states` means canceled/],
      [fixture.replace('"card_blocked": "hard"', '"card_blocked": "soft"'), /no word of `reasons` means hard/],
      [fixture.replace('"GET"', '"FETCH"'), /"routes\[1\]\.method" must be one of/],
    ] as const) {
      const error: unknown = await collectPaymentChecks(await write(source, text)).catch((thrown: unknown) => thrown);
      expect(String(error)).to.match(says);
    }
  });

  it('finds a plugin that takes the refunds of all payments for those of one', async () => {
    const own = join(folder, 'all', 'yookassa');
    await cp(join(PAYMENTS, 'yookassa'), own, { recursive: true });
    const client = join(own, 'client.ts');
    const source = await readFile(client, 'utf8');
    await writeFile(client, source.replace('{ payment_id: payment }', '{}'));
    expect(await failuresOf(own)).to.deep.equal(['fetch: asks for the refunds of this payment alone']);
  });

  it('finds a plugin that does not see that a method was not saved', async () => {
    const own = join(folder, 'unsaved', 'yookassa');
    await cp(join(PAYMENTS, 'yookassa'), own, { recursive: true });
    const state = join(own, 'state.ts');
    await writeFile(state, (await readFile(state, 'utf8')).replace('saved !== true || ', ''));
    const failing = 'fetch: says of no method that it was saved where none was';
    expect(await failuresOf(own, failing)).to.deep.equal([failing]);
  });

  it('finds that a provider without a vendor takes real money', async () => {
    const own = join(folder, 'changed', 'sandbox');
    await cp(join(PAYMENTS, 'sandbox'), own, { recursive: true });
    const index = join(own, 'index.ts');
    await writeFile(index, (await readFile(index, 'utf8')).replace('live: false', 'live: true'));
    expect(await failuresOf(own)).to.include('payments: takes no real money');
  });
});
