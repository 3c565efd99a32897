// Checks periodically what owners want to be alerted of, and alerts them. Every process runs this. The process that
// advances an alarm in the store delivers the alert, and another takes over if it dies.
import { eachConcurrently } from '../base/each-concurrently.ts';
import { getBudgetKeyId } from '../money/budget.ts';
import { isExpired } from '../money/key-limits.ts';
import type { Alarm, AlertSettings } from '../store/ports/alerts.ts';
import type { Store } from '../store/store.ts';
import { walkPages } from '../store/walks.ts';
import { watchBalance } from './balance.ts';
import { watchBudget } from './budget.ts';
import { type ChannelOptions, createChannels } from './channels.ts';
import {
  type AlarmState,
  claimDelivery,
  type Delivery,
  isDeliveryDue,
  newDelivery,
  readAlarmState,
  recordAttempt,
} from './delivery.ts';
import { OPERATORS } from './operators.ts';
import type { ServiceWatches } from './service.ts';
import { readSettledSums } from './settled-sums.ts';
import type { AlertContent, Watch } from './watch.ts';

export interface AlertsOptions extends Omit<ChannelOptions, 'store' | 'now'> {
  readonly store: Pick<Store, 'accounts' | 'users' | 'keys' | 'ledger' | 'alerts'>;
  /** ms since the epoch. */
  readonly now?: () => number;
  /** What operators want to be alerted of. */
  readonly serviceWatches?: ServiceWatches | undefined;
  /** Average pause between two checks of all accounts. */
  readonly everyMs?: number;
}

export interface Alerts {
  start(): void;
  /** Interrupts running deliveries; the next check, in any process, sends the interrupted alerts. */
  stop(): Promise<void>;
  /** Checks every account once; resolves when every due alert has been sent. */
  checkAll(): Promise<void>;
  /** Whether an alert would be sent to anybody. */
  hasChannels(settings: AlertSettings): Promise<boolean>;
  /**
   * Stores an alert for an account; the next check, in any process, sends it. `id` identifies the event: alerts of one
   * type with the same id are sent once.
   */
  queueAlert(account: string, content: AlertContent, id: string): Promise<void>;
  /** Sends one alert marked as a test and records the result. */
  test(settings: AlertSettings): Promise<void>;
  /** The latest alerts of an account, newest first. */
  last(account: string): Promise<readonly Delivery[]>;
}

const EVERY_MS = 30_000;
const ACCOUNTS_PER_PAGE = 100;
/** High enough that a slow receiver does not delay the other accounts. */
const ACCOUNTS_AT_ONCE = 16;
const TEST_TYPE = 'test';

