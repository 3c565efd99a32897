// Alerts operators of models that are sold below cost since a cost or a rate has moved.
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { LossNotice } from '../catalog/loss.ts';
import { formatRub } from '../money/money.ts';
import type { Alerts } from './alerts.ts';
import { OPERATORS } from './operators.ts';

/** A longer list does not make an email more useful. */
const LINES_MAX = 20;

interface LossAlertOptions {
  readonly alerts: Pick<Alerts, 'queueAlert'>;
  readonly log: Pick<Logger, 'warn'>;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/**
 * Several processes that find the same losses alert once a day; other losses, or the same at another cost, alert again.
 * Losses are found at a start and at a reload.
 */
export function createLossAlert({
  alerts,
  log,
  now = Date.now,
}: LossAlertOptions): (losses: readonly LossNotice[]) => void {
  return (losses) => {
    const kept = losses.filter(({ outcome }) => outcome === 'kept');
    if (kept.length === 0) return;
    const lines = [...new Set(kept.map(describeLine))].sort();
    const day = new Date(now()).toISOString().slice(0, 10);
    const id = createHash('sha256')
      .update([day, ...lines].join('\n'))
      .digest('hex')
      .slice(0, 32);
    const models = [...new Set(kept.map(({ model }) => model))];
    log.warn({ alert: 'loss', models }, 'models are sold below cost: their prices stay until the catalog is edited');
    const data = { models: models.join(', '), lines: lines.slice(0, LINES_MAX).join('\n') };
    alerts
      .queueAlert(OPERATORS, { type: 'price.below_cost', data }, id)
      .catch((err: unknown) => log.warn({ err }, 'the alert about prices below cost was not stored'));
  };
}

function describeLine({ model, list, member, price, cost, upstream, route, vision }: LossNotice): string {
  const answering = vision === undefined ? route : `${route}, ${vision}`;
  const sold = list === undefined ? model : `${model} [${list}]`;
  return `${sold}: ${member} ${formatRub(price)} < ${formatRub(cost)} RUB (${upstream}: ${answering})`;
}
