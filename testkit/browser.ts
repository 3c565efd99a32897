// A real browser: Debian's chromium, found by its path; without it, its tests are skipped with a notice.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Undefined if there is none. */
export function findBrowser(): string | undefined {
  const path = process.env.CHROMIUM_PATH ?? PATHS.find((candidate) => existsSync(candidate));
  if (path === undefined) console.error('NO BROWSER: the tests of pages in a browser are skipped; install chromium.');
  return path;
}

export function openBrowser(executablePath: string): Promise<Browser> {
  // Tests in a container run as root, where chromium has no sandbox.
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly where: readonly string[];
}

/** Runs in the page, where this project's types do not exist. */
const RUN_AXE = `axe.run().then(({ violations }) => violations.map(({ id, impact, help, nodes }) => (
  { id, impact, help, where: nodes.map((node) => node.html) })))`;

/** What axe rates serious or critical on a page. Its script is injected past the pages' policy, which forbids it. */
export async function findViolations(page: Page): Promise<readonly Violation[]> {
  await page.evaluate(AXE);
  const found = (await page.evaluate(RUN_AXE)) as readonly Violation[];
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
}

/** Narrow and wide, light and dark. */
export const SCREENS: readonly (BrowserContextOptions & { readonly name: string })[] = [
  { name: 'narrow-dark', viewport: { width: 360, height: 740 }, colorScheme: 'dark' },
  { name: 'wide-light', viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
];
