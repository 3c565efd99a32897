// The fields that a signed-in user fills in again before changing how they sign in.
import { expect } from 'chai';
import { confirmFields } from '../../lib/console/confirm.ts';
import type { UserVisit } from '../../lib/console/visit.ts';
import { makeUser } from '../contract/store/people.ts';

describe('the fields that confirm a change of the sign-in', () => {
  const fieldsOf = (totpSecret: string | null) => {
    const visit = { signedIn: { user: makeUser({ totpSecret }) }, language: 'en' } as UserVisit;
    const { text } = confirmFields(visit, 'email', { old: 'It is wrong.' });
    expect(text).to.contain('It is wrong.');
    return [...text.matchAll(/<input [^>]*>/g)].map(([tag]) =>
      ['name', 'type', 'autocomplete'].map((name) => new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? 'text'),
    );
  };
  const password = ['old', 'password', 'current-password'];

  it('are the password, hidden, and a code if there is an app', () => {
    expect(fieldsOf(null)).to.deep.equal([password]);
    expect(fieldsOf('GEZDGNBVGY3TQOJQ')).to.deep.equal([password, ['present', 'text', 'one-time-code']]);
  });
});
