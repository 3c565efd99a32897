// Every page in a real browser, with something on it: both languages, narrow and wide, light and dark, without serious faults
// of accessibility and no wider than the screen. The tour knows all routes (test/web/ownership.test.ts).
import { expect } from 'chai';
import { findViolations, prepareLooks, SCREENS, useBrowser } from '../../testkit/browser.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { setUpTour, TOUR_ENV, type Tour, TRAVELLERS } from '../../testkit/page-tour.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

describe('all pages in a browser', function () {
  this.timeout(300_000);
  const guest = useBrowser();
  let mail: MailServer;
  let test: TestGateway;
  let tour: Tour;

  before(async () => {
    mail = await startMailServer();
    test = await startGateway({ catalog: {}, env: { ...TOUR_ENV, SMTP_URL: mail.url } });
    tour = await setUpTour(test);
  });
  after(async () => {
    await test?.stop();
    await mail?.stop();
  });

  for (const { name, ...screen } of longer(SCREENS.slice(0, 1), SCREENS)) {
    for (const language of longer(['ru'], ['en', 'ru'])) {
      it(`have no serious fault (${name}, ${language})`, async () => {
        const html = tour.stops.filter(({ route, name }) => !route.endsWith('.csv') && name !== 'export');
        // Some differ only in what is clicked there.
        const stops = [...new Map(html.map((stop) => [`${stop.as} ${stop.path}`, stop])).values()];
        for (const traveller of TRAVELLERS) {
          const session = tour.visitors[traveller].cookies.get('session');
          const page = await guest.openPage(test.url, session, screen);
          await prepareLooks(page);
          for (const stop of stops.filter(({ as }) => as === traveller)) {
            await page.goto(`${test.url}${stop.path}${stop.path.includes('?') ? '&' : '?'}lang=${language}`);
            expect(await findViolations(page), stop.name).to.deep.equal([]);
            const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
            expect(overflow, `${stop.name} is wider than the screen`).to.be.at.most(0);
          }
        }
      });
    }
  }
});
