// The stops of a tour at the pages with management keys.
import { createManagementKeys, OPERATOR_SCOPES } from '../lib/accounts/management-keys.ts';
import type { TestGateway } from './gateway.ts';

/** Makes a stop. */
export type At<Stop> = (route: string, name: string, more?: { readonly path?: string; readonly does?: Doings }) => Stop;
type Doings = readonly (readonly [selector: string, value: string | true])[];

/** The ids of management keys. */
export interface Managed {
  readonly managed: Readonly<Record<'own' | 'operator', string>>;
}

const ADMIN = '/admin/management-keys';
const OWN = '/account/keys/management';

export async function makeManagementKeys({ store }: TestGateway, account: string): Promise<Managed['managed']> {
  const keys = createManagementKeys({ store, keyPrefix: 'tg-' });
  const createdBy = 'usr_tour';
  const { id: own } = await keys.create({ name: 'CI', account, createdBy });
  const terms = { name: 'billing', scopes: OPERATOR_SCOPES, account: null, addresses: ['10.0.0.0/8'], createdBy };
  const { id: operator } = await keys.create({ ...terms, expiresAt: Date.now() + 1e10 });
  return { own, operator };
}

export function listOwnManagementStops<Stop>(at: At<Stop>, { own }: Managed['managed']): readonly Stop[] {
  return [at(OWN, 'management-keys'), at(`${OWN}/{id}`, 'management-key-revoke', { path: `${OWN}/${own}` })];
}

export function listManagementStops<Stop>(at: At<Stop>, { operator }: Managed['managed']): readonly Stop[] {
  return [
    at(ADMIN, 'management-keys'),
    at(ADMIN, 'management-keys-made', {
      does: [
        ['#name', 'биллинг'],
        ['[name=scope-accounts]', true],
        ['main form button', true],
      ],
    }),
    at(`${ADMIN}/{id}`, 'management-key-revoke', { path: `${ADMIN}/${operator}` }),
  ];
}
