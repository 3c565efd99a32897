// Metrics of a start with several workers: how many there are, and how often one was replaced.
import { Counter, Gauge, type Registry } from 'prom-client';

export interface WorkerFacts {
  /** Processes that answer calls now. */
  readonly alive: () => number;
  /** How many have been replaced since the start. */
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
