// `tollgate usage`, in its three modes.
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { apply, reserveOf, settleOf } from './calls.ts';
import { createRig, type Rig } from './command.ts';

const UNITS =
  'tokens_input,tokens_audio,tokens_cache_read,tokens_cache_write,tokens_cache_write_1h,tokens_output,tokens_reasoning,images,seconds';

describe('cli usage', () => {
  let rig: Rig;
  let account: string;
  let key: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'Anna')).account_id);
    await rig.json('wallet', 'topup', account, '1000', '--payment-id', 'p1');
    key = String((await rig.json('key', 'issue', account, '--name', '=cmd, "quoted"')).key_id);
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    const call = async (id: string, at: string, more: object = {}) => {
      await apply(store, { ...reserveOf(account, id), at: Date.parse(at), ...more });
      await apply(store, settleOf(account, id, 1_000_001n));
    };
    await call('req_1', '2026-01-31T23:59:59.999Z');
    await call('req_2', '2026-02-01T00:00:00Z', { key });
    await call('req_3', '2026-02-01T12:00:00Z', { model: 'model-2' });
    await apply(store, { kind: 'refund', wallet: account, chargeId: 'req_3', at: Date.now() });
    await store.close();
  });

  after(() => rig.close());

  it('adds up an account by day in UTC', async () => {
    expect(await rig.text('usage', 'Anna')).to.equal(
      [
        'day          calls       charged      refunded   tokens input   tokens output',
        '2026-01-31       1  1.000001 RUB      0.00 RUB           1000            5000',
        '2026-02-01       2  1.000001 RUB  1.000001 RUB           1000            5000',
        'total            3  2.000002 RUB  1.000001 RUB           2000           10000',
        '',
      ].join('\n'),
    );
    expect(await rig.text('usage', account, '--from', '2996-01-01')).to.equal('No calls.\n');
  });

  it('prints the same numbers as JSON, which add up to the wallet', async () => {
    const sum = { calls: 1, charged_rub: 1.000001, refunded_rub: 0, tokens_input: 1000, tokens_output: 5000 };
    const caches = { tokens_audio: 0, tokens_cache_read: 0, tokens_cache_write: 0, tokens_cache_write_1h: 0 };
    const more = { ...caches, tokens_reasoning: 0, images: 0, seconds: 0 };
    expect(await rig.json('usage', account, '--to', '2026-02-01')).to.deep.equal({
      account_id: account,
      from: null,
      to: '2026-02-01T00:00:00.000Z',
      by: 'day',
      rows: [{ day: '2026-01-31', ...sum, ...more }],
      total: { ...sum, ...more },
    });
    const whole = await rig.json('usage', account, '--by', 'key');
    const { charged_rub } = await rig.json('wallet', 'show', account);
    expect((whole.total as { charged_rub: number }).charged_rub).to.equal(charged_rub);
    const [first, second] = whole.rows as Record<string, unknown>[];
    expect([first?.key_id, first?.key_name]).to.deep.equal([key, '=cmd, "quoted"']);
    expect([second?.key_id, second?.key_name, second?.calls]).to.deep.equal(['key_test', '', 2]);
  });

  it('counts calls that no gateway has folded yet', async () => {
    const busy = String((await rig.json('account', 'create', '--name', 'busy')).account_id);
    await rig.json('wallet', 'topup', busy, '1000', '--payment-id', 'busy');
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    for (let batch = 0; batch < 10; batch += 1) {
      const ids = Array.from({ length: 25 }, (_, at) => `busy_${batch}_${at}`);
      await apply(store, ...ids.flatMap((id) => [reserveOf(busy, id), settleOf(busy, id, 1_000_000n)]));
    }
    await store.close();
    expect((await rig.json('usage', busy)).total).to.include({ calls: 250, charged_rub: 250 });
  });

  it('accepts the filters of charge list, with an exclusive end', async () => {
    const calls = async (...filter: string[]) =>
      ((await rig.json('usage', account, ...filter)).total as { calls: number }).calls;
    expect(await calls('--from', '2026-02-01')).to.equal(2);
    expect(await calls('--from', '2026-02-01T03:00:00+03:00', '--to', '2026-02-01T12:00:00Z')).to.equal(1);
    expect(await calls('--key', key)).to.equal(1);
    expect(await calls('--model', 'model-2')).to.equal(1);
    expect(await calls('--state', 'refunded')).to.equal(1);
    expect(await calls('--kind', 'video')).to.equal(0);
  });

  it('prints only CSV on stdout', async () => {
    const { code, stdout, stderr } = await rig.run('usage', 'Anna', '--by', 'key', '--csv');
    expect([code, stderr]).to.deep.equal([0, `Store: ${rig.databaseUrl}\n`]);
    expect(stdout.split('\n')).to.deep.equal([
      `key_id,key_name,calls,charged_rub,refunded_rub,${UNITS}`,
      `${key},"'=cmd, ""quoted""",1,1.000001,0.00,1000,0,0,0,0,5000,0,0,0`,
      'key_test,,2,1.000001,1.000001,1000,0,0,0,0,5000,0,0,0',
      '',
    ]);
    const { stdout: none } = await rig.run('usage', account, '--csv', '--kind', 'image');
    expect(none).to.equal(`day,calls,charged_rub,refunded_rub,${UNITS}\n`);
  });

  it('reports invalid options', async () => {
    const refusedWith = async (code: 1 | 2, ...args: string[]) => rig.refused(code, 'usage', ...args);
    expect(await refusedWith(1, 'nobody')).to.include('There is no account "nobody".');
    expect(await refusedWith(2, account, '--by', 'week')).to.include('day, model, key, kind');
    expect(await refusedWith(2, account, '--from', '2026-02-01', '--to', '2026-02-01')).to.include(
      '--to must be later',
    );
    for (let twin = 0; twin < 2; twin += 1) await rig.json('account', 'create', '--name', 'twins');
    expect(await refusedWith(1, 'twins')).to.match(/Several accounts are called "twins": .*\(acc_\w+, acc_\w+\)/);
    const { code, stdout, stderr } = await rig.run('usage', account, '--csv', '--json');
    expect([code, stdout, stderr]).to.deep.equal([2, '', 'tollgate: --csv and --json cannot be used together.\n']);
  });
});
