// Every shipped payment plugin keeps the contract, each with what it needs behind it.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import type { PaymentPlugin } from '../../../lib/upstream/contract/payment.ts';
import { loadPlugins } from '../../../lib/upstream/host/loader.ts';
import sandbox from '../../../payments/sandbox/index.ts';
import yookassa from '../../../payments/yookassa/index.ts';
import { createMemory, openPayments } from '../../../testkit/payments.ts';
import { startYooKassa } from '../../../testkit/yookassa.ts';
import { describePayments, type Subject } from './contract.ts';

const SHIPPED = fileURLToPath(new URL('../../../payments', import.meta.url));
const signal = new AbortController().signal;

const SUBJECTS: Readonly<Record<string, () => Promise<Subject>>> = {
  async sandbox() {
    const memory = createMemory();
    const { provider, secrets, logged, close } = openPayments(sandbox, {}, { memory });
    return {
      provider,
      secrets,
      logged,
      async pay(id) {
        await provider.page?.({ method: 'POST', path: `/${id}`, query: {}, form: { button: 'paid' } }, signal);
      },
      buildWebhook: (id, more = {}) => ({
        headers: {},
        body: JSON.stringify({ payment: id, ...more }),
        address: '127.0.0.1',
      }),
      again: () => openPayments(sandbox, {}, { memory }).provider,
      close,
    };
  },

  async yookassa() {
    const vendor = await startYooKassa();
    const { baseUrl, shopId, secret, shop } = vendor;
    const open = () => openPayments(yookassa, { baseUrl, shopId, secret });
    const opened = [open()];
    const [{ provider, secrets, logged }] = opened as [ReturnType<typeof open>];
    return {
      provider,
      secrets,
      logged,
      pay: async (id) => void shop.pay(id),
      buildWebhook: (id, more = {}) => ({
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'notification', event: 'payment.succeeded', object: { id, ...more } }),
        address: '185.71.76.1',
      }),
      again() {
        const other = open();
        opened.push(other);
        return other.provider;
      },
      async close() {
        for (const each of opened) await each.close();
        await vendor.close();
      },
    };
  },
};

describe('shipped payment plugins', () => {
  it('all load, and all are checked', async () => {
    const folders = readdirSync(SHIPPED, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).sort()).to.deep.equal(Object.keys(SUBJECTS).sort());
    const plugins = await loadPlugins<PaymentPlugin>({ shipped: SHIPPED, path: [] });
    expect([...plugins.keys()].sort()).to.deep.equal(Object.keys(SUBJECTS).sort());
  });
});

for (const [name, open] of Object.entries(SUBJECTS)) describePayments(name, open);
