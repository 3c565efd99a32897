// `tollgate promo`: makes codes once, lists them and ends them, and says so in the audit log.
import { expect } from 'chai';
import { readConfig } from '../../lib/config.ts';
import { openOwnStore } from '../../lib/store/open.ts';
import { newPromo } from '../contract/store/promos.ts';
import { createRig, type Rig } from './command.ts';

describe('cli promo', () => {
  let rig: Rig;

  before(async () => {
    rig = await createRig();
    await rig.json('account', 'create', '--name', 'first');
  });
  after(() => rig.close());

  const create = (...more: string[]) =>
    ['promo', 'create', '300', '--uses', '100', '--reason', 'a trial', ...more] as const;

  it('makes, lists and ends codes', async () => {
    expect(await rig.text('promo', 'list')).to.contain('No promo codes.');
    const made = await rig.json(...create('--code', 'spring', '--days', '30', '--until', '2099-01-31'));
    const terms = { code: 'SPRING', amount_rub: 300, uses: 100, used: 0, days: 30, opens_wallet: false };
    expect(made).to.include({ ...terms, until: '2099-01-31T00:00:00.000Z', reason: 'a trial', ended_at: null });
    expect(await rig.refused(1, ...create('--code', 'SPRING'))).to.contain('The code SPRING already exists');
    expect(await rig.refused(2, ...create('--code', 'a b'))).to.contain('letters, digits and hyphens');
    expect(await rig.refused(2, ...create('--until', '2020-01-31'))).to.contain('has passed');
    const random = await rig.json(...create('--opens-wallet'));
    expect(random.code).to.match(/^([A-Z2-9]{4}-){2}[A-Z2-9]{4}$/);
    expect(random).to.include({ opens_wallet: true, days: null, until: null });
    expect(await rig.text('promo', 'list')).to.match(/^SPRING +300\.00 RUB +0 of 100 .* 30 days +a trial$/m);
    expect(await rig.text('promo', 'list')).to.match(
      /^[A-Z2-9-]{14} +300\.00 RUB +0 of 100 +always +for good +a trial$/m,
    );
    const said = await rig.text('promo', 'end', 'spring');
    const ended = await rig.json('promo', 'end', 'spring');
    expect(said.trimEnd().split(/\n|(?<=\S) {2,}/)).to.deep.equal([
      ...['code', 'SPRING', 'gives', '300.00 RUB', 'used', '0 of 100', 'until', '2099-01-31T00:00:00.000Z'],
      ...['lasts', '30 days', 'opens wallets', 'no', 'reason', 'a trial', 'ended', String(ended.ended_at)],
    ]);
    expect(await rig.text('promo', 'list')).to.match(new RegExp(` 30 days +${ended.ended_at} +a trial$`, 'm'));
    expect(ended.ended_at).to.be.a('string');
    expect(await rig.json('promo', 'end', 'SPRING')).to.deep.equal(ended);
    expect(await rig.refused(1, 'promo', 'end', 'AUTUMN')).to.contain('There is no code AUTUMN');
    const store = await openOwnStore(readConfig({ ...rig.env }));
    const lines = (await store.auditLog.page({ limit: 10 })).filter(({ action }) => action.startsWith('promo.'));
    await store.close();
    const termsOf = (more: object) => ({ rub_micro: '300000000', uses: 100, ...more, reason: 'a trial' });
    const until = Date.parse('2099-01-31T00:00Z');
    expect(lines.map(({ action, target, detail }) => [action, target, JSON.parse(detail)])).to.deep.equal([
      ['promo.end', 'SPRING', {}],
      ['promo.create', random.code, termsOf({ until: null, days: null, opens: true })],
      ['promo.create', 'SPRING', termsOf({ until, days: 30, opens: false })],
    ]);
  });

  it('lists all codes, however many there are', async () => {
    const list = async () => (await rig.json('promo', 'list')).codes as readonly { readonly code: string }[];
    const before = await list();
    const codes = Array.from({ length: 600 }, () => newPromo());
    const store = await openOwnStore(readConfig({ ...rig.env }));
    await store.promos.put({ codes, uses: [] });
    await store.close();
    const listed = (await list()).map(({ code }) => code);
    expect(listed)
      .to.have.length(before.length + 600)
      .and.to.include.members(codes.map(({ code }) => code));
  });
});
