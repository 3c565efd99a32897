// The thread that parses long bodies, one at a time.
import { parentPort } from 'node:worker_threads';
import { isFault } from '../base/faults.ts';
import { checkJson, parseText } from '../http/json.ts';
import { FORMATS, type Format, type FormatName } from './formats.ts';
import { type Group, listTransfers } from './parts.ts';

/** Orders to the thread: parse a body, then send the next group of its steps. */
export type ParseOrder = { readonly format: FormatName; readonly bytes: Uint8Array } | 'next';

/** Replies of the thread: the request without its long parts, then the groups of steps that add them. */
export type PartReply = { readonly head: object } | { readonly group: Group; readonly more: boolean };

export type ParseReply =
  | PartReply
  | { readonly fault: { readonly code: string; readonly detail: object } }
  | { readonly error: unknown };

let groups: Iterator<Group> | undefined;

parentPort?.on('message', async (order: ParseOrder) => {
  const reply = await answer(order);
  parentPort?.postMessage(reply, 'group' in reply ? listTransfers(reply.group) : []);
});

async function answer(order: ParseOrder): Promise<ParseReply> {
  if (order === 'next') {
    const { value: group = [], done } = groups?.next() ?? { done: true };
    if (done) groups = undefined;
    return { group, more: !done };
  }
  try {
    const format: Format = FORMATS[order.format];
    const cut = await format.cut(format.parse(readJson(order.bytes)));
    groups = cut.groups;
    return { head: cut.head };
  } catch (error) {
    if (!isFault(error) || !error.data) return { error };
    return { fault: { code: error.data.code, detail: error.data.detail } };
  }
}

function readJson(bytes: Uint8Array): unknown {
  const text = checkJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  // Freed at once: garbage collection may come late.
  (bytes.buffer as ArrayBuffer).transfer(0);
  return parseText(text);
}
