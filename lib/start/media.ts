// Opens what fetches from elsewhere: images of requests, webhooks of alerts, and the results that are stored and linked.
import { HOUR_MS } from '../base/durations.ts';
import type { Config } from '../config.ts';
import { createLateFetcher, type FetchLimits } from '../media/fetcher.ts';
import { createResults } from '../media/results.ts';
import { readOrigins } from '../media/url.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../store/store.ts';

interface MediaParts {
  readonly store: Pick<Store, 'media'>;
  readonly publicUrl: () => string;
  readonly metrics: Metrics | undefined;
  readonly limits: Partial<FetchLimits> | undefined;
}

export function openMedia(config: Config, { store, publicUrl, metrics, limits }: MediaParts) {
  const fetcher = createLateFetcher({ trustedOrigins: readOrigins(config.imageTrustedOrigins), limits }, publicUrl);
  // Owners choose where alerts are posted to, so the trusted origins of images are not theirs to use.
  const webhookOrigins = readOrigins(config.webhookTrustedOrigins, 'WEBHOOK_TRUSTED_ORIGINS');
  const webhooks = createLateFetcher({ trustedOrigins: webhookOrigins, limits }, publicUrl);
  const results = createResults({
    media: store.media,
    fetcher,
    publicUrl,
    ttlMs: config.mediaTtlHours * HOUR_MS,
    onStored: metrics?.media.onStored,
  });
  return { fetcher, webhooks, results };
}
