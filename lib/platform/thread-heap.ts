// V8's heap size flags apply to every thread of the process and override a thread's own resource limits
// (`Heap::ConfigureHeap` in its src/heap/heap.cc). They are read when a heap is created.
import { setFlagsFromString } from 'node:v8';
import type { ResourceLimits } from 'node:worker_threads';

/** Limits for threads started from now on. This thread's heap keeps what it was started with. */
export function limitHeap(limits: ResourceLimits): ResourceLimits {
  setFlagsFromString('--max-semi-space-size=0');
  return limits;
}
