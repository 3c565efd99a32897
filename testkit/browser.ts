// A real browser: Debian's Chromium, found by its path; without it, its tests are skipped with a notice.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { closeAtEnd } from './end.ts';

/** The first shows pages to nobody: it takes a third of the CPU time that a whole browser without a window takes. */
const PATHS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);

/** Undefined if there is none. */
export function findBrowser(): string | undefined {
  const path = process.env.CHROMIUM_PATH ?? PATHS.find((candidate) => existsSync(candidate));
  if (path === undefined)
    console.error('NO BROWSER: the tests of pages in a browser are skipped; install chromium-headless-shell.');
  return path;
}

export function openBrowser(executablePath: string): Promise<Browser> {
  // Tests in a container run as root, where chromium has no sandbox.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

let shared: Promise<Browser> | undefined;

/** One for all suites of a process: a start takes as much CPU time as a test. It ends with the process. */
function shareBrowser(path: string): Promise<Browser> {
  shared ??= openBrowser(path).then((browser) => {
    closeAtEnd(() => browser.close());
    return browser;
  });
  return shared;
}

interface Guest {
  /** A mistake in a script of the page fails the test. `session` is the value of a cookie. */
  openPage(url: string, session: string | undefined, screen: BrowserContextOptions): Promise<Page>;
}

/** Call in a `describe`: the browser for its tests, which are skipped without one. Pages last for a test or for all of them. */
export function useBrowser({ pagesLast = 'test' }: { pagesLast?: 'test' | 'all' } = {}): Guest {
  const path = findBrowser();
  const contexts: BrowserContext[] = [];
  before(function () {
    if (path === undefined) this.skip();
  });
  const closePages = async () => {
    for (const context of contexts.splice(0)) await context.close();
  };
  afterEach(() => (pagesLast === 'test' ? closePages() : undefined));
  after(closePages);
  return {
    async openPage(url, session, screen) {
      const context = await (await shareBrowser(path as string)).newContext(screen);
      contexts.push(context);
      if (session !== undefined) await context.addCookies([{ name: 'session', value: session, url }]);
      const page = await context.newPage();
      page.on('pageerror', (error) => {
        throw error;
      });
      return page;
    },
  };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly where: readonly string[];
}

/** Runs in the page, where this project's types do not exist. */
const RUN_AXE = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations
  .filter(({ impact }) => impact === 'serious' || impact === 'critical')
  .map(({ id, impact, help, nodes }) => ({ id, impact, help, where: nodes.map((node) => node.html) })))`;

/** Call before many pages are looked at one after the other: each will have the script of axe already. */
export function prepareLooks(page: Page): Promise<unknown> {
  return page.addInitScript(AXE);
}

/** What axe rates serious or critical on a page. Its script is injected past the pages' policy, which forbids it. */
export async function findViolations(page: Page): Promise<readonly Violation[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  return (await page.evaluate(RUN_AXE)) as readonly Violation[];
}

/** Narrow and wide, light and dark. */
export const SCREENS: readonly (BrowserContextOptions & { readonly name: string })[] = [
  { name: 'narrow-dark', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
  { name: 'wide-light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
];
