// Sends a test alert from a page of alerts, at most so many an hour: each makes the service call third parties.
import type { AlertSettings } from '../store/ports/alerts.ts';
import { allowAtMost, countAttempt } from '../users/attempts.ts';
import { audit } from './audit.ts';
import type { UserVisit } from './visit.ts';

const TESTS_MAX = 10;

/** `no_channel`: nobody would get it. */
export async function sendTestAlert(
  visit: UserVisit,
  settings: AlertSettings,
): Promise<'sent' | 'no_channel' | 'wait'> {
  const { services } = visit;
  const { account } = settings;
  if (!(await services.alerts.hasChannels(settings))) return 'no_channel';
  const name = allowAtMost(`alert-tests:${account}`, TESTS_MAX);
  if ((await countAttempt(services.store.sessions, [name], services.now())) > 0) return 'wait';
  await services.alerts.test(settings);
  await audit(visit, { action: 'alerts.test', target: account });
  return 'sent';
}
