// Runs the payments of a gateway in a process to kill, and its automatic top-ups.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createAlerts } from '../../lib/alerts/alerts.ts';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { type AutoTopup, createAutoTopup } from '../../lib/payments/auto-topup.ts';
import type { Payments } from '../../lib/payments/payments.ts';
import type { Store } from '../../lib/store/store.ts';
import type { PaymentStage } from './service-stage.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));

export interface KilledRun {
  /** `before begin`; absent: the process is not killed. */
  readonly at?: string;
  readonly life?: 'order' | 'charge' | 'lost' | 'won';
  readonly payment?: string;
}

/** Resolves to the signal it died by. `watch` gets what kills it. */
export async function runUntilKilled(
  stage: PaymentStage,
  { at = '', life = 'order', payment = '' }: KilledRun,
  watch: (kill: () => void) => void = () => undefined,
): Promise<NodeJS.Signals | null> {
  const where = { DATABASE_URL: stage.databaseUrl, BANK_URL: stage.bank.url, WALLET: stage.wallet };
  const env = { ...process.env, ...where, PAYMENT: payment, LIFE: life, KILL_AT: at };
  const child = fork(CHILD, { env, execArgv: ['--disable-warning=ExperimentalWarning'], stdio: 'inherit' });
  watch(() => child.kill('SIGKILL'));
  const [, signal] = await once(child, 'exit');
  return signal;
}

/** Letters are kept in the store, and go nowhere. */
export function createTopups({ store, payments }: { readonly store: Store; readonly payments: Payments }): AutoTopup {
  const log = { warn() {} };
  const fetcher = () => ({ post: () => Promise.reject(new Error('nothing is sent')) });
  const publicUrl = () => 'https://gate.example.com';
  const alerts = createAlerts({ store, mailer: undefined, fetcher, publicUrl, log });
  return createAutoTopup({ store, payments, bounds: () => readTopupBounds(), now: Date.now, log, alerts });
}
