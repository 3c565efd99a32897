// Tool call ids as clients see them: the state an upstream wants back with a call travels in its id, the one field that
// every client preserves.
import { Buffer } from 'node:buffer';
import type { BlockState } from '../../stream/provider-part.ts';

/** Separates id and state; clients and upstreams accept letters, digits, `_` and `-`. */
const MARK = '__state_';

interface CallId {
  readonly id: string;
  readonly state?: BlockState | undefined;
}

export function toWireId({ id, state }: CallId): string {
  if (state === undefined) return id;
  return `${id}${MARK}${Buffer.from(`${state.format}:${state.value}`).toString('base64url')}`;
}

export function readWireId(wire: string): CallId {
  const at = wire.indexOf(MARK);
  if (at <= 0) return { id: wire };
  const state = Buffer.from(wire.slice(at + MARK.length), 'base64url').toString();
  // The ids of earlier versions had the state alone, and only the contents format had any.
  return { id: wire.slice(0, at), state: readState(state, 'contents') };
}

/** A plugin chooses the name of its format. */
const NAMED = /^([a-z][a-z0-9._-]*):([\s\S]*)$/;

/** `format:value`; a state that names no format is of `unnamed`. */
export function readState(text: string, unnamed: string): BlockState {
  const [, format = unnamed, value = text] = NAMED.exec(text) ?? [];
  return { format, value };
}

/** As `readState` reads it: without its format if that is `unnamed` and the value does not look as if it named one. */
export function writeState({ format, value }: BlockState, unnamed: string): string {
  return format === unnamed && !NAMED.test(value) ? value : `${format}:${value}`;
}
