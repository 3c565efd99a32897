// Checks periodically what owners asked to be alerted about, and alerts them. Every process runs this; the one that
// advances an alarm in the store delivers it, and another takes over if it dies.
import { eachConcurrently } from '../base/each-concurrently.ts';
import { getBudgetKeyId } from '../money/key-budget.ts';
import { isExpired } from '../money/key-limits.ts';
import type { Alarm, AlertSettings } from '../store/ports/alerts.ts';
import type { Store } from '../store/store.ts';
import { watchBalance } from './balance.ts';
import { watchBudget } from './budget.ts';
import { type ChannelOptions, createChannels } from './channels.ts';
import { type AlarmState, attempted, claimed, type Delivery, isDue, newDelivery, readState } from './delivery.ts';
import type { Happening, Watch } from './watch.ts';

export interface AlertsOptions extends Omit<ChannelOptions, 'store' | 'now'> {
  readonly store: Pick<Store, 'accounts' | 'users' | 'keys' | 'ledger' | 'alerts'>;
  /** ms since the epoch. */
  readonly now?: () => number;
  /** Average pause between two rounds. */
  readonly everyMs?: number;
}

export interface Alerts {
  start(): void;
  /** Interrupts what is under way; the next round, in any process, sends the interrupted alerts. */
  stop(): Promise<void>;
  /** One round over every account; resolves once every alert that is due has been sent. */
  look(): Promise<void>;
  /** Whether an alert would go anywhere. */
  hasChannels(settings: AlertSettings): Promise<boolean>;
  /**
   * Records something that happened to an account; the next round, in any process, sends it. `id` says what it is
   * about: the same id is sent once.
   */
  tell(account: string, happening: Happening, id: string): Promise<void>;
  /** Sends one alert marked as a test and records the result. */
  test(settings: AlertSettings): Promise<void>;
  /** The latest alerts of an account, newest first. */
  last(account: string): Promise<readonly Delivery[]>;
}

const EVERY_MS = 30_000;
const ACCOUNTS_PER_PAGE = 100;
/** Enough that a slow receiver does not delay the others. */
const ACCOUNTS_AT_ONCE = 16;
const TEST = 'test';

