// The mode of a start, by the setting and by the history of the store.
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { decideSandbox, findDemoAccount, makeDemoAccount } from '../../lib/start/sandbox.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';

interface Start {
  readonly SANDBOX?: 'on' | 'off';
  /** Whether an upstream that costs money is switched on. */
  readonly real?: boolean;
}

const REAL: Start = { real: true };

describe('the mode of a start', () => {
  let store: FaultyStore;
  let warnings: string[];
  beforeEach(async () => {
    warnings = [];
    store = await openFaultyStore();
  });
  afterEach(() => store.close());

  async function start({ real = false, ...env }: Start): Promise<boolean> {
    const { sandbox: setting, keyPrefix } = readConfig({ ...env });
    const log = { warn: (message: string) => void warnings.push(message) };
    const sandbox = await decideSandbox({ store: store.real, setting, hasRealUpstream: real, log });
    if (sandbox) await makeDemoAccount(store.real, keyPrefix);
    return sandbox;
  }

  const histories: Readonly<Record<string, readonly (readonly [Start, sandbox: boolean, warned?: 'warned'])[]>> = {
    'real from the first start': [
      [REAL, false],
      [{}, false],
    ],
    'a sandbox until an upstream is switched on': [
      [{}, true],
      [{}, true],
      [REAL, false, 'warned'],
      [{}, false],
    ],
    'off by choice on an empty store': [
      [{ SANDBOX: 'off' }, false],
      [{}, false],
    ],
    'on by choice on an empty store': [
      [{ SANDBOX: 'on' }, true],
      [{}, true],
    ],
    'on by choice on a store in real use': [
      [REAL, false],
      [{ SANDBOX: 'on' }, true],
      [{}, false],
    ],
    'on by choice beside a real upstream': [
      [{ ...REAL, SANDBOX: 'on' }, true],
      [REAL, false, 'warned'],
      [{}, false],
    ],
    'off by choice after the sandbox': [
      [{}, true],
      [{ SANDBOX: 'off' }, false, 'warned'],
      [{}, false],
    ],
  };
  for (const [name, starts] of Object.entries(histories)) {
    it(`is remembered: ${name}`, async () => {
      for (const [at, [asked, sandbox, warned]] of starts.entries()) {
        warnings.length = 0;
        expect(await start(asked), `start ${at}`).to.equal(sandbox);
        expect(warnings.length, `start ${at}`).to.equal(warned ? 1 : 0);
      }
    });
  }

  it('is not the sandbox on a store with accounts', async () => {
    await store.wallet();
    expect(await start({})).to.equal(false);
  });
});

describe('the demo account', () => {
  const RUB = 1_000_000n;
  const keyPrefix = 'tg-';
  let store: FaultyStore;
  beforeEach(async () => {
    store = await openFaultyStore();
  });
  afterEach(() => store.close());

  it('is created once, with a key and 1000 RUB, and found unless it is suspended', async () => {
    const key = await makeDemoAccount(store.real, keyPrefix);
    expect(key).to.match(/^tg-sk-\w{49}$/);
    const [account] = await store.real.accounts.list();
    const id = account?.id ?? '';
    expect(await store.real.ledger.wallet(id)).to.include({ avail: 1000n * RUB, topped: 1000n * RUB });
    expect(await findDemoAccount(store.real)).to.equal(id);
    expect(await makeDemoAccount(store.real, keyPrefix)).to.equal(undefined);
    expect(await store.real.accounts.list()).to.have.length(1);
    await store.real.accounts.setStatus(id, 'suspended');
    expect(await findDemoAccount(store.real)).to.equal(undefined);
  });

  it('is not created on a store that has accounts or had a demo account', async () => {
    await store.wallet();
    expect(await makeDemoAccount(store.real, keyPrefix)).to.equal(undefined);
    expect(await findDemoAccount(store.real)).to.equal(undefined);
    const fresh = await openFaultyStore();
    try {
      await fresh.real.settings.set('demo-account', 'acc_of_before');
      expect(await makeDemoAccount(fresh.real, keyPrefix)).to.equal(undefined);
      expect(await findDemoAccount(fresh.real)).to.equal(undefined);
    } finally {
      await fresh.close();
    }
  });
});
