// A bank on loopback that takes payments for `testkit/payments/till`: it remembers keys, and keeps what was paid.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Decline } from '../lib/upstream/contract/payment.ts';

/** The `PAYMENTS_PATH` of a service that uses this bank. */
export const TILLS = fileURLToPath(new URL('./payments/', import.meta.url));

interface BankRefund {
  readonly id: string;
  status: 'pending' | 'succeeded' | 'canceled';
  readonly amount: string;
  currency: string;
  readonly order: string | null;
}

export interface BankPayment {
  readonly id: string;
  status: 'pending' | 'succeeded' | 'canceled';
  amount: string;
  currency: string;
  shop: string;
  test: boolean;
  order: string | null;
  saved: object | null;
  readonly refunds: BankRefund[];
  reason: Decline | null;
}

export type Asked = 'start' | 'fetch' | 'find' | 'refund';

export interface Bank {
  readonly url: string;
  readonly payments: Map<string, BankPayment>;
  /** How often each was requested, by anyone. */
  readonly asked: Map<Asked, number>;
  /** Called before and after the bank carries out a request: a status is the reply instead, an exception is a 500. */
  hook: (asked: Asked, when: 'before' | 'after') => Promise<number | undefined> | number | undefined;
  /** How long links are valid. */
  linkMs: number;
  /** What is saved about the next payers. */
  saves: object | null;
  /** What happens when saved methods are charged: they wait for `pay`, are paid, or are declined. */
  charges: 'wait' | 'pay' | 'decline' | 'refuse for good';
  /** How new refunds start. */
  refunds: BankRefund['status'];
  ofOrder(order: string): readonly BankPayment[];
  /** The payer pays. */
  pay(order: string, more?: Partial<BankPayment>): BankPayment;
  /** Somebody makes a refund in the bank's own interface. */
  giveBack(order: string, amount: bigint): BankRefund;
  /** What it keeps, minus refunds, of all payments that name the orders. */
  holds(orders: readonly string[]): bigint;
  close(): Promise<void>;
}

/** Not enough is left. */
class Refused extends Error {}

const ENDS: Readonly<Record<Bank['charges'], Partial<BankPayment>>> = {
  wait: {},
  pay: { status: 'succeeded' },
  decline: { status: 'canceled', reason: { kind: 'soft', code: 'insufficient_funds' } },
  'refuse for good': { status: 'canceled', reason: { kind: 'hard', code: 'card_expired' } },
};

const newId = (kind: string) => `${kind}-${randomBytes(8).toString('hex')}`;

export async function startBank(): Promise<Bank> {
  const keys = new Map<string, unknown>();
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : {};
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const asked = nameRequest(request.method === 'POST', pathname);
    bank.asked.set(asked, (bank.asked.get(asked) ?? 0) + 1);
    try {
      const refused = await bank.hook(asked, 'before');
      if (refused !== undefined) return void response.writeHead(refused).end('{"error":"refused"}');
      const reply = act(asked, pathname, searchParams, body);
      await bank.hook(asked, 'after');
      response.writeHead(reply === undefined ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply ?? { error: 'not found' }));
    } catch (error) {
      response
        .writeHead(error instanceof Refused ? 400 : 500, { 'content-type': 'application/json' })
        .end('{"error":"failed"}');
    }
  }

  function act(asked: Asked, path: string, query: URLSearchParams, body: Record<string, string>): unknown {
    switch (asked) {
      case 'start':
        return once(body, () => begin(body));
      case 'refund':
        return once(body, () => addRefund(bank.payments.get(body.payment ?? ''), body));
      case 'fetch':
        return bank.payments.get(path.slice('/payments/'.length));
      case 'find':
        return bank.ofOrder(query.get('order') ?? '');
    }
  }

  function once(body: Record<string, string>, make: () => unknown): unknown {
    const key = body.idempotenceKey ?? '';
    if (!keys.has(key)) keys.set(key, make());
    return keys.get(key);
  }

  function begin(body: Record<string, string>): unknown {
    const made: BankPayment = {
      id: newId('bp'),
      status: 'pending',
      amount: body.amount ?? '0',
      currency: 'RUB',
      shop: 'shop-1',
      test: false,
      order: body.id ?? null,
      saved: null,
      refunds: [],
      reason: null,
    };
    bank.payments.set(made.id, made);
    if (body.charges !== undefined) return Object.assign(made, ENDS[bank.charges]);
    return { id: made.id, payUrl: `https://pay.example.com/${made.id}`, expiresAt: Date.now() + bank.linkMs };
  }

  function addRefund(payment: BankPayment | undefined, { id, amount = '0' }: Record<string, string>): unknown {
    if (!payment) return undefined;
    const asked = payment.refunds.filter(({ status }) => status !== 'canceled');
    const left = asked.reduce((sum, one) => sum - BigInt(one.amount), BigInt(payment.amount));
    if (BigInt(amount) > left) throw new Refused();
    const refund = { id: newId('br'), status: bank.refunds, amount, currency: 'RUB', order: id ?? null };
    payment.refunds.push(refund);
    return refund;
  }

  const bank: Bank = {
    url,
    payments: new Map(),
    asked: new Map(),
    hook: () => undefined,
    linkMs: 3_600_000,
    saves: null,
    charges: 'wait',
    refunds: 'succeeded',
    ofOrder: (order) => [...bank.payments.values()].filter((payment) => payment.order === order),
    pay(order, more = {}) {
      const [payment] = bank.ofOrder(order);
      if (!payment) throw new Error(`the bank has no payment for ${order}`);
      return Object.assign(payment, { status: 'succeeded', saved: bank.saves }, more);
    },
    giveBack: (order, amount) =>
      addRefund(bank.ofOrder(order)[0], { id: null as never, amount: String(amount) }) as BankRefund,
    holds(orders) {
      const paid = orders.flatMap((order) => bank.ofOrder(order)).filter(({ status }) => status === 'succeeded');
      return paid.reduce((sum, { amount, refunds }) => {
        const back = refunds.filter(({ status }) => status === 'succeeded');
        return sum + BigInt(amount) - back.reduce((all, refund) => all + BigInt(refund.amount), 0n);
      }, 0n);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return bank;
}

function nameRequest(isPost: boolean, path: string): Asked {
  if (isPost) return path === '/refunds' ? 'refund' : 'start';
  return path === '/payments' ? 'find' : 'fetch';
}
