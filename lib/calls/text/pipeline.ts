// The way of a text answer: the one list of what happens to its parts, in order.
import type { PromptTokens } from '../../money/price.ts';
import { createGuard, type Guard, type GuardOptions } from '../../stream/guard.ts';
import { createMeter, type Meter, type MeterOptions } from '../../stream/meter.ts';
import type { StreamPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';
import { createStops, type Stops, type StopsOptions } from '../../stream/stops.ts';
import { createDelivery, type Delivery, type DeliveryOptions } from './delivery.ts';
import { createSink, type TextOutput } from './output.ts';
import { createProgress, type ProgressOptions } from './progress.ts';

/** Makes a transform of an embedder's for one answer: it sees every part between the guard and the delivery. */
export type CreateTransform = () => Transform<StreamPart>;

export interface TextPipelineOptions<Out> {
  readonly progress: ProgressOptions;
  readonly guard: GuardOptions;
  readonly meter: MeterOptions;
  /** Absent for a call without stop strings. */
  readonly stops?: StopsOptions | undefined;
  readonly extra: readonly CreateTransform[];
  readonly delivery: Omit<DeliveryOptions, 'prompt'>;
  /** The prompt as it is billed, where that is not as it is counted. */
  readonly promptAsBilled?: ((counted: PromptTokens) => PromptTokens) | undefined;
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
  const guard = createGuard(options.guard);
  const meter = createMeter(options.meter);
  const stops = options.stops && createStops(options.stops);
  const { promptAsBilled } = options;
  const prompt = () => promptAsBilled?.(meter.promptSoFar()) ?? meter.promptSoFar();
  const delivery = createDelivery({ ...options.delivery, prompt });
  const transforms = [
    createProgress(options.progress),
    guard,
    meter,
    stops,
    ...options.extra.map((create) => create()),
    delivery,
    options.output.renderer,
    createSink(options.output),
  ].filter((transform) => transform !== undefined);
  return { transforms, guard, meter, stops, delivery };
}
