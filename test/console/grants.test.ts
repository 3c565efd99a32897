// Grants and promo codes on pages: an operator gives, makes and ends them; an owner sees them and types codes in.
import { expect } from 'chai';
import { createPromo } from '../../lib/accounts/promos.ts';
import { hiddenFields, unescapeHtml, type Visitor } from '../../testkit/pages.ts';
import { applied, grant, problemsOf, RUB } from '../contract/store/context.ts';
import { openPages, type Pages } from './stage.ts';

const WALLET = '/account/wallet';

describe('the pages of grants', () => {
  let pages: Pages;
  let operator: Visitor;

  before(async () => {
    pages = await openPages();
    operator = await pages.operator();
  });
  after(() => pages.close());

  const walletOf = (account: string) => pages.faults.read(account);
  const lastDeed = async () => (await pages.faults.real.auditLog.page({ limit: 1 }))[0];
  const plain = (text: string) =>
    text
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .replaceAll('\u00a0', ' ');

  it('show an operator and an owner what was given, what is left and when it ends, and take it back', async () => {
    const owner = await pages.owner();
    const path = `/admin/accounts/${owner.account}`;
    const wish = { change: 'grant', amount: '300', reason: 'a trial', last: '2099-01-31' };
    const twice = { ...wish, grant: 'grant_0123456789abcdef01234567' };
    for (const _ of [1, 2]) expect((await operator.submit(path, twice)).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'grant.give', account: owner.account });
    expect((await walletOf(owner.account)).granted).to.equal(300n * RUB);
    for (const wrong of [{ amount: '0' }, { reason: '' }, { last: '2020-01-31' }, { last: 'soon' }]) {
      expect((await operator.submit(path, { ...wish, ...wrong })).status).to.equal(400);
    }
    const reused = await operator.submit(path, { ...twice, amount: '301' });
    expect([reused.status, reused.text.includes('has already given another bonus')]).to.deep.equal([400, true]);

    const seen = plain((await owner.get(WALLET)).text);
    expect(seen).to.contain('Including bonuses ₽300.00').and.to.contain('bonus: a trial');
    // The end of the last day in Moscow.
    expect(seen).to.match(
      /a trial .{5,40} (?:Jan|Feb) .{0,20}2099.* ₽300\.00 ₽300\.00 Calls spend bonuses before the money you paid in/,
    );
    const ru = plain((await owner.get(`${WALLET}?lang=ru`)).text);
    expect(ru).to.contain('Включая бонусы').and.to.contain('бонус: a trial').and.to.contain('Действует до');
    await owner.get(`${WALLET}?lang=en`);

    const take = { change: 'grant_revoke', grant: twice.grant, reason: 'by mistake' };
    expect((await operator.submit(path, { ...take, grant: 'none' })).status).to.equal(400);
    expect((await operator.submit(path, take)).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'grant.revoke', account: owner.account });
    expect((await walletOf(owner.account)).granted).to.equal(undefined);
    expect(plain((await owner.get(WALLET)).text)).to.contain('bonus ended, the remainder taken back');
    expect(await problemsOf(pages.faults.real, owner.account)).to.deep.equal([]);
  });

  it('change what an account gets each month, and tell its owner', async () => {
    const owner = await pages.owner();
    const path = `/admin/accounts/${owner.account}`;
    const wish = { change: 'grant_monthly', amount: '12,50', reason: 'for staff' };
    for (const wrong of [{ amount: '0' }, { reason: '' }]) {
      expect((await operator.submit(path, { ...wish, ...wrong })).status).to.equal(400);
    }
    expect((await operator.submit(path, wish)).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'grant.monthly', account: owner.account });
    expect((await walletOf(owner.account)).granted).to.equal(12_500_000n);
    expect(plain((await operator.get(path)).text)).to.contain('₽12.50 a month: for staff');
    expect((await operator.get(`${path}?lang=ru`)).text).to.contain('value="12,50"');
    expect((await operator.get(`${path}?lang=en`)).text).to.contain('value="12.50"');
    expect(plain((await owner.get(WALLET)).text)).to.contain('Every month you get ₽12.50 (for staff).');
    expect((await operator.submit(path, { ...wish, amount: '' })).status).to.equal(303);
    expect(plain((await owner.get(WALLET)).text)).not.to.contain('Every month');
  });

  it('change only what was changed in the form of the monthly bonus, which others may have opened before', async () => {
    const owner = await pages.owner();
    const path = `/admin/accounts/${owner.account}`;
    await operator.submit(path, { change: 'grant_monthly', amount: '12', reason: 'for staff' });
    const shown = JSON.stringify({ amount: '12.00', reason: 'for staff' });
    expect(unescapeHtml((await operator.get(path)).text)).to.contain(`name="shown" value="${shown}"`);
    const mine = { change: 'grant_monthly', amount: '12.00', reason: 'for staff', shown };
    expect((await operator.submit(path, { ...mine, amount: '50' })).status).to.equal(303);
    expect((await operator.submit(path, { ...mine, reason: 'for students' })).status).to.equal(303);
    const account = await pages.faults.real.accounts.get(owner.account);
    expect(account?.allowance).to.deep.equal({ amount: 50n * RUB, reason: 'for students' });
  });

  it('say that a bonus waits for the first payment, unless it opens the wallet', async () => {
    const owner = await pages.owner();
    const account = await pages.faults.wallet(0n);
    const user = (await pages.faults.real.users.find(owner.email))?.id ?? '';
    await pages.faults.real.users.join({ user, account, role: 'owner' });
    await applied(pages.faults.real, grant(account, 50n * RUB));
    const path = `${WALLET}?account=${account}`;
    expect(plain((await owner.get(path)).text)).to.contain('Bonus ₽50.00 can be spent after the first payment');
    await applied(pages.faults.real, grant(account, 5n * RUB, { opens: true }));
    expect(plain((await owner.get(path)).text)).to.contain('Available ₽55.00 Including bonuses ₽55.00');
  });

  it('make promo codes, list them and end them', async () => {
    const path = '/admin/promo';
    const wish = {
      change: 'create',
      promo: 'spring',
      amount: '300',
      uses: '2',
      reason: 'a trial',
      last: '',
      days: '30',
    };
    expect((await operator.submit(path, wish)).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'promo.create', target: 'SPRING' });
    const problems = [{ promo: 'a b' }, { promo: 'other', amount: 'x' }, { promo: 'other', uses: '0' }];
    const more = [
      { promo: 'other', days: '1.5' },
      { promo: 'other', last: '2020-01-01' },
      { promo: 'other', reason: '' },
      {},
    ];
    for (const wrong of [...problems, ...more]) {
      expect((await operator.submit(path, { ...wish, ...wrong })).status, JSON.stringify(wrong)).to.equal(400);
    }
    const form = (await operator.get(path)).text;
    for (const name of ['promo', 'days'])
      expect(form).to.not.match(new RegExp(`<input(?=[^>]*name="${name}")[^>]*required`));
    expect((await operator.submit(path, { ...wish, promo: '', days: '' })).status).to.equal(303);
    // Sent twice, a form without a code makes one.
    const twice = { ...hiddenFields((await operator.get(path)).text, path), ...wish, promo: '', reason: 'twice' };
    for (const status of [303, 400]) expect((await operator.post(path, twice)).status).to.equal(status);
    const made = await pages.faults.real.promos.page({ after: '', limit: 10 });
    expect(made.filter(({ reason }) => reason === 'twice')).to.have.length(1);
    const refused = await operator.submit(path, { ...wish, promo: 'other', amount: '12x', opens: 'on' });
    for (const typed of ['other', '12x', wish.reason]) expect(refused.text).to.contain(`value="${typed}"`);
    expect(refused.text).to.match(/name="opens"[^>]* checked/);
    const text = plain((await operator.get(path)).text);
    expect(text).to.match(/SPRING active a trial no limit days: 30 ₽300\.00 0 of 2/);
    expect(text).to.match(/[A-Z2-9]{4}-[A-Z2-9]{4}-[A-Z2-9]{4} active a trial no limit never expires/);
    expect(plain((await operator.get(`${path}?lang=ru`)).text)).to.contain('SPRING действует');
    await operator.get(`${path}?lang=en`);
    expect((await operator.submit(path, { change: 'end', promo: 'SPRING' })).status).to.equal(303);
    expect(await lastDeed()).to.include({ action: 'promo.end', target: 'SPRING' });
    expect(plain((await operator.get(path)).text)).to.contain('SPRING ended');
    expect((await operator.submit(path, { change: 'end', promo: 'NONE' })).status).to.equal(404);
    expect((await (await pages.owner()).get(path)).status).to.equal(404);
  });

  it('take a promo code once, and let guesses wait', async () => {
    const owner = await pages.owner();
    const terms = { amount: 70n * RUB, uses: 9, until: null, days: 30, opens: false, reason: 'autumn' };
    const { promos } = pages.faults.real;
    await promos.add(createPromo({ code: 'AUTUMN', ...terms, createdAt: 0 }));
    await promos.add(createPromo({ code: 'LAST-YEAR', ...terms, until: 1, createdAt: 0 }));
    const use = (code: string) => owner.submit(WALLET, { change: 'promo', code });
    expect((await owner.get(WALLET)).text).to.contain('id="promo-code"');
    const taken = await use(' autumn ');
    expect(taken).to.include({ status: 303 });
    expect(plain((await owner.get(String(taken.headers.location))).text)).to.contain('The bonus is in the wallet.');
    expect(await lastDeed()).to.include({ action: 'promo.use', target: 'AUTUMN', account: owner.account });
    expect((await walletOf(owner.account)).granted).to.equal(70n * RUB);
    expect(plain((await use('AUTUMN')).text)).to.contain('You have already used this code.');
    expect(plain((await use('last-year')).text)).to.contain('This code has expired.');
    for (const code of ['x', 'WRONG-1', 'WRONG-2', 'WRONG-3', 'WRONG-4']) {
      expect(plain((await use(code)).text), code).to.contain('There is no such code.');
    }
    expect((await use('WRONG-5')).status).to.equal(429);
    // A right code has to wait, too.
    expect((await use('AUTUMN')).status).to.equal(429);
  });
});
