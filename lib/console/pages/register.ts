// Registration: asks for an address and mails a link that opens an account.
import { fault } from '../../base/faults.ts';
import { html } from '../html.ts';
import { type Page, page } from '../page.ts';
import type { Visit } from '../visit.ts';
import { answerLinkRequest, linkRequestPage, signInLink } from './link-request.ts';
import { WORDS } from './setup-words.ts';

export const register = page({
  path: '/register',
  who: 'anyone',
  get: (visit) => invitationOnlyPage(visit) ?? linkRequestPage(visit, 'verify'),
  post: (visit, sent) =>
    invitationOnlyPage(visit) ??
    answerLinkRequest(visit, 'verify', {
      text: sent.text('email'),
      send: (email) => makeRegistrationToken(visit, email),
    }),
});

/** Instead of the form, if not everybody may create an account. */
function invitationOnlyPage(visit: Visit): Page | undefined {
  const { registration } = visit.services;
  if (registration === 'closed') throw fault('not_found');
  if (registration === 'open') return undefined;
  const words = WORDS[visit.language];
  return { title: words.invitedTitle, body: html`<p>${words.invited}</p>${signInLink(visit)}` };
}

async function makeRegistrationToken({ services }: Visit, email: string): Promise<string | undefined> {
  if (await services.store.users.find(email)) return undefined;
  return services.people.makeLink({ purpose: 'verify', email });
}
