// A person doing a task in a browser by what is on the page only: counts the clicks and writes them down.
import type { Locator, Page } from 'playwright-core';

export interface Walk {
  /** What was done, a line each. */
  readonly lines: readonly string[];
  /** Clicks on links, buttons, boxes and summaries, and choices from lists. */
  clicks(): number;
  click(name: string | RegExp, options?: ClickOptions): Promise<void>;
  /** Types into the field with this label; `as` is written down instead of a text that differs each time. */
  type(label: string, text: string, options?: { readonly as?: string; readonly at?: number }): Promise<void>;
  choose(label: string, option: string): Promise<void>;
  /** Fails unless the page says it. */
  see(text: string | RegExp): Promise<string>;
}

interface ClickOptions {
  /** A link by default. */
  readonly role?: Role;
  /** A selector. */
  readonly within?: string;
  /** Which one of several. */
  readonly at?: number;
  /** What is written down instead of a text that differs each time. */
  readonly as?: string;
}

type Role = 'link' | 'button' | 'checkbox' | 'summary';

const WAIT_MS = 10_000;

export function createWalk(page: Page): Walk {
  page.setDefaultTimeout(WAIT_MS);
  const lines: string[] = [];
  let clicks = 0;
  const find = (name: string | RegExp, role: Role, within: string): Locator =>
    role === 'summary'
      ? page.locator(within).locator('summary').filter({ hasText: name })
      : page.locator(within).getByRole(role, { name, exact: typeof name === 'string' });

  return {
    lines,
    clicks: () => clicks,
    async click(name, { role = 'link', within = 'body', at = 0, as } = {}) {
      const target = find(name, role, within).nth(at);
      const text = ((await target.textContent()) ?? '').replace(/\s+/g, ' ').trim();
      clicks += 1;
      lines.push(`${clicks}. ${as ?? (text === '' ? name : text)}`);
      await target.click();
      await page.waitForLoadState('load');
    },
    async type(label, text, { as = text, at = 0 } = {}) {
      await page.getByLabel(label, { exact: true }).nth(at).fill(text);
      lines.push(`   ${label}: ${as}`);
    },
    async choose(label, option) {
      clicks += 1;
      lines.push(`${clicks}. ${label}: ${option}`);
      await page.getByLabel(label, { exact: true }).first().selectOption({ label: option });
    },
    async see(text) {
      const found = page.locator('main').getByText(text).first();
      await found.waitFor();
      return ((await found.textContent()) ?? '').replace(/\s+/g, ' ').trim();
    },
  };
}
