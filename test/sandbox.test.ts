// The mode of a start, by what the operator says and what the store has been used for.
import { expect } from 'chai';
import { readConfig } from '../lib/config.ts';
import { decideSandbox, makeDemoAccount } from '../lib/sandbox.ts';
import { type FaultyStore, openFaultyStore } from '../testkit/faulty-store.ts';

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
    const config = readConfig({ ...env });
    const facts = { real, models: 0, upstreams: 0, switchedOff: [] };
    const log = { warn: (message: string) => void warnings.push(message) };
    const sandbox = await decideSandbox(store.real, config, { facts, log });
    if (sandbox) await makeDemoAccount(store.real, config);
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

  it('is no sandbox on a store that has accounts already', async () => {
    await store.wallet();
    expect(await start({})).to.equal(false);
  });
});
