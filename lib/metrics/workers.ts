// Metrics of a primary with several workers: the number of workers and of replacements.
import { Counter, Gauge, type Registry } from 'prom-client';

export interface WorkerFacts {
  /** The number of workers that answer calls now. */
  readonly alive: () => number;
  /** The number of replaced workers since the start. */
  readonly replaced: () => number;
}

export function createWorkerMetrics(registry: Registry, { alive, replaced }: WorkerFacts): void {
  const registers = [registry];
  new Gauge({
    name: 'tollgate_workers',
    help: 'Processes of this start that answer calls.',
    registers,
    collect() {
      this.set(alive());
    },
  });
  new Counter({
    name: 'tollgate_workers_replaced_total',
    help: 'Workers that exited on their own and were replaced.',
    registers,
    collect() {
      this.reset();
      this.inc(replaced());
    },
  });
}
