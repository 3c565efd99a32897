// Sandbox mode: whether this start enters it, and the demo account created by the first one.
import { createAccounts } from '../accounts/accounts.ts';
import type { Config } from '../config.ts';
import type { Log } from '../http/log.ts';
import { MICRO_PER_RUB } from '../money/money.ts';
import type { Store } from '../store/store.ts';

/** Setting in the store, so that a store once used without the sandbox never enters it again by itself. */
const MODE = 'mode';
const DEMO = 'demo-account';
const DEMO_BALANCE = 1000n * MICRO_PER_RUB;

interface SandboxTerms {
  readonly store: Store;
  readonly setting: Config['sandbox'];
  /** Whether an upstream other than the sandbox is switched on. */
  readonly hasRealUpstream: boolean;
  readonly log: Pick<Log, 'warn'>;
}

export async function decideSandbox({ store, setting, hasRealUpstream, log }: SandboxTerms): Promise<boolean> {
  const before = await store.settings.get(MODE);
  const unused = before === undefined && !(await hasAccounts(store));
  const byItself = !hasRealUpstream && (before === 'sandbox' || unused);
  const sandbox = setting === 'auto' ? byItself : setting === 'on';
  // An override never turns a store that has been in real use into a sandbox.
  const mode = sandbox && (before === 'sandbox' || unused) ? 'sandbox' : 'real';
  if (before !== mode) await store.settings.set(MODE, mode);
  if (before === 'sandbox' && !sandbox) log.warn(LEFT);
  return sandbox;
}

const LEFT =
  'this store was a sandbox: money of test payments pays for no real model, but what operators recorded there by hand does; correct it or use a new store';

/** Resolves to the key of a new demo account; undefined if the store has accounts or ever had a demo account. */
export async function makeDemoAccount(store: Store, keyPrefix: string): Promise<string | undefined> {
  if ((await store.settings.get(DEMO)) !== undefined || (await hasAccounts(store))) return undefined;
  const accounts = createAccounts({ store, keyPrefix });
  const { id } = await accounts.create('demo');
  const { key } = await accounts.issueKey(id, 'demo');
  const op = {
    kind: 'topup',
    wallet: id,
    at: Date.now(),
    amount: DEMO_BALANCE,
    paymentId: `demo-${id}`,
    isPlay: true,
  } as const;
  await store.ledger.apply([op]);
  await store.settings.set(DEMO, id);
  return key;
}

/** The id of the demo account, unless it is suspended. */
export async function findDemoAccount(store: Store): Promise<string | undefined> {
  const id = await store.settings.get(DEMO);
  const account = id === undefined ? undefined : await store.accounts.get(id);
  return account?.status === 'active' ? account.id : undefined;
}

async function hasAccounts(store: Store): Promise<boolean> {
  return (await store.accounts.page({ limit: 1 })).length > 0;
}

export interface Demo {
  /** The demo account's key, if this start created it. */
  readonly demoKey: string | undefined;
  /** The id of the demo account, while it can be used in the sandbox. */
  readonly demoAccount: string | undefined;
}

export const NO_DEMO: Demo = { demoKey: undefined, demoAccount: undefined };

interface DemoTerms {
  readonly store: Store;
  readonly log: Pick<Log, 'warn'>;
  readonly sandbox: boolean;
  readonly keyPrefix: string;
}

/** The last step of a start: if a later one failed, the account's key would never be shown. */
export async function openDemo({ store, log, sandbox, keyPrefix }: DemoTerms): Promise<Demo> {
  if (sandbox) return { demoKey: await makeDemoAccount(store, keyPrefix), demoAccount: await findDemoAccount(store) };
  const account = await findDemoAccount(store);
  if (account)
    log.warn({ account }, "the gift of the sandbox's demo account pays for no real model: its calls get 402");
  return NO_DEMO;
}
