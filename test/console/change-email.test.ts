// Emails about a changed sign-in: what changed, when and from where, and what to do if it was a stranger.
import { expect } from 'chai';
import { mailSignInChange, type SignInChange } from '../../lib/console/change-email.ts';
import type { Visit } from '../../lib/console/visit.ts';
import type { User } from '../../lib/store/ports/users.ts';
import type { Mail, Mailer } from '../../lib/users/mail.ts';
import { makeUser } from '../contract/store/people.ts';

const CHANGES: readonly SignInChange[] = ['password', 'app', 'app_replaced', 'app_removed', 'codes', 'restored'];

describe('an email about a changed sign-in', () => {
  let errors: object[];
  beforeEach(() => {
    errors = [];
  });

  function mailWith(send: Mailer['send'] | undefined, user: Partial<User> = {}, change: SignInChange = 'password') {
    const services = {
      mailer: send && { send },
      log: { error: (fields: object) => void errors.push(fields) },
      publicUrl: () => 'https://gate.example',
      now: () => Date.UTC(2026, 10, 22, 9),
    };
    const visit = { services, address: '192.0.2.7' } as unknown as Visit;
    mailSignInChange(visit, makeUser({ email: 'ann@example.com', language: 'en', timeZone: 'UTC', ...user }), change);
  }

  function write(user?: Partial<User>, change?: SignInChange): Mail {
    const mails: Mail[] = [];
    mailWith(async (mail) => void mails.push(mail), user, change);
    const [mail] = mails;
    if (!mail) expect.fail('nothing was sent');
    return mail;
  }

  it('says what changed, when and from where', () => {
    const { to, subject, text } = write();
    expect([to, subject]).to.deep.equal(['ann@example.com', 'Your password was changed']);
    expect(text)
      .to.contain('The password you use to sign in to Tollgate was changed.')
      .and.to.match(/Time: .*9:00/)
      .and.to.contain('IP address: 192.0.2.7')
      .and.to.contain('If this was you, you do not need to do anything.');
  });

  it('names the page for a new password, and to an operator another operator', () => {
    const [owner, operator] = [write(), write({ operator: true })].map(({ text }) => text);
    expect(owner).to.contain('https://gate.example/reset').and.not.to.contain('another operator');
    expect(operator).to.contain('tell another operator').and.not.to.contain('/reset');
  });

  it('differs by change and language', () => {
    const mails = (['en', 'ru'] as const).flatMap((language) => CHANGES.map((change) => write({ language }, change)));
    expect(new Set(mails.map(({ subject }) => subject)).size).to.equal(12);
    expect(new Set(mails.map(({ text }) => text.split('\n')[0])).size).to.equal(12);
    for (const { text } of mails) expect(text).not.to.contain('undefined');
    for (const { subject, text } of mails.slice(6)) expect([subject, text].join()).to.match(/[а-я]{4}/);
  });

  it('delays nothing: one that fails is logged, and without a mail server there is none', async () => {
    mailWith(undefined);
    mailWith(() => Promise.reject(new Error('refused')));
    await new Promise(setImmediate);
    expect(errors).to.have.length(1);
    expect(errors[0]).to.include({ change: 'password' });
  });
});
