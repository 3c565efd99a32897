// `tollgate ledger`, in both modes: pages, an audit that detects tampering, and a busy writer beside it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { until } from '../../testkit/client.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { createRig, parseObject, type Rig } from './command.ts';

const CALLS = fileURLToPath(new URL('./calls.ts', import.meta.url));

interface Page {
  readonly account_id: string;
  readonly entries: readonly { seq: number; kind: string; note: string | null; change: Record<string, number> }[];
  readonly next_before: number | null;
}

describe('cli ledger', () => {
  let rig: Rig;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'first')).account_id);
  });

  after(() => rig.close());

  const list = async (...args: string[]) => (await rig.json('ledger', 'list', account, ...args)) as unknown as Page;

  it('adds up without any entries', async () => {
    expect(await rig.json('ledger', 'verify')).to.deep.equal({ ok: true, wallets: 1, entries: 0, drift_rub: 0 });
    expect(await rig.text('ledger', 'list', account)).to.equal('No entries.\n');
    expect(await list()).to.deep.equal({ account_id: account, entries: [], next_before: null });
  });

  it('lists entries, newest first, in pages', async () => {
    await rig.json('wallet', 'topup', account, '1000', '--payment-id', 'p1');
    for (const rub of ['5', '-7', '1.5']) await rig.json('wallet', 'adjust', account, rub, '--reason', `by ${rub}`);
    const all = await list();
    expect(all.next_before).to.equal(null);
    expect(all.entries.map(({ seq, kind, note }) => [seq, kind, note])).to.deep.equal([
      [4, 'adjust', 'by 1.5'],
      [3, 'adjust', 'by -7'],
      [2, 'adjust', 'by 5'],
      [1, 'topup', 'p1'],
    ]);
    expect(all.entries[1]?.change).to.deep.equal({
      balance_rub: -7,
      held_rub: 0,
      charged_rub: 0,
      topped_up_rub: 0,
      adjusted_rub: -7,
    });
    const first = await list('--limit', '3');
    expect([first.entries.length, first.next_before]).to.deep.equal([3, 2]);
    const second = await list('--limit', '3', '--before', '2');
    expect([second.entries.map(({ seq }) => seq), second.next_before]).to.deep.equal([[1], null]);
    expect((await list('--limit', '4')).next_before).to.equal(null);
    const text = await rig.text('ledger', 'list', account, '--limit', '2');
    expect(text).to.match(/^ +3 .* adjust +-7\.00 RUB +0\.00 RUB +0\.00 RUB +by -7$/m);
    expect(text).to.include(`Older entries: tollgate ledger list ${account} --before 3\n`);
    expect(await rig.refused(1, 'ledger', 'list', 'acc_none')).to.include('no account "acc_none"');
  });

  itLong('works beside a process that writes continuously', async () => {
    const busy = String((await rig.json('account', 'create', '--name', 'busy')).account_id);
    await rig.json('wallet', 'topup', busy, '1000', '--payment-id', 'busy');
    const writer = spawn(process.execPath, [CALLS, rig.databaseUrl, busy], { stdio: ['ignore', 'pipe', 'inherit'] });
    let calls = 0;
    writer.stdout.setEncoding('utf8').on('data', (text: string) => {
      calls = Number(text.trim().split('\n').at(-1));
    });
    try {
      await once(writer.stdout, 'data');
      for (let round = 1; round <= 5; round += 1) {
        const before = calls;
        const booked = await rig.json('wallet', 'topup', account, '10', '--payment-id', `beside-${round}`);
        expect(booked).to.include({ balance_rub: 999.5 + 10 * round, repeated: false });
        expect(await rig.json('ledger', 'verify')).to.include({ ok: true, wallets: 2, drift_rub: 0 });
        // The commands have this process to themselves while they run.
        await until(() => calls > before);
      }
      expect(writer.exitCode).to.equal(null);
    } finally {
      writer.kill('SIGKILL');
      await once(writer, 'close');
    }
    expect(await rig.json('ledger', 'verify')).to.include({ ok: true });
    expect(await rig.text('ledger', 'verify')).to.match(/^ledger +adds up$/m);
  });

  it('detects a falsified balance and exits with 1', async () => {
    const db = new DatabaseSync(rig.databaseUrl.slice('sqlite:'.length), { timeout: 5_000 });
    db.prepare('UPDATE wallets SET avail = avail + 2500000, adjusted = adjusted + 2500000 WHERE id = ?').run(account);
    db.close();
    const { code, stdout, stderr } = await rig.run('ledger', 'verify', '--json');
    expect([code, stderr]).to.deep.equal([1, '']);
    const json = parseObject(stdout);
    expect(Object.keys(json)).to.deep.equal(['ok', 'wallets', 'entries', 'drift_rub', 'problems', 'store']);
    expect(json).to.include({ ok: false, wallets: longer(1, 2), drift_rub: 5 });
    const problems = json.problems as { wallet: string }[];
    expect(problems.length).to.be.above(0);
    for (const { wallet } of problems) expect(wallet).to.equal(account);
    const text = await rig.run('ledger', 'verify');
    expect(text.code).to.equal(1);
    expect(text.stdout).to.match(/^ledger +DOES NOT ADD UP$/m);
    expect(text.stdout).to.match(/^drift +5\.00 RUB$/m);
    expect(text.stdout).to.include(`\n${account}: avail`);
  });
});
