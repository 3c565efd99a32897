// Opens the metrics and their port; without a port the code is not loaded.
import type { Log } from '../http/log.ts';
import type { Metrics } from './metrics.ts';
import type { SeriesFacts } from './series.ts';
import type { MetricsServer } from './server.ts';

interface MetricsOptions {
  readonly host: string;
  /** Undefined if there are no metrics. */
  readonly port: number | undefined;
  readonly log: Log;
  /** A worker leaves the port to its primary. */
  readonly isMember: boolean;
  readonly series: SeriesFacts;
}

export async function openMetrics(options: MetricsOptions): Promise<(Metrics & MetricsServer) | undefined> {
  const { host, port, log, isMember, series } = options;
  if (port === undefined) return undefined;
  const { createMetrics } = await import('./metrics.ts');
  const metrics = createMetrics(series);
  if (isMember) return { ...metrics, start: async () => undefined, close: async () => undefined };
  const { createMetricsServer } = await import('./server.ts');
  const onError = (err: unknown) => log.warn({ err }, 'a metrics scrape failed');
  return { ...metrics, ...createMetricsServer({ host, port, metrics, onError }) };
}
