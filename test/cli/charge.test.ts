// `tollgate charge`, in both modes, on calls in all states.
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
    const other = String((await rig.json('account', 'create', '--name', 'images')).account_id);
    await rig.json('wallet', 'topup', other, '1000', '--payment-id', 'p2');
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    await apply(store, reserveOf(account, 'req_settled'), settleOf(account, 'req_settled', 2_500_000n));
    await apply(store, reserveOf(account, 'req_held'));
    await apply(store, reserveOf(account, 'req_released'));
    await apply(store, { kind: 'release', wallet: account, chargeId: 'req_released', at: Date.now() });
    await apply(store, {
      ...reserveOf(other, 'req_image'),
      chargeKind: 'edit',
      prices: '{"request":"2000000"}',
    });
    await apply(store, { ...settleOf(other, 'req_image', 2_000_000n), usage: '{"images":1}' });
    await apply(store, {
      ...reserveOf(account, 'vid_1'),
      kind: 'charge',
      chargeKind: 'video',
      prices: '{"second":{"720p":"8000000","1080p":"15000000"}}',
    });
    await store.close();
  });

  after(() => rig.close());

  it('lists the calls of an account, newest first, in pages', async () => {
    const idsOf = (json: Record<string, unknown>) =>
      (json.charges as { request_id: string }[]).map((c) => c.request_id);
    const all = await rig.json('charge', 'list', account);
    expect(idsOf(all)).to.deep.equal(['vid_1', 'req_released', 'req_held', 'req_settled']);
    expect(all.next).to.equal(null);
    const { entries, attempts, ...shown } = await rig.json('charge', 'show', 'req_settled');
    expect([(entries as object[]).length, attempts]).to.deep.equal([2, []]);
    expect((all.charges as object[])[3]).to.deep.equal(shown);
    const first = await rig.json('charge', 'list', 'calls', '--limit', '3');
    expect([idsOf(first), first.next]).to.deep.equal([['vid_1', 'req_released', 'req_held'], 'req_held']);
    const rest = await rig.json('charge', 'list', 'calls', '--limit', '3', '--before', 'req_held');
    expect([idsOf(rest), rest.next]).to.deep.equal([['req_settled'], null]);
    const text = await rig.text('charge', 'list', account, '--limit', '1');
    expect(text).to.match(/^request .* charged *\nvid_1 .* video +model-1 +settled +2\.00\D*2\.00\D*\n/);
    expect(text).to.include('Older calls: repeat with --before vid_1');
  });

  it('shows the price list of a call, its list price and the difference', async () => {
    const id = String((await rig.json('account', 'create', '--name', 'partner')).account_id);
    await rig.json('wallet', 'topup', id, '1000', '--payment-id', 'p_partner');
    const list = { name: 'partner', version: 'abcd0123', prices: { request: '2500000' } };
    const prices = JSON.stringify({ request: '2000000', list });
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    await apply(store, { ...reserveOf(id, 'req_partner'), chargeKind: 'image', prices });
    await apply(store, { ...settleOf(id, 'req_partner', 2_000_000n), usage: '{"images":1}' });
    await store.close();
    expect(await rig.json('charge', 'show', 'req_partner')).to.deep.include({
      prices_rub: { request: 2 },
      price_list: { name: 'partner', version: 'abcd0123' },
      list_price: { rub: 2.5, difference_percent: -20 },
    });
    const text = await rig.text('charge', 'show', 'req_partner');
    expect(text).to.match(/^price list +partner \(version abcd0123\)$/m);
    expect(text).to.match(/^list price +2\.50 RUB, charged 2\.00 RUB, -20 %$/m);
  });

  it('shows a video by its own id and by its request id: its terms, its progress and its money', async () => {
    const requestId = `req_${'ab'.repeat(16)}`;
    const id = `vid_${'ab'.repeat(16)}`;
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    const maker = String((await rig.json('account', 'create', '--name', 'films')).account_id);
    await rig.json('wallet', 'topup', maker, '1000', '--payment-id', 'p3');
    const at = Date.now();
    const of = { id, wallet: maker, charge: requestId, model: 'film-1', upstream: 'films', owner: 'own_1' };
    const facts = JSON.stringify({ seconds: 5, size: '1280x720', aspect: '16:9', resolution: '720p' });
    const job = { ...of, facts, createdAt: at, lease: at + 1000, deadline: at + 7_200_000 };
    const prices = '{"second":{"720p":"8000000"}}';
    const op = {
      ...reserveOf(maker, requestId),
      kind: 'charge',
      chargeKind: 'video',
      model: 'film-1',
      prices,
    } as const;
    await apply(store, { ...op, amount: 40_000_000n, job: { kind: 'create', job } });
    const deadline = new Date(job.deadline).toISOString();
    const wanted = { id, upstream: 'films', phase: 'starting', progress: 0, seconds: 5, size: '1280x720', deadline };
    for (const named of [id, requestId, `chatcmpl_${requestId}`]) {
      const shown = await rig.json('charge', 'show', named);
      expect(shown).to.include({ request_id: requestId, kind: 'video', charged_rub: 40 });
      expect(shown.video).to.include({ ...wanted, resolution: '720p', error: null });
    }
    expect(await rig.text('charge', 'show', id)).to.match(/^video error +-$/m);
    const refund = { kind: 'refund', wallet: maker, chargeId: requestId, at } as const;
    await apply(store, { ...refund, job: { kind: 'fail', id, version: 1, at, error: 'It failed.' } });
    await store.close();
    const text = await rig.text('charge', 'show', id);
    expect(text)
      .to.match(/^video phase +failed$/m)
      .and.to.match(/^video error +It failed\.$/m);
    expect(text).to.match(/^state +refunded$/m);
  });

  it('shows the cost of an image', async () => {
    const shown = await rig.json('charge', 'show', 'req_image');
    expect(shown).to.include({ kind: 'edit', charged_rub: 2, images: 1 });
    expect(shown.prices_rub).to.deep.equal({ request: 2 });
    const text = await rig.text('charge', 'show', 'req_image');
    expect(text)
      .to.match(/^kind +edit$/m)
      .and.to.match(/^price request +2\.00/m)
      .and.to.match(/^images +1$/m);
  });

  it('filters the list', async () => {
    const listed = async (...filter: string[]) => {
      const { charges } = await rig.json('charge', 'list', account, ...filter);
      return (charges as { request_id: string }[]).map((c) => c.request_id);
    };
    expect(await listed('--kind', 'video')).to.deep.equal(['vid_1']);
    expect(await listed('--state', 'held', '--key', 'key_test', '--model', 'model-1')).to.deep.equal(['req_held']);
    expect(await listed('--key', 'key_other')).to.deep.equal([]);
    expect(await listed('--model', 'model-2')).to.deep.equal([]);
    expect(await listed('--from', '2020-01-01')).to.have.length(4);
    expect(await listed('--to', '2020-01-01T03:00:00+03:00')).to.deep.equal([]);
    expect(await rig.text('charge', 'list', account, '--from', '2999-01-01')).to.equal('No calls.\n');
  });

  it('reports invalid filters', async () => {
    const refusedWith = async (code: 1 | 2, ...args: string[]) => rig.refused(code, 'charge', 'list', ...args);
    expect(await refusedWith(1, 'nobody')).to.include('There is no account "nobody".');
    expect(await refusedWith(1, account, '--before', 'req_none')).to.include('There is no charge "req_none"');
    expect(await refusedWith(1, account, '--before', 'req_image'), 'of another account').to.include('no charge');
    expect(await refusedWith(2, account, '--from', '2026-02-02', '--to', '2026-02-01')).to.include('must be later');
    expect(await refusedWith(2, account, '--from', '2026-02-30')).to.include('Give a day such as');
    expect(await refusedWith(2, account, '--to', '2026-02-03T10:00')).to.include('Give a day such as');
    expect(await refusedWith(2, account, '--kind', 'sound')).to.include('text, embedding, image, edit, video');
    for (let twin = 0; twin < 2; twin += 1) await rig.json('account', 'create', '--name', 'twins');
    expect(await refusedWith(1, 'twins')).to.match(/Several accounts are called "twins": .*\(acc_\w+, acc_\w+\)/);
  });

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
    expect(text).to.match(/^ended +2\d{3}-/m);
    expect(text).to.match(/^price output +240\.00 RUB$/m);
    expect(text).to.match(/ settle +-0\.50 RUB +-2\.00 RUB +2\.50 RUB$/m);
  });

  it('shows a line for each kind of token, the price band, and what caching saved', async () => {
    const maker = String((await rig.json('account', 'create', '--name', 'caches')).account_id);
    await rig.json('wallet', 'topup', maker, '1000', '--payment-id', 'p4');
    const prices = JSON.stringify({
      ...{ input: '40000000', cacheRead: '4000000', output: '240000000' },
      bands: [{ above: 1000, input: '80000000', cacheRead: '8000000', cacheWrite: '100000000', output: '300000000' }],
    });
    const usage = JSON.stringify({
      ...{ tokens_input: 1000, tokens_cache_read: 50_000, tokens_cache_write: 2000, tokens_cache_write_1h: 500 },
      ...{ tokens_output: 3000, tokens_reasoning: 700 },
    });
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    await apply(store, { ...reserveOf(maker, 'req_cached'), prices });
    await apply(store, { ...settleOf(maker, 'req_cached', 1_620_000n), usage });
    await store.close();
    const json = await rig.json('charge', 'show', 'req_cached');
    expect(json).to.include({ tokens_input: 1000, tokens_cache_read: 50_000, tokens_cache_write_1h: 500 });
    expect(json.prices_rub).to.deep.include({ 'above_1000.input': 80, 'above_1000.cacheWrite': 100, cacheRead: 4 });
    expect(json.receipt).to.deep.equal({
      band_above: 1000,
      lines: [
        { tokens: 'tokens_input', count: 1000, rub_per_mtok: 80, rub: 0.08 },
        { tokens: 'tokens_cache_read', count: 50_000, rub_per_mtok: 8, rub: 0.4 },
        { tokens: 'tokens_cache_write', count: 2000, rub_per_mtok: 100, rub: 0.2 },
        { tokens: 'tokens_cache_write_1h', count: 500, rub_per_mtok: 80, rub: 0.04 },
        { tokens: 'tokens_output', count: 3000, rub_per_mtok: 300, rub: 0.9 },
      ],
      total_rub: 1.62,
      cache_saved_rub: 3.56,
    });
    const text = await rig.text('charge', 'show', 'req_cached');
    expect(text)
      .to.match(/^price band +prompts longer than 1000 tokens$/m)
      .and.to.match(/^tokens reasoning +700$/m)
      .and.to.match(/^cache saved +3\.56 RUB$/m);
    expect(text.replaceAll(/ {2,}/g, '  ').match(/^cost .*$/gm)).to.deep.equal([
      'cost input  1000 × 80.00 RUB per 1M = 0.08 RUB',
      'cost cache read  50000 × 8.00 RUB per 1M = 0.40 RUB',
      'cost cache write 5 min  2000 × 100.00 RUB per 1M = 0.20 RUB',
      'cost cache write 1 h  500 × 80.00 RUB per 1M = 0.04 RUB',
      'cost output  3000 × 300.00 RUB per 1M = 0.90 RUB',
      'cost total  1.62 RUB',
    ]);
    expect(await rig.json('charge', 'show', 'req_image')).not.to.have.any.keys('receipt');
  });

  it('says what grants paid of a call, and nothing of grants without them', async () => {
    const staff = String((await rig.json('account', 'create', '--name', 'staff')).account_id);
    await rig.json('grant', 'give', staff, '1.5', '--id', 'g1', '--reason', 'a trial');
    await rig.json('wallet', 'topup', staff, '1000', '--payment-id', 'p5');
    const store = await openStore(rig.databaseUrl, { inProcess: true });
    await apply(store, reserveOf(staff, 'req_granted'), settleOf(staff, 'req_granted', 2_000_000n));
    await store.close();
    expect(await rig.json('charge', 'show', 'req_granted')).to.include({ charged_rub: 2, granted_rub: 1.5 });
    expect(await rig.text('charge', 'show', 'req_granted')).to.match(
      /^charged +2\.00 RUB\nof it by grants +1\.50 RUB$/m,
    );
    expect(await rig.json('charge', 'show', 'req_settled')).not.to.have.any.keys('granted_rub');
    expect(await rig.text('charge', 'show', 'req_settled')).not.to.include('by grants');
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
    expect(await rig.text('wallet', 'show', account)).to.match(
      /^balance +993\.50 RUB\nheld +2\.00 RUB\ncharged +4\.50 RUB\ntopped up +1000\.00 RUB\nadjusted +0\.00 RUB$/m,
    );
  });

  it('refuses an unknown request', async () => {
    expect(await rig.refused(1, 'charge', 'show', 'req_none')).to.include('There is no charge "req_none"');
  });
});
