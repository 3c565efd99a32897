// User agents in words.
import { expect } from 'chai';
import { describeBrowser } from '../../lib/console/browser-name.ts';

describe('the browser of a session', () => {
  const chrome =
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36';
  for (const [agent, name] of [
    [chrome, 'Chrome on Windows'],
    [`${chrome} Edg/140.0`, 'Edge on Windows'],
    [chrome.replace('Chrome/', 'YaBrowser/25.10 Chrome/'), 'YaBrowser on Windows'],
    ['Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
      'Safari on iPhone',
    ],
    ['curl/8.5.0', 'curl'],
    ['my program', 'my program'],
    ['', 'unknown program'],
  ] as const) {
    it(`names ${name}`, () => expect(describeBrowser('en', agent)).to.equal(name));
  }
});
