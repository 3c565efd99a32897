// Every page in a real browser, with something on it: both languages, narrow and wide, light and dark, without serious faults
// of accessibility and no wider than the screen. The tour knows all routes (test/web/ownership.test.ts).
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { findBrowser, findViolations, openBrowser, SCREENS } from '../../testkit/browser.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';
import { setUpTour, TOUR_ENV, type Tour, TRAVELLERS } from '../../testkit/page-tour.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

describe('all pages in a browser', function () {
  this.timeout(300_000);
  const path = findBrowser();
  let browser: Browser;
  let mail: MailServer;
  let test: TestGateway;
  let tour: Tour;

  before(async function () {
    if (path === undefined) return this.skip();
    mail = await startMailServer();
    test = await startGateway({ catalog: {}, env: { ...TOUR_ENV, SMTP_URL: mail.url } });
    tour = await setUpTour(test);
    browser = await openBrowser(path);
  });
  after(async () => {
    await browser?.close();
    await test?.stop();
    await mail?.stop();
  });

  for (const { name, ...screen } of longer(SCREENS.slice(0, 1), SCREENS)) {
    for (const language of longer(['ru'], ['en', 'ru'])) {
      it(`have no serious fault (${name}, ${language})`, async () => {
        const html = tour.stops.filter(({ route, name }) => !route.endsWith('.csv') && name !== 'export');
        for (const traveller of TRAVELLERS) {
          const context = await browser.newContext(screen);
          const value = tour.visitors[traveller].cookies.get('session');
          if (value !== undefined) await context.addCookies([{ name: 'session', value, url: test.url }]);
          const page = await context.newPage();
          page.on('pageerror', (error) => {
            throw error;
          });
          for (const stop of html.filter(({ as }) => as === traveller)) {
            await page.goto(`${test.url}${stop.path}${stop.path.includes('?') ? '&' : '?'}lang=${language}`);
            expect(await findViolations(page), stop.name).to.deep.equal([]);
            const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
            expect(overflow, `${stop.name} is wider than the screen`).to.be.at.most(0);
          }
          await context.close();
        }
      });
    }
  }
});
