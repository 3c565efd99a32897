// The part of the contract about embeddings, vectors that stand for texts: types only.
import type { ProviderCall } from './call.ts';
import type { HostRequest, JsonObject } from './request.ts';

/** A request for one vector per input, independent of any wire format. */
export interface EmbedCall extends ProviderCall {
  /** 1 to 2,048 texts, none of them empty. Empty only if the call has `tokens`. */
  readonly inputs: readonly string[];
  /**
   * Instead of `inputs`: texts that the client has cut into tokens itself, as ids of the model's own tokenizer. Only for
   * a provider with `embedsTokens`.
   */
  readonly tokens?: readonly (readonly number[])[];
  /** How many numbers each vector should have; absent if the client leaves it to the model. */
  readonly dimensions?: number;
}

/**
 * One vector per input, in their order. The gateway refuses another number of vectors, vectors of different lengths,
 * and numbers that are not finite, with a `protocol` fault.
 */
export interface Embeddings {
  readonly vectors: readonly Vector[];
  /** Tokens of all inputs as the vendor counts them; absent if it does not say, so that the gateway estimates them. */
  readonly inputTokens?: number;
}

export type Vector = readonly number[] | Float32Array;

/** A wire format of embeddings, so that a plugin only states what its upstream does differently. */
export interface EmbeddingsFormat {
  body(call: EmbedCall): JsonObject;
  /** Reads one reply. Throws if it has no vectors, or describes an error. */
  read(reply: unknown): Embeddings;
}

/** How an upstream is asked for vectors. */
export interface EmbedRequest extends Omit<HostRequest, 'body'> {
  readonly url: string;
  readonly format: EmbeddingsFormat;
  /** How many inputs the vendor takes at once: more are sent in several requests. Default: all. */
  readonly inputsMax?: number;
}
