// `tollgate cost`: the report by each group, and the comparison with a bill.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { newAttempt } from '../contract/store/context.ts';
import { apply, reserveOf, settleOf } from './calls.ts';
import { createRig, type Rig } from './command.ts';

const DAY = '2026-11-26';
const AT = Date.parse(`${DAY}T12:00:00Z`);

describe('cli cost', () => {
  let rig: Rig;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'Anna')).account_id);
    await rig.json('wallet', 'topup', account, '1000', '--payment-id', 'p1');
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    const failed = newAttempt({ at: AT, upstream: 'slow', ending: 'timeout', certainty: 'possible', firstMs: null });
    const book = { ...settleOf(account, 'req_1', 2_000_000n), attempts: [failed, newAttempt({ at: AT })] };
    await apply(store, reserveOf(account, 'req_1'), book);
    const later = {
      ...settleOf(account, 'req_2', 1_000_000n),
      attempts: [newAttempt({ at: AT + 86_400_000, cost: null })],
    };
    await apply(store, reserveOf(account, 'req_2'), later);
    await store.close();
  });
  after(() => rig.close());

  it('reports what calls brought in and cost, by day', async () => {
    expect(await rig.text('cost', 'report')).to.equal(
      [
        'day          calls   attempts   charged   reported   estimated   possible     margin',
        '2026-11-26       1          2  2.00 RUB  0.004 RUB    0.00 RUB  0.004 RUB  1.996 RUB',
        '2026-11-27       1          1  1.00 RUB   0.00 RUB    0.00 RUB   0.00 RUB   1.00 RUB',
        'total            2          3  3.00 RUB  0.004 RUB    0.00 RUB  0.004 RUB  2.996 RUB',
        'Unknown: what 1 attempt cost, at routes without a cost, or lost with a gateway.',
        '',
      ].join('\n'),
    );
    expect(await rig.text('cost', 'report', '--from', '2996-01-01')).to.equal('No attempts.\n');
  });

  it('reports the same sums by model, upstream and account', async () => {
    const { rows, total } = await rig.json('cost', 'report', '--by', 'upstream');
    expect(rows).to.have.length(2);
    expect((rows as object[])[0]).to.deep.equal({
      upstream: 'vendor',
      calls: 2,
      attempts: 2,
      charged_rub: 3,
      cost_reported_rub: 0.004,
      cost_estimated_rub: 0,
      cost_possible_rub: 0,
      margin_rub: 2.996,
      attempts_without_cost: 1,
    });
    for (const by of ['day', 'model', 'account'])
      expect((await rig.json('cost', 'report', '--by', by)).total).to.deep.equal(total);
  });

  it('prints the rows for spreadsheets', async () => {
    const { stdout, stderr } = await rig.run('cost', 'report', '--csv');
    expect(stdout).to.equal(
      [
        'day,calls,attempts,charged_rub,reported_rub,estimated_rub,possible_rub,margin_rub,attempts_without_cost',
        '2026-11-26,1,2,2.00,0.004,0.00,0.004,1.996,0',
        '2026-11-27,1,1,1.00,0.00,0.00,0.00,1.00,1',
        '',
      ].join('\n'),
    );
    expect(stderr).to.match(/^Store: /);
  });

  it('refuses an empty span', async () => {
    const { code } = await rig.run('cost', 'report', '--from', '2026-02-01', '--to', '2026-01-01');
    expect(code).to.equal(2);
  });

  it('compares a bill, and lists the calls behind a difference', async () => {
    const file = join(rig.folder, 'bill.csv');
    writeFileSync(file, `day,model,cost\n${DAY},vendor-model,0.00006\n`);
    expect(await rig.text('cost', 'compare', file, '--calls')).to.equal(
      [
        'day         model          prompt   output   billed USD   booked   possible   difference',
        '2026-11-26  vendor-model   - / 10   - / 20      0.00006  0.00005    0.00005      0.00001',
        'Tokens: billed / booked.',
        '',
        '1 of 1 days and models differ.',
        '',
        'day         model         upstream id  request  ending   certainty   booked USD   billed',
        '2026-11-26  vendor-model  chatcmpl-1   req_1    timeout  possible       0.00005        -',
        '',
      ].join('\n'),
    );
    const json = await rig.json('cost', 'compare', file, '--upstream', 'vendor');
    expect((json.rows as object[])[0]).to.deep.include({ day: DAY, difference: 0.00001 });
    expect(json).not.to.have.property('calls');
  });

  it('says what is wrong with a file', async () => {
    const missing = await rig.run('cost', 'compare', join(rig.folder, 'none.csv'));
    expect([missing.code, missing.stderr]).to.deep.equal([
      1,
      `tollgate: The file ${join(rig.folder, 'none.csv')} cannot be read: ENOENT.\n`,
    ]);
  });

  it('shows the attempts of a call', async () => {
    const text = await rig.text('charge', 'show', 'req_1');
    expect(text).to.match(/1 +slow +vendor-model +1 +chatcmpl-1 +timeout +- +900 +possible 0\.00005 USD +0\.004 RUB/);
    const { attempts } = await rig.json('charge', 'show', 'req_1');
    expect((attempts as object[])[1]).to.deep.include({
      number: 2,
      upstream: 'vendor',
      upstream_request_id: 'chatcmpl-1',
      first_ms: 120,
      cost_rub: 0.004,
      cost: { currency: 'USD', amount: 0.00005, rate_rub: 80 },
    });
  });
});
