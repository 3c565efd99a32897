// The thread that parses long text requests, one at a time.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { isFault } from '../faults.ts';
import { checkJson, parseText } from '../http/json.ts';
import { estimateInput } from '../text/estimate.ts';
import { chatDialect } from './dialects/chat/dialect.ts';
import { messageDialect } from './dialects/message/dialect.ts';
import { cutRequest, memoryOf, type ParseOrder, type ParseReply, type Step } from './text-parts.ts';

const DIALECTS = { message: messageDialect, chat: chatDialect };

// On Linux it is that of this thread alone: where cores are few, those who call come first.
if (process.platform === 'linux') setPriority(10);

let groups: Generator<readonly Step[]> | undefined;

parentPort?.on('message', async (order: ParseOrder) => {
  const reply = await answer(order);
  parentPort?.postMessage(reply, 'steps' in reply ? memoryOf(reply.steps) : []);
});

async function answer(order: ParseOrder): Promise<ParseReply> {
  if (order === 'next') {
    const { value: steps = [], done } = groups?.next() ?? { done: true };
    if (done) groups = undefined;
    return { steps, more: !done };
  }
  try {
    const whole = readRequest(order);
    const cut = cutRequest(whole);
    groups = cut.groups;
    return { request: { ...cut.request, input: await estimateInput(whole) }, more: true };
  } catch (error) {
    if (!isFault(error) || !error.data) return { error };
    return { fault: { code: error.data.code, detail: error.data.detail } };
  }
}

function readRequest({ dialect, bytes }: Exclude<ParseOrder, string>) {
  const text = checkJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  // Freed at once: a collection of garbage may come late.
  (bytes.buffer as ArrayBuffer).transfer(0);
  return DIALECTS[dialect].parse(parseText(text));
}
