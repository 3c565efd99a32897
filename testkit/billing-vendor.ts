// A vendor that keeps its own bill: it counts a word as a token, and charges for what it generated, whatever became of
// it.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Behaviour, chatChunk, chatEnd, SSE, startUpstream, type TestUpstream } from './upstream.ts';

/** Per 1M tokens, in micro-units of the currency. */
export const VENDOR_PRICE = { input: 1_000_000n, output: 4_000_000n };

/**
 * What the vendor does with a call, which its prompt names: `fine`; it refuses, fails, stays silent or says that it is
 * busy, once; it breaks off.
 */
export const VENDOR_MOODS = ['fine', 'refuse', 'fail', 'silent', 'busy', 'break'] as const;
export type VendorMood = (typeof VENDOR_MOODS)[number];

interface VendorBill {
  readonly calls: number;
  /** In micro-units. */
  readonly certain: bigint;
  /** Charged for calls that got nothing for it. */
  readonly doubtful: bigint;
  /** As an export with a line for each call. */
  readonly csv: string;
}

export interface BillingVendor {
  readonly upstream: TestUpstream;
  bill(): VendorBill;
}

interface BillLine {
  readonly id: string;
  readonly input: number;
  output: number;
  readonly isDoubtful: boolean;
}

const WORDS = 'the river runs past an old mill and a house where nobody lives now while birds sing in tall trees'.split(
  ' ',
);
const WORDS_PER_CHUNK = 8;

export async function startBillingVendor(): Promise<BillingVendor> {
  const lines: BillLine[] = [];
  /** The calls that had their failure. */
  const failed = new Set<string>();
  const add = (line: Omit<BillLine, 'id'>): BillLine => {
    const made = { id: `gen-${randomUUID()}`, ...line };
    lines.push(made);
    return made;
  };

  const behave: Behaviour = async (call) => {
    const { response, closed } = call;
    const prompt = readPrompt(call.body);
    const [, id = '', mood = 'fine', length = '10'] = /call (\d+) (\w+) (\d+)/.exec(prompt) ?? [];
    const input = countWords(prompt);
    const isFirst = !failed.has(id);
    failed.add(id);
    if (mood === 'refuse') return fail(response, 400);
    if (mood === 'busy' && isFirst) return fail(response, 429);
    if ((mood === 'fail' || mood === 'silent') && isFirst) {
      // Every other failure is on the bill.
      if (Number(id) % 2 === 0) add({ input, output: 0, isDoubtful: true });
      if (mood === 'fail') return fail(response, 503);
      return void (await closed);
    }
    const line = add({ input, output: 0, isDoubtful: false });
    response.writeHead(200, { ...SSE, 'x-request-id': line.id });
    let isOpen = true;
    closed.then(() => {
      isOpen = false;
    });
    const words = Number(length);
    const last = mood === 'break' ? Math.ceil(words / 2) : words;
    while (line.output < last && isOpen) {
      const some = Math.min(WORDS_PER_CHUNK, last - line.output);
      const text = Array.from({ length: some }, (_, at) => `${WORDS[(line.output + at) % WORDS.length]} `).join('');
      response.write(chatChunk(text));
      line.output += some;
      await sleep(1);
    }
    if (mood === 'break') return void response.destroy();
    response.end(chatEnd({ input, output: line.output }));
  };

  const upstream = await startUpstream(behave);
  return {
    upstream,
    bill: () => {
      const sum = (isDoubtful: boolean) =>
        lines.filter((line) => line.isDoubtful === isDoubtful).reduce((total, line) => total + price(line), 0n);
      const day = new Date().toISOString().slice(0, 10);
      const rows = lines.map(
        (line) => `${line.id},${day},${Number(price(line)) / 1e6},up-model,${line.input},${line.output}`,
      );
      const head = 'generation_id,created_at,cost_total,model_permaslug,tokens_prompt,tokens_completion';
      return { calls: lines.length, certain: sum(false), doubtful: sum(true), csv: [head, ...rows].join('\n') };
    },
  };
}

function price({ input, output }: BillLine): bigint {
  const exact = BigInt(input) * VENDOR_PRICE.input + BigInt(output) * VENDOR_PRICE.output;
  return (exact + 500_000n) / 1_000_000n;
}

function fail(response: Parameters<Behaviour>[0]['response'], status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"not now"}}');
}

function readPrompt({ messages }: Record<string, unknown>): string {
  const [message] = messages as readonly { readonly content: unknown }[];
  const { content } = message ?? {};
  return typeof content === 'string' ? content : ((content as readonly { text: string }[])[0]?.text ?? '');
}

function countWords(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

/** A prompt that asks for an answer of so many words. */
export function promptFor(id: number, mood: VendorMood, length: number): string {
  return `call ${id} ${mood} ${length} ${WORDS.join(' ')} ${WORDS.join(' ')}`;
}
