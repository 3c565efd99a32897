// What the doctor says of a store: how fast it answers, who uses it, and what the last audit found.
import { expect } from 'chai';
import { readConfig } from '../../../lib/config.ts';
import { checkStore } from '../../../lib/manage/doctor/store.ts';
import type { Store } from '../../../lib/store/store.ts';

const HOUR_MS = 3_600_000;

describe('the doctor’s look at a store', () => {
  interface Facts {
    readonly gateways?: number;
    readonly operators?: number;
    readonly audit?: { readonly at: number; readonly problems: number };
    readonly pingMs?: number;
  }

  async function look({ gateways = 1, operators = 2, audit, pingMs = 0 }: Facts) {
    const store = {
      ping: () => new Promise((resolve) => setTimeout(resolve, pingMs)),
      gateways: async () => Array(gateways).fill('a gateway'),
      settings: { get: async () => audit && JSON.stringify({ drift: '0', ...audit }) },
      users: { operators: async () => operators },
    } as unknown as Store;
    const findings = await checkStore(store, readConfig({ DATABASE_URL: 'sqlite:/srv/a.db' }));
    for (const { state, advice } of findings) expect(advice === undefined).to.equal(state === 'ok');
    return Object.fromEntries(findings.map(({ name, state, detail }) => [name, `${state}: ${detail}`]));
  }

  it('warns of a store that answers slowly', async () => {
    const { store } = await look({});
    expect(store).to.match(/^ok: .*\/srv\/a\.db.* answers in \d{1,3} ms$/);
    expect((await look({ pingMs: 220 })).store).to.match(/^warning: .* answers in \d{3,4} ms$/);
  });

  it('counts the gateways and the operators', async () => {
    const said = async (count: number) => {
      const { gateways, operators } = await look({ gateways: count, operators: count });
      return [gateways, operators];
    };
    expect(await said(0)).to.deep.equal(['warning: none runs on this store', 'warning: none']);
    expect(await said(1)).to.deep.equal(['ok: 1 process runs on this store', 'warning: only one']);
    expect(await said(2)).to.deep.equal(['ok: 2 processes run on this store', 'ok: 2']);
  });

  it('says what the last audit found, and whether it is too old for a gateway that runs', async () => {
    const ledger = async (facts: Facts) => (await look(facts)).ledger;
    expect(await ledger({})).to.equal('ok: not audited yet; a gateway does it every hour');
    const at = Date.now() - 25 * HOUR_MS;
    const old = Date.now() - 27 * HOUR_MS;
    const time = (ms: number) => new Date(ms).toISOString();
    expect(await ledger({ audit: { at, problems: 0 } })).to.equal(`ok: added up at ${time(at)}`);
    expect(await ledger({ audit: { at, problems: 1 } })).to.equal(`failed: problems: 1, found at ${time(at)}`);
    const audit = { at: old, problems: 0 };
    expect(await ledger({ audit })).to.equal(`warning: last audited at ${time(old)}`);
    expect(await ledger({ audit, gateways: 0 })).to.equal(`ok: added up at ${time(old)}`);
  });
});
