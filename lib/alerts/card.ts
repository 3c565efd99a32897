// Alerts all owners of an account that a card was saved or removed, so that they notice if none of them did it.
import type { Logger } from 'pino';
import type { SavedMethodRow } from '../store/ports/payments.ts';
import type { Alerts } from './alerts.ts';
import type { AlertContent } from './watch.ts';

interface CardAlertOptions {
  readonly alerts: Pick<Alerts, 'queueAlert'>;
  readonly log: Pick<Logger, 'error'>;
}

/** Never rejects: a failed alert must not fail the change of the card. */
export async function alertCardChange(
  { alerts, log }: CardAlertOptions,
  type: Extract<AlertContent['type'], `card.${string}`>,
  method: SavedMethodRow,
): Promise<void> {
  const { id, wallet } = method;
  try {
    await alerts.queueAlert(wallet, { type, data: { card: describeMethod(method) } }, id);
  } catch (err) {
    log.error({ err, account: wallet, method: id }, 'could not alert the owners of a card');
  }
}

/** `Visa •••• 4242`; for other methods the kind, such as `sbp`. */
function describeMethod({ brand, kind, last4 }: SavedMethodRow): string {
  const name = brand ?? kind;
  return last4 === null ? name : `${name} •••• ${last4}`;
}
