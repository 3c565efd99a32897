// Tells the owners of an account that a card was saved or removed, whoever of them did it, or whoever claimed to be one.
import type { Logger } from 'pino';
import type { SavedMethodRow } from '../store/ports/payments.ts';
import type { Alerts } from './alerts.ts';
import type { Happening } from './watch.ts';

interface Means {
  readonly alerts: Pick<Alerts, 'tell'>;
  readonly log: Pick<Logger, 'error'>;
}

/** Never rejects: what happened to the card has happened. */
export async function tellOfCard(
  { alerts, log }: Means,
  type: Extract<Happening['type'], `card.${string}`>,
  method: SavedMethodRow,
): Promise<void> {
  const { id, wallet } = method;
  try {
    await alerts.tell(wallet, { type, data: { card: describe(method) } }, id);
  } catch (err) {
    log.error({ err, account: wallet, method: id }, 'could not alert the owners of a card');
  }
}

/** `Visa •••• 4242`; of other methods their kind: `sbp`. */
function describe({ brand, kind, last4 }: SavedMethodRow): string {
  const name = brand ?? kind;
  return last4 === null ? name : `${name} •••• ${last4}`;
}
