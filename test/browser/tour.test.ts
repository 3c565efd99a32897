// Every page with content in a real browser, in two languages, sizes and color schemes: no serious accessibility fault,
// never wider than the screen, also when enlarged; and without scripts. The tour covers all routes
// (test/console/ownership.test.ts).
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { findViolations, prepareLooks, SCREENS, useBrowser } from '../../testkit/browser.ts';
import { startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { itLong, longer } from '../../testkit/long.ts';
import { type Stop, setUpTour, TOUR_ENV, type Tour, TRAVELLERS } from '../../testkit/page-tour.ts';
import { type MailServer, startMailServer } from '../../testkit/smtp.ts';

const WIDE = { width: 1280, height: 900 };

/** Normal; zoomed to 200 %, which halves a wide screen; the widest; and with double text size. */
const ZOOMS = [
  undefined,
  { viewport: { width: 640, height: 450 } },
  { viewport: { width: 1920, height: 1080 } },
  { viewport: WIDE, letters: '200%' },
] as const;

type Zoom = (typeof ZOOMS)[number];

async function measureOverflow(page: Page, zoom: Zoom): Promise<unknown> {
  if (zoom) await page.setViewportSize(zoom.viewport);
  const letters = zoom && 'letters' in zoom ? zoom.letters : '';
  await page.evaluate(`document.documentElement.style.fontSize = '${letters}'`);
  return page.evaluate('document.documentElement.scrollWidth - innerWidth');
}

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

  itLong('have nothing that works only with a script', async () => {
    for (const traveller of TRAVELLERS) {
      const session = tour.visitors[traveller].cookies.get('session');
      const page = await guest.openPage(test.url, session, { javaScriptEnabled: false });
      for (const stop of listPages(tour).filter(({ as }) => as === traveller)) {
        await page.goto(`${test.url}${stop.path}`);
        expect(await page.locator('main h1').count(), stop.name).to.equal(1);
        const dead = page.locator('button[type=button]:visible, a:not([href]), form:not([action])');
        expect(await dead.count(), stop.name).to.equal(0);
        const lonely = page.locator('form:has(input):not(:has(button))');
        expect(await lonely.count(), `${stop.name} has a form without a button`).to.equal(0);
      }
    }
  });

  for (const { name, ...screen } of longer(SCREENS.slice(0, 1), SCREENS)) {
    const language = name === 'narrow-dark' ? 'ru' : 'en';
    it(`have no serious accessibility fault (${name}, ${language})`, async () => {
      // Some stops differ only in what is clicked.
      const all = [...new Map(listPages(tour).map((stop) => [`${stop.as} ${stop.path}`, stop])).values()];
      const stops = all.filter((_, at) => longer(at % 60 === 0, true));
      for (const traveller of TRAVELLERS) {
        const session = tour.visitors[traveller].cookies.get('session');
        const page = await guest.openPage(test.url, session, screen);
        await prepareLooks(page);
        for (const stop of stops.filter(({ as }) => as === traveller)) {
          await page.goto(`${test.url}${stop.path}${stop.path.includes('?') ? '&' : '?'}lang=${language}`);
          expect(await findViolations(page), stop.name).to.deep.equal([]);
          for (const zoom of longer<readonly Zoom[]>([undefined], ZOOMS)) {
            expect(await measureOverflow(page, zoom), `${stop.name} is wider than the screen`).to.be.at.most(0);
          }
          await page.setViewportSize(screen.viewport ?? WIDE);
        }
      }
    });
  }
});

/** The stops that are pages, not files. */
function listPages({ stops }: Tour): readonly Stop[] {
  return stops.filter(({ route, name }) => !route.endsWith('.csv') && name !== 'export');
}
