// A request for embeddings, independent of its wire format.
import type { EmbeddingModel, Route } from '../../catalog/model.ts';
import type { RequestSpending } from '../spending.ts';

export interface EmbeddingRequest {
  /** As the client wrote it: an id or an alias. */
  readonly model: string;
  /** Empty if there are `tokens`. */
  readonly inputs: readonly string[];
  /** Inputs that the client has cut into tokens. */
  readonly tokens?: readonly (readonly number[])[];
  readonly dimensions: number | undefined;
  /** How the client wants its vectors: as numbers, or as base64 of little-endian floats of 32 bits. */
  readonly encoding: 'float' | 'base64';
  readonly spending?: RequestSpending;
  /** Computed with the request if it was parsed on the thread. */
  readonly estimate?: EmbeddingEstimate;
}

/** Tokens of all inputs, before any model has counted them. */
export interface EmbeddingEstimate {
  /** What the hold covers. */
  readonly held: number;
  /** What is billed if the upstream does not count. */
  readonly billed: number;
  /** The most that an upstream's count is believed. */
  readonly max: number;
}

/** Inputs that are tokens go only to providers that take them. */
export function listSuitableRoutes(
  { routes, tokens: takesTokens }: EmbeddingModel,
  { tokens }: Pick<EmbeddingRequest, 'tokens'>,
): readonly Route[] {
  if (!tokens) return routes;
  return takesTokens ? routes.filter(({ provider }) => provider.embedsTokens) : [];
}
