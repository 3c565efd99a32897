// `npm run shots -- FOLDER [NAME]`: screenshots of every page with content, in both languages, narrow to wide, light
// and dark, for people to look at; only some of them if part of their names is given.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { hashToken } from '../lib/users/token.ts';
import { findBrowser, openBrowser } from '../testkit/browser.ts';
import { startGateway } from '../testkit/gateway.ts';
import { type Stop, setUpTour, TOUR_ENV, type Tour, TRAVELLERS } from '../testkit/page-tour.ts';
import { startMailServer } from '../testkit/smtp.ts';
import { readWords } from './options.ts';

const SIZES = {
  narrow: { width: 360, height: 740 },
  medium: { width: 768, height: 1024 },
  wide: { width: 1280, height: 800 },
} as const;
const SCHEMES = ['light', 'dark'] as const;
const LANGUAGES = ['ru', 'en'] as const;

const [folder = 'shots', part = ''] = readWords(['the folder to write to', 'a part of the names of pages']);
const executablePath = findBrowser();
if (executablePath === undefined) process.exit(1);
const mail = await startMailServer();
const test = await startGateway({ catalog: {}, env: { ...TOUR_ENV, SMTP_URL: mail.url } });
const browser = await openBrowser(executablePath);
try {
  const tour = await setUpTour(test);
  const stops = tour.stops.filter(
    ({ name, route }) => name.includes(part) && !route.endsWith('.csv') && name !== 'export',
  );
  for (const language of LANGUAGES) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const colorScheme of SCHEMES) {
        const kind = { name: `${size}-${language}-${colorScheme}`, language, viewport, colorScheme };
        await proveOperator(tour);
        await takeAll(browser, { tour, stops, kind });
        await revokeIssued(tour.busy.account.id);
        console.log(kind.name);
      }
    }
  }
} finally {
  await browser.close();
  await test.stop();
  await mail.stop();
}

/** On a slow machine the rounds take longer than the ten minutes for which a code lasts. */
async function proveOperator({ visitors }: Tour): Promise<void> {
  const now = Date.now();
  const session = hashToken(visitors.operator.cookies.get('session') ?? '');
  await test.store.sessions.touch(session, { seenAt: now, provenAt: now });
}

/** A new one each time: an account holds at most ten. */
async function revokeIssued(account: string): Promise<void> {
  const [last] = (await test.store.keys.list(account)).slice(-1);
  if (last) await test.store.keys.revoke(last.id, Date.now());
}

interface Round {
  readonly tour: Tour;
  readonly stops: readonly Stop[];
  readonly kind: {
    readonly name: string;
    readonly language: string;
    readonly viewport: { readonly width: number; readonly height: number };
    readonly colorScheme: (typeof SCHEMES)[number];
  };
}

async function takeAll(browser: Browser, { tour, stops, kind }: Round): Promise<void> {
  const { viewport, colorScheme, language, name } = kind;
  mkdirSync(join(folder, name), { recursive: true });
  for (const traveller of TRAVELLERS) {
    const context = await browser.newContext({ viewport, colorScheme });
    const value = tour.visitors[traveller].cookies.get('session');
    if (value !== undefined) await context.addCookies([{ name: 'session', value, url: test.url }]);
    const page = await context.newPage();
    for (const stop of stops.filter(({ as }) => as === traveller)) await take(page, stop, language, join(folder, name));
    await context.close();
  }
}

async function take(page: Page, { path, name, does = [] }: Stop, language: string, into: string): Promise<void> {
  await page.goto(`${test.url}${path}${path.includes('?') ? '&' : '?'}lang=${language}`);
  for (const [selector, value] of does) {
    if (value === true) await page.click(selector);
    else await page.fill(selector, value);
  }
  await page.waitForLoadState('load');
  const overflow = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'));
  if (overflow > 0) console.log(`${into}/${name} is ${overflow} px wider than the screen`);
  await page.screenshot({ path: resolve(into, `${name}.png`), fullPage: true });
}
