// Where a text answer goes: a stream to the client, or a collector.
import type { StreamPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';

export interface TextOutput<Out = StreamPart> {
  /** True if what is written is on its way to the client and cannot be taken back. */
  readonly live: boolean;
  /**
   * Makes of parts what is written; without one the parts themselves are. It takes `start`, `usage`, blocks, then
   * `usage`, `finish`, `billing`, or an `error` at any point.
   */
  readonly renderer?: Transform<StreamPart, Out> | undefined;
  readonly sink: TextSink<Out>;
}

/** The last step of an answer: writes what arrives. */
export interface TextSink<Out = StreamPart> {
  /** The hold is made: a stream sends its status and headers now. */
  open(): void;
  /**
   * Returns a promise if the client reads more slowly than this arrives. Throws the fault of an `error` if not live.
   */
  push(batch: readonly Out[]): readonly Promise<void>[];
  /** The answer goes on: a stream that has sent nothing since the last time shows that it is alive. */
  heartbeat(): void;
  /** Nothing follows. */
  close(): void;
}

/** Writes parts that the gateway adds to an answer. */
export function writeParts<Out>({ renderer, sink }: TextOutput<Out>, parts: readonly StreamPart[]): void {
  sink.push(renderer ? renderer.push(parts) : (parts as readonly unknown[] as readonly Out[]));
}
