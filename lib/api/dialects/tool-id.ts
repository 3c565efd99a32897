// Tool call ids as clients see them: the state an upstream wants back with a call travels in its id, the one field that
// every client preserves.
import { Buffer } from 'node:buffer';

/** Separates id and state; clients and upstreams accept letters, digits, `_` and `-`. */
const MARK = '__state_';

export interface CallId {
  readonly id: string;
  readonly state?: string;
}

export function toWireId({ id, state }: CallId): string {
  return state === undefined ? id : `${id}${MARK}${Buffer.from(state).toString('base64url')}`;
}

export function readWireId(wire: string): CallId {
  const at = wire.indexOf(MARK);
  if (at <= 0) return { id: wire };
  return { id: wire.slice(0, at), state: Buffer.from(wire.slice(at + MARK.length), 'base64url').toString() };
}
