// Where a text answer goes: a stream to the client, or a collector.
import type { StreamPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';

const NOTHING: readonly never[] = [];

/** What a writer returns that cannot take more for now. */
export type Pressure = Promise<void> | undefined;

export interface TextOutput<Out = StreamPart> {
  /** True if what is written is on its way to the client and cannot be taken back. */
  readonly live: boolean;
  /**
   * The last transform, which makes of parts what is written; without one the parts themselves are. It takes `start`,
   * `usage`, blocks, then `usage`, `finish`, `billing`, or an `error` at any point.
   */
  readonly renderer?: Transform<StreamPart, Out> | undefined;
  /** The hold is made: a stream sends its status and headers now. */
  open(): void;
  /** Throws the fault of an `error` if it is not live. */
  write(batch: readonly Out[]): Pressure;
  /** Nothing has arrived yet, but the connection is alive. */
  keepAlive(): void;
  /** Nothing follows. */
  end(): void;
}

/** The last step of an answer: writes what arrives, and passes on only that the client is slow. */
export function createSink<Out>(output: TextOutput<Out>): Transform<Out, Promise<void>> {
  return {
    push(batch) {
      const pressure = output.write(batch);
      return pressure ? [pressure] : NOTHING;
    },
  };
}

/** Writes parts that the gateway adds to an answer. */
export function writeParts<Out>(output: TextOutput<Out>, parts: readonly StreamPart[]): void {
  const { renderer } = output;
  output.write(renderer ? renderer.push(parts) : (parts as readonly unknown[] as readonly Out[]));
}
