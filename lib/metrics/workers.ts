// The workers of a start that has several: how many there are, and how often one had to be replaced.
import { Counter, Gauge, type Registry } from 'prom-client';

export interface WorkerFacts {
  /** Processes that answer calls now. */
  readonly alive: () => number;
  /** How many had to be replaced since the start. */
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
    help: 'Workers that ended by themselves, so that another was started.',
    registers,
    collect() {
      this.reset();
      this.inc(replaced());
    },
  });
}
