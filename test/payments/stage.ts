// A test vendor and the providers that use it.
import { expect } from 'chai';
import type { Order, PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import plugin from '../../payments/yookassa/index.ts';
import { makeOrder, type OpenedPayments, openPayments } from '../../testkit/payments.ts';
import { type Asked, startYooKassa, type YooKassa, type YooKassaOptions } from '../../testkit/yookassa.ts';

/** No call's. */
export const signal = new AbortController().signal;

export interface Thrown {
  readonly kind: string;
  readonly detail: string;
  readonly message: string;
  readonly stack: string;
}

export const thrownBy = (running: Promise<unknown> | undefined): Promise<Thrown> =>
  (running ?? expect.fail('it cannot do that')).then(
    () => expect.fail('it did not fail'),
    (error: Thrown) => error,
  );

export class VendorStage {
  vendor!: YooKassa;
  opened: OpenedPayments[] = [];

  /** A new vendor, and a provider that uses it. */
  async open(settings: object = {}, options: YooKassaOptions = {}): Promise<PaymentProvider> {
    this.vendor = await startYooKassa(options);
    return this.reopen(settings);
  }

  /** Another provider of the same vendor. */
  reopen(settings: object = {}): PaymentProvider {
    const { baseUrl, shopId, secret } = this.vendor;
    const one = openPayments(plugin, { baseUrl, shopId, secret, ...settings });
    this.opened.push(one);
    return one.provider;
  }

  async close(): Promise<void> {
    for (const open of this.opened.splice(0)) await open.close();
    await this.vendor.close();
  }

  last(): Asked {
    return this.vendor.asked.at(-1) ?? expect.fail('nothing was asked');
  }

  /** The id of a paid payment. */
  async paid(provider: PaymentProvider, more: Partial<Order> = {}): Promise<string> {
    const { id } = await provider.start(makeOrder(more), signal);
    this.vendor.shop.pay(id);
    return id;
  }
}
