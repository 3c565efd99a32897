// The form fields of a member's role and cap.
import { checkOffer } from '../accounts/members.ts';
import { OperatorError } from '../base/operator-error.ts';
import { RESETS } from '../money/key-limits.ts';
import type { MembershipOffer } from '../store/ports/sessions.ts';
import { ROLES } from '../store/ports/users.ts';
import { readRub } from './amount.ts';
import { field, select } from './components.ts';
import type { Form } from './forms.ts';
import { type Html, html } from './html.ts';
import type { Language } from './language.ts';
import { roleWords } from './member-words.ts';
import { WORDS } from './pages/people-words.ts';
import type { Visit } from './visit.ts';

interface Filled {
  /** Refused input stays in its field. */
  readonly sent?: Form | undefined;
  readonly offer: MembershipOffer;
  readonly problem?: string | undefined;
}

/** The values of the fields. */
export function showOffer({ format }: Visit, { role, cap }: MembershipOffer) {
  return { role, cap: cap ? format.rubTyped(cap.limit) : '', reset: cap?.reset ?? 'month' };
}

export function memberFields(visit: Visit, { sent, offer, problem }: Filled): Html {
  const words = WORDS[visit.language];
  const roles = roleWords(visit);
  const typed = (name: string, value: string) => (sent?.has(name) ? sent.text(name) : value);
  const shown = showOffer(visit, offer);
  return html`${select(
    { name: 'role', label: words.role, chosen: typed('role', shown.role) },
    ROLES.toReversed().map((each) => [each, roles[each]]),
  )}
<p class="hint">${words.roleHint}</p>
${field({ name: 'cap', label: words.cap, value: typed('cap', shown.cap), inputmode: 'decimal', hint: words.capHint, optional: true, error: problem, autofocus: problem !== undefined })}
${select(
  { name: 'reset', label: words.reset, chosen: typed('reset', shown.reset) },
  RESETS.map((each) => [each, words.resets[each]]),
)}`;
}

/** Undefined for a wrong cap or an unknown role. */
export function readOffer(sent: Form, language: Language): MembershipOffer | undefined {
  const role = ROLES.find((each) => each === sent.text('role'));
  const reset = RESETS.find((each) => each === (sent.text('reset') || 'month'));
  if (!role || !reset) return undefined;
  if (sent.text('cap') === '') return { role };
  const limit = readRub(sent.text('cap'), language);
  if (limit === undefined) return undefined;
  const offer = { role, cap: { limit, reset } };
  try {
    checkOffer(offer);
    return offer;
  } catch (error) {
    if (error instanceof OperatorError) return undefined;
    throw error;
  }
}

/** For the audit log, which stores no bigints. */
export function toOfferDetail({ role, cap }: MembershipOffer): object {
  return { role, ...(cap && { member_cap: `${cap.limit}`, reset: cap.reset }) };
}