export function createAlerts({ everyMs = EVERY_MS, now = Date.now, ...options }: AlertsOptions): Alerts {
  const { store, log, serviceWatches } = options;
  const channels = createChannels({ ...options, now });
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function checkAll(): Promise<void> {
    let failure: unknown;
    // Accounts without settings are not checked.
    if (serviceWatches) await getOrCreateSettings(OPERATORS);
    const tryAccount = (settings: AlertSettings) =>
      checkAccount(settings).catch((err: unknown) => {
        failure ??= err;
      });
    for await (const page of walkPages(ACCOUNTS_PER_PAGE, store.alerts.page, ({ account }) => account)) {
      if (ending.signal.aborted) break;
      await eachConcurrently(page, ACCOUNTS_AT_ONCE, tryAccount);
    }
    if (failure !== undefined) throw failure;
  }

  async function checkAccount(settings: AlertSettings): Promise<void> {
    ending.signal.throwIfAborted();
    const [watches, stored] = await Promise.all([listWatches(settings), store.alerts.alarms(settings.account)]);
    const alarms = new Map(stored.map((alarm) => [alarm.subject, alarm]));
    for (const watch of watches) {
      const alarm = await applyDecision(settings, watch, alarms.get(watch.subject));
      if (alarm) alarms.set(watch.subject, alarm);
    }
    for (const alarm of alarms.values()) await deliverIfDue(settings, alarm);
  }

  /** New kinds of alert are added here. */
  async function listWatches({ account, balanceBelow, budgets }: AlertSettings): Promise<readonly Watch[]> {
    if (account === OPERATORS) return serviceWatches?.() ?? [];
    const wallet = balanceBelow === null ? undefined : await store.ledger.wallet(account);
    const balance = wallet && balanceBelow !== null ? [watchBalance(wallet, balanceBelow)] : [];
    return budgets ? [...balance, ...(await listBudgetWatches(account))] : balance;
  }

  async function listBudgetWatches(account: string): Promise<readonly Watch[]> {
    const at = now();
    const keys = (await store.keys.list(account)).filter(
      ({ revokedAt, limits }) => revokedAt === null && limits.budget !== null && !isExpired(limits, at),
    );
    // Keys that share a budget are watched once, under the last one issued.
    const watched = new Map(keys.map((key) => [getBudgetKeyId(key), key]));
    if (watched.size === 0) return [];
    const sums = await readSettledSums(store.ledger, { account, keys: watched, at });
    return [...watched].map(([sumKey, key]) => watchBudget(key, sums.get(sumKey), at));
  }

  /** Resolves to the current alarm; undefined if there is none, or if another process advanced it first. */
  async function applyDecision(
    settings: AlertSettings,
    watch: Watch,
    alarm: Alarm | undefined,
  ): Promise<Alarm | undefined> {
    const { account } = settings;
    const state = readAlarmState(alarm?.state);
    const decision = watch.decide(state.mark);
    if (decision.kind === 'stay') return alarm;
    const from = alarm ?? { account, subject: watch.subject, state: '', version: 0 };
    if (decision.kind === 'rearm') return advanceAlarm(from, { ...state, mark: null });
    const { mark, content } = decision;
    const delivery = newDelivery(content, { account, channels: await channels.listNames(settings), now: now() });
    return advanceAlarm(from, { mark, delivery });
  }

  async function advanceAlarm(alarm: Alarm, state: AlarmState): Promise<Alarm | undefined> {
    const advanced = { ...alarm, state: JSON.stringify(state) };
    return (await store.alerts.changeAlarm(advanced)) ? { ...advanced, version: alarm.version + 1 } : undefined;
  }

  async function deliverIfDue(settings: AlertSettings, alarm: Alarm): Promise<void> {
    const state = readAlarmState(alarm.state);
    if (!state.delivery || !isDeliveryDue(state.delivery, now())) return;
    const delivery = claimDelivery(state.delivery, now());
    if (!(await advanceAlarm(alarm, { ...state, delivery }))) return;
    const arrivals = await channels.send(settings, delivery, ending.signal);
    await recordDelivery(alarm, recordAttempt(delivery, arrivals, now()));
  }

  /** Records the result of an attempt, unless the alarm has moved on. */
  async function recordDelivery({ account, subject }: Alarm, delivery: Delivery): Promise<void> {
    for (;;) {
      const alarm = (await store.alerts.alarms(account)).find((found) => found.subject === subject);
      const state = readAlarmState(alarm?.state);
      const { event, tries } = state.delivery ?? {};
      // A newer alert has replaced this one, or another process has claimed the next attempt.
      if (!alarm || event?.id !== delivery.event.id || tries !== delivery.tries) return;
      if (await advanceAlarm(alarm, { ...state, delivery })) return;
    }
  }

  async function queueAlert(account: string, content: AlertContent, id: string): Promise<void> {
    const { type } = content;
    for (;;) {
      const settings = await getOrCreateSettings(account);
      const queued = (await store.alerts.alarms(account)).filter(({ subject }) => subject.split(':', 1)[0] === type);
      if (queued.some(({ state }) => readAlarmState(state).mark?.id === id)) return;
      const delivery = newDelivery(content, { account, channels: await channels.listNames(settings), now: now() });
      // Reuses an alarm whose delivery has ended; otherwise creates another one.
      const sent = queued.find(({ state }) => (readAlarmState(state).delivery?.dueAt ?? null) === null);
      const subject = queued.length === 0 ? type : `${type}:${queued.length}`;
      const from = sent ?? { account, subject, state: '', version: 0 };
      if (await advanceAlarm(from, { mark: { id }, delivery })) return;
    }
  }

  /** Creates the settings if needed, because only accounts with settings are checked. */
  async function getOrCreateSettings(account: string): Promise<AlertSettings> {
    const none = { account, balanceBelow: null, budgets: true, webhook: null, version: 0 };
    for (;;) {
      const settings = await store.alerts.get(account);
      if (settings) return settings;
      await store.alerts.change(none);
    }
  }

  async function sendTest(settings: AlertSettings): Promise<void> {
    const { account } = settings;
    const content = { type: TEST_TYPE, data: {} } as const;
    const made = newDelivery(content, { account, channels: await channels.listNames(settings), now: now() });
    const arrivals = await channels.send(settings, made, ending.signal);
    const alarm = (await store.alerts.alarms(account)).find(({ subject }) => subject === TEST_TYPE);
    const from = alarm ?? { account, subject: TEST_TYPE, state: '', version: 0 };
    // Only one of two concurrent tests is recorded.
    await advanceAlarm(from, { mark: null, delivery: recordAttempt(made, arrivals, now(), false) });
  }

  function scheduleRound(): void {
    timer = setTimeout(runRound, everyMs * (0.5 + Math.random())).unref();
  }

  function runRound(): void {
    running = checkAll()
      .catch((err: unknown) => {
        if (!ending.signal.aborted) log.warn({ err }, 'could not check the alerts of every account');
      })
      .then(() => {
        if (!ending.signal.aborted) scheduleRound();
      });
  }

  return {
    checkAll,
    queueAlert,
    test: sendTest,
    hasChannels: async (settings) => (await channels.listNames(settings)).length > 0,
    async last(account) {
      const alarms = await store.alerts.alarms(account);
      const found = alarms.map(({ state }) => readAlarmState(state).delivery).filter((delivery) => delivery !== null);
      return found.sort((one, other) => other.event.at - one.event.at);
    },
    start: scheduleRound,
    async stop() {
      clearTimeout(timer);
      ending.abort(new Error('the gateway is stopping'));
      await running;
    },
  };
}
