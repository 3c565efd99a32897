// `tollgate charge`, in both modes, on calls that were held, settled and returned.
import { expect } from 'chai';
import { openStore } from '../../lib/store/open.ts';
import { apply, reserveOf, settleOf } from './calls.ts';
import { createRig, type Rig } from './command.ts';

describe('cli charge', () => {
  let rig: Rig;
  let account: string;

  before(async () => {
    rig = await createRig();
    account = String((await rig.json('account', 'create', '--name', 'calls')).account_id);
    await rig.json('wallet', 'topup', account, '1000', '--payment-id', 'p1');
    const store = await openStore(rig.databaseUrl);
    await apply(store, reserveOf(account, 'req_settled'), settleOf(account, 'req_settled', 2_500_000n));
    await apply(store, reserveOf(account, 'req_held'));
    await apply(store, reserveOf(account, 'req_released'));
    await apply(store, { kind: 'release', wallet: account, chargeId: 'req_released', at: Date.now() });
    await apply(store, {
      ...reserveOf(account, 'vid_1'),
      kind: 'charge',
      chargeKind: 'video',
      prices: '{"second":{"720p":"8000000","1080p":"15000000"}}',
    });
    await store.close();
  });

  after(() => rig.close());

  it('shows a settled call with its prices, tokens, overshoot and entries', async () => {
    const json = await rig.json('charge', 'show', 'req_settled');
    expect(json).to.deep.include({
      request_id: 'req_settled',
      account_id: account,
      key_id: 'key_test',
      kind: 'text',
      model: 'model-1',
      state: 'settled',
      reserved_rub: 2,
      charged_rub: 2.5,
      prices_rub: { input: 40, output: 240 },
      tokens_input: 1000,
      tokens_output: 5000,
    });
    const entries = json.entries as Record<string, unknown>[];
    expect(entries.map(({ seq, kind, change, overshoot_rub }) => ({ seq, kind, change, overshoot_rub }))).to.deep.equal(
      [
        {
          seq: 2,
          kind: 'reserve',
          change: { balance_rub: -2, held_rub: 2, charged_rub: 0, topped_up_rub: 0, adjusted_rub: 0 },
          overshoot_rub: 0,
        },
        {
          seq: 3,
          kind: 'settle',
          change: { balance_rub: -0.5, held_rub: -2, charged_rub: 2.5, topped_up_rub: 0, adjusted_rub: 0 },
          overshoot_rub: 0.5,
        },
      ],
    );
    const text = await rig.text('charge', 'show', 'req_settled');
    expect(text).to.match(/^state +settled$/m);
    expect(text).to.match(/^price output +240\.00 RUB$/m);
    expect(text).to.match(/ settle +-0\.50 RUB +-2\.00 RUB +2\.50 RUB$/m);
  });

  it('shows the other states', async () => {
    const held = await rig.json('charge', 'show', 'req_held');
    expect(held).to.include({ state: 'held', charged_rub: 0, ended_at: null });
    expect(held).not.to.have.any.keys('tokens_input', 'tokens_output');
    expect(await rig.text('charge', 'show', 'req_held')).to.match(/^ended +-$/m);
    expect(await rig.json('charge', 'show', 'req_released')).to.include({ state: 'released', charged_rub: 0 });
    const video = await rig.json('charge', 'show', 'vid_1');
    expect(video).to.deep.include({ kind: 'video', state: 'settled', charged_rub: 2 });
    expect(video.prices_rub).to.deep.equal({ 'second.720p': 8, 'second.1080p': 15 });
    expect(await rig.text('charge', 'show', 'vid_1')).to.match(/^price second\.1080p +15\.00 RUB$/m);
    expect(await rig.json('wallet', 'show', account)).to.include({ balance_rub: 993.5, held_rub: 2, charged_rub: 4.5 });
  });

  it('refuses an unknown request', async () => {
    expect(await rig.refused(1, 'charge', 'show', 'req_none')).to.include('There is no charge "req_none"');
  });
});
