// The way of a text answer: the one list of what happens to its parts, in order.
import { Guard } from '../../stream/guard.ts';
import type { GuardOptions } from '../../stream/guard-options.ts';
import { Meter, type MeterOptions } from '../../stream/meter.ts';
import type { Transform } from '../../stream/pipeline.ts';
import { Stops, type StopsOptions } from '../../stream/stops.ts';
import { Delivery, type DeliveryListener, type DeliveryOptions } from './delivery.ts';
import { type CreateTransform, createEmbedderTransform } from './embedder-transform.ts';
import type { TextOutput } from './output.ts';

export interface TextPipelineOptions<Out> {
  readonly guard: GuardOptions;
  readonly meter: MeterOptions;
  /** Absent for a call without stop strings. */
  readonly stops?: StopsOptions | undefined;
  readonly extra: readonly CreateTransform[];
  readonly delivery: DeliveryOptions;
  readonly listener: DeliveryListener;
  readonly output: TextOutput<Out>;
}

export interface TextPipeline {
  readonly transforms: readonly Transform<unknown, unknown>[];
  readonly guard: Guard;
  readonly meter: Meter;
  readonly stops: Stops | undefined;
  readonly delivery: Delivery;
}

/** For one attempt at one route. What is produced is billed, so the meter comes before anything that drops text. */
export function createTextPipeline<Out>(options: TextPipelineOptions<Out>): TextPipeline {
  const { renderer, sink } = options.output;
  const guard = new Guard(options.guard);
  const meter = new Meter(options.meter);
  const stops = options.stops && new Stops(options.stops);
  const delivery = new Delivery(options.delivery, options.listener);
  const extra = options.extra.map(createEmbedderTransform);
  const transforms = [guard, meter, stops, ...extra, delivery, renderer, sink].filter(
    (transform) => transform !== undefined,
  );
  // A copy is exactly as long as it is: what grew has room for 17, of every open stream.
  return { transforms: transforms.slice(), guard, meter, stops, delivery };
}
