// Metrics of videos: the number of open ones, the results of polls, and the durations.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { VideoMetrics } from '../calls/videos/open.ts';
import { createMissingSeries, listUpstreams, modelSeries, type SeriesFacts } from './series.ts';

export interface JobMetrics extends Omit<VideoMetrics, 'onAttempt'> {
  /** Counts the open jobs of a store at each scrape. */
  watchJobs(jobs: { open(): Promise<number> }): void;
}

const FOUND = ['processing', 'completed', 'failed', 'unknown'] as const;
const ENDS = ['completed', 'failed'] as const;
/** Seconds. */
const BUCKETS = [5, 10, 20, 30, 60, 90, 120, 180, 300, 600, 1200, 2400, 4800, 7200];

export function createJobMetrics(registry: Registry, facts: SeriesFacts): JobMetrics {
  const registers = [registry];
  const polls = new Counter({
    name: 'tollgate_video_polls_total',
    help: 'Polls of videos upstream, by result (processing, completed, failed, or unknown: it said nothing).',
    labelNames: ['upstream', 'found'],
    registers,
    collect() {
      const upstreams = listUpstreams(facts, 'video');
      createMissingSeries(
        this,
        upstreams.flatMap((upstream) => FOUND.map((found) => ({ upstream, found }))),
      );
    },
  });
  const timed = new Set<string>();
  const durations = new Histogram({
    name: 'tollgate_video_seconds',
    help: 'From the start of a video to its end, by outcome (completed, or failed and refunded).',
    labelNames: ['model', 'end'],
    buckets: BUCKETS,
    registers,
    collect() {
      for (const { model } of modelSeries(facts, 'video')) {
        for (const end of ENDS) if (!timed.has(`${model} ${end}`)) this.zero({ model, end });
      }
    },
  });
  return {
    onPoll: (upstream, found) => polls.inc({ upstream, found }),
    onJobEnd({ model }, end, ms) {
      timed.add(`${model} ${end}`);
      durations.observe({ model, end }, ms / 1000);
    },
    watchJobs(jobs) {
      new Gauge({
        name: 'tollgate_open_videos',
        help: 'Videos of all processes on the store that have not ended.',
        registers,
        async collect() {
          await jobs.open().then(
            (open) => this.set(open),
            // Without an answer of the store, an old number would look like a new one.
            () => this.remove(),
          );
        },
      });
    },
  };
}
