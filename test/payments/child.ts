// Runs the payments of a gateway in a process of its own, which kills itself with -9 at the step in KILL_AT: `before
// pay`, `after begin`. LIFE is what it does: `order` orders, polls and requests a refund; `charge` checks an automatic
// top-up; `lost` and `won` record a dispute and its end. At the steps of the bank it is killed from outside.
import type { OpenPayment } from '../../lib/catalog/payments.ts';
import { endDispute, openDispute, requestRefund } from '../../lib/payments/operator.ts';
import { createPayments } from '../../lib/payments/payments.ts';
import { openStore } from '../../lib/store/open.ts';
import type { Call } from '../../lib/store/port-calls.ts';
import { mapCalls } from '../../lib/store/port-calls.ts';
import type { PaymentProvider } from '../../lib/upstream/contract/payment.ts';
import { createProvider } from '../../lib/upstream/host/settings.ts';
import till from '../../testkit/payments/till/index.ts';
import { RUB } from '../contract/store/context.ts';
import { createTopups } from './kill.ts';

const { DATABASE_URL = '', BANK_URL = '', WALLET = '', PAYMENT = '', KILL_AT = '', LIFE = 'order' } = process.env;
const [killWhen, killStep] = KILL_AT.split(' ');

const real = await openStore(DATABASE_URL);
const store = mapCalls(real, (call: Call, { port, name }) => async (...args) => {
  const step = nameStep(port, name, args[0]);
  if (step === killStep && killWhen === 'before') die();
  const result = await call(...args);
  if (step === killStep && killWhen === 'after') die();
  return result;
});

function nameStep(port: string | undefined, name: string, argument: unknown): string {
  if (port === 'payments' && name === 'change') return (argument as { kind: string }).kind;
  if (port === 'ledger' && name === 'apply') {
    const [{ kind, payment } = { kind: '' }] = argument as { kind: string; payment?: { kind: string } }[];
    if (payment?.kind === 'ask_refund') return 'ask_refund';
    return kind === 'dispute' ? 'lose' : kind;
  }
  if (port === 'alerts') return name === 'changeAlarm' ? 'tell' : '';
  return port === 'payments' ? name : '';
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;);
}

const silent = { info() {}, warn() {}, error() {} };
const open = createProvider({ plugin: till, upstream: 'till', settings: { baseUrl: BANK_URL }, log: { warn() {} } });
const provider = open.provider as PaymentProvider;
const providers = new Map<string, OpenPayment>([['till', { name: 'till', provider, shortfall: 'suspend' }]]);
const payments = createPayments({
  store,
  providers: () => providers,
  publicUrl: () => 'https://gate.example.com',
  log: silent,
  ownerId: `own_${process.pid}`,
  leaseMs: 500,
  clock: { now: Date.now, canJudgeOthers: () => true },
});

const LIVES: Readonly<Record<string, () => Promise<unknown>>> = {
  async order() {
    const asked = { wallet: WALLET, provider: 'till', amount: 1000n * RUB, locale: 'en', saveMethod: false } as const;
    const { id } = await payments.order(asked);
    await payments.poll(id);
    await requestRefund(store, id, { at: Date.now(), amount: 300n * RUB, reason: 'wish', refund: `rfd_${id}` });
    await payments.poll(id);
  },
  charge: () => createTopups({ store, payments }).checkWallet(WALLET),
  lost: () => dispute('lost'),
  won: () => dispute('won'),
};
async function dispute(how: 'lost' | 'won'): Promise<void> {
  await openDispute(store, PAYMENT, { at: Date.now(), dispute: `CB-${PAYMENT}` });
  await endDispute(store, PAYMENT, { at: Date.now(), how, suspend: true });
}

await LIVES[LIFE]?.();
await payments.stop();
await open.close();
await real.close();
