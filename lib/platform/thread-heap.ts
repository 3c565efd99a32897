// V8's flags for the size of a heap bind every thread of the process, and what a thread is given as its own limits counts
// for nothing beside them (`Heap::ConfigureHeap` in its src/heap/heap.cc). They are read when a heap is made.
import { setFlagsFromString } from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/** Limits for threads that are started from now on. The heap of this thread keeps what it was started with. */
export function limitHeap(limits: ResourceLimits): ResourceLimits {
  setFlagsFromString('--max-semi-space-size=0');
  return limits;
}
