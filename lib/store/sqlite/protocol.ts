// The messages between the main thread and its workers. Imports nothing heavy: every worker loads it.
import type { ConnectionOptions } from './connection.ts';

export interface ThreadOptions {
  readonly role: 'writer' | 'reader' | 'scanner';
  readonly connection: ConnectionOptions;
}

/** What a thread can do, by name. */
export type Procedures = Record<string, (...args: never[]) => unknown>;

export type Request = readonly [id: number, name: string, args: readonly unknown[]];
export type Reply = readonly [id: number, value: unknown, failure?: Failure];

/** An error in transit between threads. */
export interface Failure {
  readonly message: string;
  readonly kind: 'operator' | 'no' | 'unknown';
  readonly blames: 'store' | 'batch';
  readonly cause: unknown;
}

/** Name of the request that ends a thread, and id of the reply that says it could not open its database. */
export const CLOSE = 'close';
export const NOT_OPENED = 0;
