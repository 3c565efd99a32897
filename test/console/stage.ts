// The pages on a server of their own, over a store whose calls a test can plan, with counters of memory and calls.
import { pino } from 'pino';
import { createLimiter } from '../../lib/accounts/rate-limiter.ts';
import { type AlertsOptions, createAlerts } from '../../lib/alerts/alerts.ts';
import { readTopupBounds } from '../../lib/catalog/topup-bounds.ts';
import { type ConsoleOptions, createConsole } from '../../lib/console/console.ts';
import { consolePlugin } from '../../lib/console/plugin.ts';
import { createLiveCalls, type LiveCalls } from '../../lib/http/live-calls.ts';
import { createMemoryQuota, type MemoryQuota } from '../../lib/http/memory-quota.ts';
import type { Mailer } from '../../lib/users/mail.ts';
import { type Behaviour, type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { openTestHttp } from '../../testkit/http.ts';
import { createVisitor, setUpOwner, type Visitor } from '../../testkit/pages.ts';
import till from '../../testkit/payments/till/index.ts';
import { openPayments, RUB } from '../../testkit/payments.ts';
import { makeUser } from '../contract/store/people.ts';

const MIB = 1024 * 1024;

export interface Pages {
  readonly faults: FaultyStore;
  readonly url: string;
  readonly budget: MemoryQuota;
  readonly calls: LiveCalls;
  /** A new user with an account of their own. */
  owner(): Promise<Awaited<ReturnType<typeof setUpOwner>> & { readonly account: string }>;
  /** A new operator who has just entered a code. */
  operator(): Promise<Visitor & { readonly email: string }>;
  close(): Promise<void>;
}

/** With a payment provider, or without one; with a mail server if there is a mailer. */
export async function openPages({ isPaid = true, mailer }: { isPaid?: boolean; mailer?: Mailer } = {}): Promise<Pages> {
  const faults = await openFaultyStore();
  const { store, real } = faults;
  const calls = createLiveCalls();
  const budget = createMemoryQuota({ bytesMax: 8 * MIB, ownerBytesMax: 4 * MIB });
  const { provider, close } = openPayments(till, { baseUrl: 'http://127.0.0.1:1' });
  const http = openTestHttp();
  const log = pino({ enabled: false });
  const publicUrl = () => 'http://127.0.0.1';
  const fetcher = () => ({ refusalOf: () => undefined }) as unknown as ReturnType<AlertsOptions['fetcher']>;
  const alerts = createAlerts({ store, log, publicUrl, mailer, fetcher });
  const web = createConsole({
    api: {
      store,
      calls,
      memoryQuota: budget,
      log,
      limiter: createLimiter({ store: store.limits }),
      now: Date.now,
      publicUrl,
      upstreams: () => [],
      catalog: () => ({ byName: new Map(), priceLists: new Map(), models: [], autoTopup: readTopupBounds() }),
    },
    sandbox: false,
    catalogFailure: () => undefined,
    catalogParts: () => ({
      file: { upstreams: {}, models: [] },
      version: 0,
      upstreams: new Map(),
      switchedOff: new Map(),
    }),
    catalogEditor: {
      keepsSecrets: false,
      read: async () => undefined,
      history: async () => [],
      failure: async () => undefined,
    },
    mailer,
    alerts,
    payments: {
      providers: () => (isPaid ? [{ name: 'till', provider, shortfall: 'suspend' }] : []),
      minimumOrder: async () => RUB,
      poll: async () => undefined,
      handleWebhook: async (name: string) => (name === 'till' ? 'done' : undefined),
    },
    topups: { checkSoon: () => undefined },
    usage: { foldSoon: () => undefined, foldAll: async () => undefined },
    fetcher,
    keyPrefix: 'tg-',
    registration: 'closed',
    pageRateLimitPerMinute: 100_000,
  } as unknown as ConsoleOptions);
  await http.server.register({ plugin: consolePlugin, options: web.services });
  await http.start();
  const url = `http://127.0.0.1:${http.server.info.port}`;
  return {
    faults,
    url,
    budget,
    calls,
    async owner() {
      const account = await faults.wallet();
      return { ...(await setUpOwner({ store: real, url }, account)), account };
    },
    async operator() {
      const user = makeUser({ operator: true, language: 'en' });
      await real.users.add(user);
      const session = await web.services.sessions.open(user, { address: '127.0.0.1', agent: '' }, { proven: true });
      return { ...createVisitor(url, { session }), email: user.email };
    },
    async close() {
      await http.close(async () => undefined);
      web.close();
      await alerts.stop();
      await close();
      await faults.close();
    },
  };
}

/** Does something else first. */
export const after =
  (happens: () => Promise<unknown>): Behaviour =>
  async (call) => {
    await happens();
    return call();
  };
