// Merges the metrics of several processes into those of one service.
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { MetricsSnapshot } from '../metrics/metrics.ts';

type Metric = MetricObjectWithValues<MetricValue<string>>;

/** Metrics that all processes report alike, or where the worst one must show. */
const AGGREGATORS: Readonly<Record<string, 'max' | 'min'>> = {
  tollgate_build_info: 'max',
  tollgate_catalog_reload_failed: 'max',
  tollgate_models: 'max',
  tollgate_open_videos: 'max',
  tollgate_payments_in_review: 'max',
  tollgate_store_up: 'min',
  tollgate_upstream_keys_resting: 'max',
  tollgate_upstream_routes_open: 'max',
};
const WORST = /^nodejs_eventloop_lag_/;

/** In the Prometheus text format. */
export function textOfSum(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return sumOf(snapshots).metrics();
}

/** What exited processes have counted, which must stay in the sums. */
export async function addGone(gone: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> {
  const counts = last.filter(({ type }) => ONLY_GROWING.has(`${type}`));
  return (await sumOf([gone, counts]).getMetricsAsJSON()) as unknown as MetricsSnapshot;
}

const ONLY_GROWING: ReadonlySet<string> = new Set(['counter', 'histogram']);

function sumOf(snapshots: readonly MetricsSnapshot[]): AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'> {
  const metrics = snapshots.map((snapshot) => snapshot.map(aggregated));
  return AggregatorRegistry.aggregate(metrics) as never;
}

function aggregated(metric: Metric): Metric {
  const aggregator = AGGREGATORS[metric.name] ?? (WORST.test(metric.name) ? 'max' : metric.aggregator);
  return { ...metric, aggregator };
}
