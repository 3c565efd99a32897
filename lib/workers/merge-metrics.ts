// Merges the metrics of several processes into the metrics of one service.
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { MetricsSnapshot } from '../metrics/metrics.ts';

type Metric = MetricObjectWithValues<MetricValue<string>>;

/** Metrics that all processes report alike, or of which the worst value counts. */
const AGGREGATORS: Readonly<Record<string, 'max' | 'min'>> = {
  tollgate_build_info: 'max',
  tollgate_catalog_reload_failed: 'max',
  tollgate_models: 'max',
  tollgate_models_below_cost: 'max',
  tollgate_open_videos: 'max',
  tollgate_payments_in_review: 'max',
  tollgate_store_up: 'min',
  tollgate_upstream_keys_resting: 'max',
  tollgate_upstream_routes_open: 'max',
};
const WORST = /^nodejs_eventloop_lag_/;

/** In the Prometheus text format. */
export function formatMergedMetrics(snapshots: readonly MetricsSnapshot[]): Promise<string> {
  return mergeSnapshots(snapshots).metrics();
}

/** Adds the last counts of an exited process, which must stay in the sums. */
export async function addExitedCounts(exited: MetricsSnapshot, last: MetricsSnapshot): Promise<MetricsSnapshot> {
  const counts = last.filter(({ type }) => ONLY_GROWING.has(`${type}`));
  return (await mergeSnapshots([exited, counts]).getMetricsAsJSON()) as unknown as MetricsSnapshot;
}

const ONLY_GROWING: ReadonlySet<string> = new Set(['counter', 'histogram']);

function mergeSnapshots(
  snapshots: readonly MetricsSnapshot[],
): AggregatorRegistry<'text/plain; version=0.0.4; charset=utf-8'> {
  const metrics = snapshots.map((snapshot) => snapshot.map(withAggregator));
  return AggregatorRegistry.aggregate(metrics) as never;
}

function withAggregator(metric: Metric): Metric {
  const aggregator = AGGREGATORS[metric.name] ?? (WORST.test(metric.name) ? 'max' : metric.aggregator);
  return { ...metric, aggregator };
}
