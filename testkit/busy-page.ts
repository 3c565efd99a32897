// One page in a browser for all tests of a suite, on a gateway with an account that has some of everything.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { useBrowser } from './browser.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { type Busy, makeBusy } from './page-tour.ts';

interface BusyPage {
  readonly test: TestGateway;
  readonly busy: Busy;
  readonly page: Page;
}

/** Call in a `describe`, and read from the result only in its tests. */
export function useBusyPage(screen: BrowserContextOptions, visitor: 'owner' | 'stranger'): BusyPage {
  const guest = useBrowser({ pagesLast: 'all' });
  const made = {} as { -readonly [Part in keyof BusyPage]: BusyPage[Part] };
  before(async () => {
    made.test = await startGateway({ catalog: {}, env: { SANDBOX: 'on', VIDEO_POLL_MS: '1000' } });
    made.busy = await makeBusy(made.test, 'anna@example.com');
    const session = visitor === 'owner' ? made.busy.owner.cookies.get('session') : undefined;
    made.page = await guest.openPage(made.test.url, session, screen);
  });
  after(() => made.test?.stop());
  return made;
}
