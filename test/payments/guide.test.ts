// The examples of docs/payments.md work as printed, and its tables are complete.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import Joi from 'joi';
import { openLiveCatalog } from '../../lib/catalog/live.ts';
import { catalogFile } from '../../lib/catalog/schema.ts';
import { topupEntry } from '../../lib/catalog/topup-bounds.ts';
import { readConfig } from '../../lib/config.ts';
import { PAYMENT_PHASES } from '../../lib/money/payment-rules.ts';
import plugin from '../../payments/yookassa/index.ts';

const guide = readFileSync(new URL('../../docs/payments.md', import.meta.url), 'utf8');
const KEYS = { YOOKASSA_SHOP_ID: '506751', YOOKASSA_SECRET: 'live_a-secret-of-a-shop' };

/** What the first column of a table names. */
function namedIn(heading: string): readonly string[] {
  const [, table = ''] = new RegExp(`\\n\\| ${heading} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`).exec(guide) ?? [];
  const cells = table
    .trim()
    .split('\n')
    .map((row) => row.split('|')[1] ?? '');
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
}

describe('the guide to payments', () => {
  const keysOf = (schema: Joi.Schema) => schema.describe().keys as Record<string, Joi.Description>;

  async function providersOf(env: Readonly<Record<string, string>>) {
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-payments-'));
    try {
      const [, example = ''] = /```json\n(.*?)```/s.exec(guide) ?? [];
      writeFileSync(join(folder, 'payments.json'), example);
      const log = { info() {}, warn() {}, error() {} };
      const config = readConfig({ CATALOG_DIR: folder, SANDBOX: 'off', ...env });
      const live = await openLiveCatalog({ config, sandbox: false, log, onSecrets() {} });
      const providers = new Map(live.payments());
      await live.close();
      return providers;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  it('shows a catalog that takes real money', async () => {
    const { provider } = (await providersOf(KEYS)).get('yookassa') ?? expect.fail('it is not there');
    expect([provider.live, provider.shop]).to.deep.equal([true, '506751']);
    expect(provider).to.have.property('charge');
  });

  it('shows a provider that is disabled without its variables', async () => {
    expect((await providersOf({ YOOKASSA_SHOP_ID: '506751' })).size).to.equal(0);
  });

  it('names every setting of the provider and of its receipts', () => {
    const settings = keysOf(plugin.settings(Joi));
    expect(namedIn('Setting')).to.include.members(Object.keys(settings));
    expect(namedIn('In `receipt`')).to.include.members(Object.keys(settings.receipt?.keys ?? {}));
  });

  it('names every bound of automatic top-ups, with a valid example', () => {
    expect(namedIn('In `autoTopup`')).to.include.members(Object.keys(keysOf(topupEntry)));
    const [, example = ''] = /### Bounds.*?```json\n(.*?)```/s.exec(guide) ?? [];
    const { value, error } = catalogFile.validate(JSON.parse(example));
    expect([error, value?.autoTopup?.perDay]).to.deep.equal([undefined, 2]);
  });

  it('names exactly the phases of a payment', () => {
    expect([...namedIn('State')].sort()).to.deep.equal([...PAYMENT_PHASES].sort());
  });

  it('names the webhook events to enable', () => {
    for (const event of ['payment.succeeded', 'payment.canceled', 'payment.waiting_for_capture', 'refund.succeeded'])
      expect(guide).to.contain(`\`${event}\``);
    expect(guide).to.contain('`PUBLIC_URL/payments/yookassa/notice`');
  });
});
