// The options of every select are distinct, on every page and in every language.
import { expect } from 'chai';
import { disambiguate } from '../../lib/console/components.ts';
import { LANGUAGES } from '../../lib/console/language.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { setUpTour, TOUR_ENV, type Tour } from '../../testkit/page-tour.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

/** The texts of each select of a page. */
function selectsIn(text: string): readonly (readonly [name: string, options: readonly string[]])[] {
  return [...text.matchAll(/<select [^>]*name="([^"]+)"[^>]*>(.*?)<\/select>/gs)].map(([, name = '', inner = '']) => [
    name,
    [...inner.matchAll(/<option[^>]*>([^<]*)<\/option>/g)].map(([, option = '']) => option),
  ]);
}

describe('the choices of a page', function () {
  this.timeout(60_000);
  let mail: MailServer;
  let test: TestGateway;
  let tour: Tour;

  before(async () => {
    mail = await startMailServer();
    test = await startGateway({ catalog: {}, env: { ...TOUR_ENV, SMTP_URL: mail.url } });
    tour = await setUpTour(test);
    // Two keys and two accounts with the same name.
    const { account, owner } = tour.busy;
    for (let count = 0; count < 2; count += 1) await owner.submit('/account/keys', { name: 'the same' });
    const [first] = await test.store.users.listAccountMembers(account.id);
    const { name = '' } = (await test.store.accounts.get(account.id)) ?? {};
    await test.store.accounts.create({ id: 'acc_twin', name, createdAt: 1 });
    await test.store.users.join({ user: first?.user ?? '', account: 'acc_twin', role: 'owner' });
  });
  after(async () => {
    await test?.stop();
    await mail?.stop();
  });

  for (const language of LANGUAGES.filter((_, at) => longer(at === 0, true))) {
    it(`have different texts, in ${language}`, async () => {
      const seen = new Set<string>();
      for (const { path, as } of tour.stops) {
        const separator = path.includes('?') ? '&' : '?';
        const reply = await tour.visitors[as].get(`${path}${separator}lang=${language}`);
        for (const [name, options] of selectsIn(reply.text)) {
          seen.add(name);
          expect(new Set(options).size, `${path}: ${name}: ${options.join(' | ')}`).to.equal(options.length);
        }
      }
      expect([...seen]).to.include.members([
        'account',
        'key',
        'kind',
        'state',
        'by',
        'model',
        'reset',
        'language',
        'phase',
      ]);
    });
  }

  it('with the same name show the end of their ids', () => {
    const options = disambiguate([
      ['acc_000001', 'Shop'],
      ['acc_000002', 'Shop'],
      ['acc_000003', 'Home'],
    ]);
    expect(options.map(([, text]) => text)).to.deep.equal(['Shop (…000001)', 'Shop (…000002)', 'Home']);
  });
});
