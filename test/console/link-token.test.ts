// The token of a one-time link: out of the URL at a browser's first visit, then read from the cookie of that link alone.
import { expect } from 'chai';
import { hasLinkToken, hideLinkToken, linkAction, readLinkToken } from '../../lib/console/link-token.ts';
import type { Visit } from '../../lib/console/visit.ts';
import { hashToken, makeToken } from '../../lib/users/token.ts';

const TOKEN = makeToken();
const NAME = hashToken(TOKEN).slice(0, 12);

function visit(query: string, headers: Readonly<Record<string, string>> = {}, secure = true): Visit {
  const request = { raw: { req: { headers } } };
  return { path: '/reset', query: new URLSearchParams(query), request, secure } as unknown as Visit;
}

describe('the token of a link', () => {
  const navigates = { 'sec-fetch-mode': 'navigate' };

  it('moves from the URL of a browser into a cookie for an hour, named after its hash', () => {
    expect(hideLinkToken(visit(`token=${TOKEN}`, navigates))).to.deep.equal({
      to: `/reset?link=${NAME}`,
      cookie: { name: `link-${NAME}`, value: TOKEN, maxAgeS: 3600 },
    });
  });

  for (const [what, query, headers] of [
    ['of another client', `token=${TOKEN}`, {}],
    ['of a script', `token=${TOKEN}`, { 'sec-fetch-mode': 'cors' }],
    ['that is no token', 'token=short', navigates],
    ['that has moved', `link=${NAME}`, navigates],
    ['that is not there', '', navigates],
  ] as const) {
    it(`stays where it is in a request ${what}`, () => {
      expect(hideLinkToken(visit(query, headers))).to.equal(undefined);
    });
  }

  it('is read from the URL, or from the cookie that the URL names', () => {
    const cookie = `__Host-link-${NAME}=${TOKEN}; __Host-link-000000000000=other`;
    expect(readLinkToken(visit(`token=${TOKEN}`))).to.equal(TOKEN);
    expect(readLinkToken(visit(`link=${NAME}`, { cookie }))).to.equal(TOKEN);
    expect(readLinkToken(visit(`link=${NAME}`, { cookie: cookie.replaceAll('__Host-', '') }, false))).to.equal(TOKEN);
    expect(readLinkToken(visit(`token=first&link=${NAME}`, { cookie }))).to.equal('first');
  });

  it('is empty without a link, without its cookie, and for a name that is no hash', () => {
    for (const query of ['', `link=${NAME}`, 'link=session', 'link=']) expect(readLinkToken(visit(query))).to.equal('');
    expect(readLinkToken(visit('link=session', { cookie: `__Host-link-session=${TOKEN}` }))).to.equal('');
  });

  it('is named by the action of the form, in whichever way the page was opened', () => {
    expect(linkAction(visit(`token=${TOKEN}&link=${NAME}`))).to.equal(`/reset?token=${TOKEN}`);
    expect(linkAction(visit(`link=${NAME}`))).to.equal(`/reset?link=${NAME}`);
    expect(linkAction(visit('token=a%26b'))).to.equal('/reset?token=a%26b');
    expect(linkAction(visit(''))).to.equal('/reset?link=');
    expect(['token=', 'link=', 'other='].map((query) => hasLinkToken(visit(query)))).to.deep.equal([true, true, false]);
  });
});
