// Signs alert webhooks, so that the receiver can check with the secret where a request comes from and how old it is.
import { createHmac, randomBytes } from 'node:crypto';
import { isSealed } from '../store/secrets.ts';

export const SIGNATURE_HEADER = 'tollgate-signature';

export function makeWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** `t=<seconds since the epoch>,v1=<hex>`: HMAC-SHA256 under the secret over the time, a dot and the body. */
export function sign(body: string, { secret, now }: { secret: string; now: number }): string {
  if (isSealed(secret)) throw new Error('the secret of a webhook cannot be decrypted: check SECRETS_KEY');
  const seconds = Math.floor(now / 1000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}