export function createAlerts({ everyMs = EVERY_MS, now = Date.now, ...options }: AlertsOptions): Alerts {
  const { store, log } = options;
  const channels = createChannels({ ...options, now });
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;

  async function look(): Promise<void> {
    let failure: unknown;
    const lookAt = (settings: AlertSettings) =>
      lookAtAccount(settings).catch((err: unknown) => {
        failure ??= err;
      });
    for (let after = ''; !ending.signal.aborted; ) {
      const page = await store.alerts.page({ after, limit: ACCOUNTS_PER_PAGE });
      await eachConcurrently(page, ACCOUNTS_AT_ONCE, lookAt);
      const last = page.at(-1);
      if (!last) break;
      after = last.account;
    }
    if (failure !== undefined) throw failure;
  }

  async function lookAtAccount(settings: AlertSettings): Promise<void> {
    ending.signal.throwIfAborted();
    const [watches, stored] = await Promise.all([watchesOf(settings), store.alerts.alarms(settings.account)]);
    const alarms = new Map(stored.map((alarm) => [alarm.subject, alarm]));
    for (const watch of watches) {
      const alarm = await decide(settings, watch, alarms.get(watch.subject));
      if (alarm) alarms.set(watch.subject, alarm);
    }
    for (const alarm of alarms.values()) await deliver(settings, alarm);
  }

  /** New kinds of alert are added here. */
  async function watchesOf({ account, balanceBelow, budgets }: AlertSettings): Promise<readonly Watch[]> {
    const wallet = balanceBelow === null ? undefined : await store.ledger.wallet(account);
    const balance = wallet && balanceBelow !== null ? [watchBalance(wallet, balanceBelow)] : [];
    return budgets ? [...balance, ...(await budgetsOf(account))] : balance;
  }

  async function budgetsOf(account: string): Promise<readonly Watch[]> {
    const at = now();
    const keys = (await store.keys.list(account)).filter(
      ({ revokedAt, limits }) => revokedAt === null && limits.budget !== null && !isExpired(limits, at),
    );
    // Of keys that share a budget the last one issued stands for all.
    const watched = new Map(keys.map((key) => [getBudgetKeyId(key), key]));
    if (watched.size === 0) return [];
    const sums = new Map((await store.ledger.budgets([...watched.keys()])).map((sum) => [sum.key, sum]));
    return [...watched].map(([sumKey, key]) => watchBudget(key, sums.get(sumKey), at));
  }

  /** The current alarm; undefined when there is none, or when another process advanced it first. */
  async function decide(settings: AlertSettings, watch: Watch, alarm: Alarm | undefined): Promise<Alarm | undefined> {
    const { account } = settings;
    const state = readState(alarm?.state);
    const decision = watch.decide(state.mark);
    if (decision.kind === 'stay') return alarm;
    const from = alarm ?? { account, subject: watch.subject, state: '', version: 0 };
    if (decision.kind === 'arm') return move(from, { ...state, mark: null });
    const { mark, happening } = decision;
    const delivery = newDelivery(happening, { account, channels: await channels.of(settings), now: now() });
    return move(from, { mark, delivery });
  }

  async function move(alarm: Alarm, state: AlarmState): Promise<Alarm | undefined> {
    const moved = { ...alarm, state: JSON.stringify(state) };
    return (await store.alerts.changeAlarm(moved)) ? { ...moved, version: alarm.version + 1 } : undefined;
  }

  async function deliver(settings: AlertSettings, alarm: Alarm): Promise<void> {
    const state = readState(alarm.state);
    if (!state.delivery || !isDue(state.delivery, now())) return;
    const delivery = claimed(state.delivery, now());
    if (!(await move(alarm, { ...state, delivery }))) return;
    const arrivals = await channels.send(settings, delivery, ending.signal);
    await note(alarm, attempted(delivery, arrivals, now()));
  }

  /** Records the result of an attempt, unless the alarm has moved on. */
  async function note({ account, subject }: Alarm, delivery: Delivery): Promise<void> {
    for (;;) {
      const alarm = (await store.alerts.alarms(account)).find((found) => found.subject === subject);
      const state = readState(alarm?.state);
      const { event, tries } = state.delivery ?? {};
      // A newer alert has replaced it, or another process has claimed the next attempt.
      if (!alarm || event?.id !== delivery.event.id || tries !== delivery.tries) return;
      if (await move(alarm, { ...state, delivery })) return;
    }
  }

  async function tell(account: string, happening: Happening, id: string): Promise<void> {
    const { type } = happening;
    for (;;) {
      const settings = await settingsOf(account);
      const told = (await store.alerts.alarms(account)).filter(({ subject }) => subject.split(':', 1)[0] === type);
      if (told.some(({ state }) => readState(state).mark?.id === id)) return;
      const delivery = newDelivery(happening, { account, channels: await channels.of(settings), now: now() });
      // One whose alert is still being sent keeps it: what happens in the meantime gets another.
      const sent = told.find(({ state }) => (readState(state).delivery?.dueAt ?? null) === null);
      const subject = told.length === 0 ? type : `${type}:${told.length}`;
      const from = sent ?? { account, subject, state: '', version: 0 };
      if (await move(from, { mark: { id }, delivery })) return;
    }
  }

  /** Rounds visit only accounts that have settings, so this creates them if needed. */
  async function settingsOf(account: string): Promise<AlertSettings> {
    const none = { account, balanceBelow: null, budgets: true, webhook: null, version: 0 };
    for (;;) {
      const settings = await store.alerts.get(account);
      if (settings) return settings;
      await store.alerts.change(none);
    }
  }

  async function test(settings: AlertSettings): Promise<void> {
    const { account } = settings;
    const happening = { type: TEST, data: {} } as const;
    const made = newDelivery(happening, { account, channels: await channels.of(settings), now: now() });
    const arrivals = await channels.send(settings, made, ending.signal);
    const alarm = (await store.alerts.alarms(account)).find(({ subject }) => subject === TEST);
    const from = alarm ?? { account, subject: TEST, state: '', version: 0 };
    // Of two concurrent tests only one is recorded.
    await move(from, { mark: null, delivery: attempted(made, arrivals, now(), false) });
  }

  function wait(): void {
    timer = setTimeout(round, everyMs * (0.5 + Math.random())).unref();
  }

  function round(): void {
    running = look()
      .catch((err: unknown) => {
        if (!ending.signal.aborted) log.warn({ err }, 'could not check the alerts of every account');
      })
      .then(() => {
        if (!ending.signal.aborted) wait();
      });
  }

  return {
    look,
    tell,
    test,
    hasChannels: async (settings) => (await channels.of(settings)).length > 0,
    async last(account) {
      const alarms = await store.alerts.alarms(account);
      const found = alarms.map(({ state }) => readState(state).delivery).filter((delivery) => delivery !== null);
      return found.sort((one, other) => other.event.at - one.event.at);
    },
    start: wait,
    async stop() {
      clearTimeout(timer);
      ending.abort(new Error('the gateway is stopping'));
      await running;
    },
  };
}
