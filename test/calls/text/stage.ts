// A text engine on a real store, with providers that a test writes: what comes out, and what it costs.
import { getEventListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccounts } from '../../../lib/accounts/accounts.ts';
import type { Ending } from '../../../lib/calls/ending.ts';
import { createRouteHealth, type RouteHealth } from '../../../lib/calls/health.ts';
import { createPaidCalls } from '../../../lib/calls/paid.ts';
import type { TextTimeouts } from '../../../lib/calls/text/attempt.ts';
import { createTextEngine } from '../../../lib/calls/text/engine.ts';
import type { TextOutput, TextSink } from '../../../lib/calls/text/output.ts';
import type { TextRequest } from '../../../lib/calls/text/request.ts';
import { buildCatalog, type Catalog } from '../../../lib/catalog/catalog.ts';
import type { OpenUpstream } from '../../../lib/catalog/model.ts';
import { verifyLedger } from '../../../lib/ledger/audit.ts';
import { createLedger } from '../../../lib/ledger/ledger.ts';
import type { Attempt } from '../../../lib/money/attempt.ts';
import type { Charge, Wallet } from '../../../lib/money/decide.ts';
import type { Micro } from '../../../lib/money/money.ts';
import { openStore } from '../../../lib/store/open.ts';
import type { Store } from '../../../lib/store/store.ts';
import { createCollector } from '../../../lib/stream/collect.ts';
import type { StreamPart } from '../../../lib/stream/part.ts';
import type { Provider, TextCall } from '../../../lib/upstream/contract/provider.ts';

export type TextProvider = NonNullable<Provider['text']>;

/** What a route does when it is asked; anything, so that a test can hand over what no type would let through. */
export type Answer = (call: TextCall, signal: AbortSignal) => unknown;

export interface CallOptions {
  /** One route each, in order. */
  readonly routes: readonly Answer[];
  readonly delivery?: 'stream' | 'buffered';
  /** What the catalog says that the model's upstream adds to each prompt. */
  readonly upstreamAdditions?: number;
  /** False for a reply that is collected. */
  readonly live?: boolean;
  readonly request?: Partial<TextRequest>;
  readonly timeouts?: Partial<TextTimeouts>;
  /** How the model delivers that looks at images; without it there is none. */
  readonly vision?: 'stream' | 'buffered';
  /** Whether the model and its routes call tools. */
  readonly tools?: boolean;
  /** The balance of the new account that calls; a call can also go on with an account. */
  readonly balance?: Micro;
  readonly account?: string;
  /** What earlier calls have shown of the routes. */
  readonly health?: RouteHealth;
  readonly controller?: AbortController;
  /** Sees what is written, as it is written. */
  readonly onWrite?: (parts: readonly StreamPart[]) => Promise<void> | undefined;
  readonly onOpen?: () => void;
  /** Called when the hold has been asked for. */
  readonly onHold?: () => void;
}

export interface CallResult {
  readonly account: string;
  /** What was written to the output, in order. */
  readonly parts: readonly StreamPart[];
  readonly text: string;
  readonly opened: number;
  readonly ended: number;
  readonly beats: number;
  /** What the call rejected with. */
  readonly thrown: unknown;
  /** What each route was asked, in order. */
  readonly asked: readonly number[];
  readonly warnings: readonly object[];
  /** The first fragment, that the request is spent, and the end of each attempt, as they were told. */
  readonly events: readonly string[];
  readonly notes: Readonly<Record<string, unknown>>;
  readonly charge: Charge | undefined;
  readonly attempts: readonly Attempt[];
  readonly wallet: Wallet;
  readonly ms: number;
}

/** Input tokens that the prompt of the stage is estimated at. */
export const PROMPT_TOKENS = 5;
export const MAX_TOKENS = 1000;

/** What a charge keeps of its tokens, and of how it came about. */
export const usageJson = (input: number, output: number, facts: object = {}) =>
  JSON.stringify({ tokens_input: input, tokens_output: output, ...facts });

/** 1000 RUB per 1M input tokens and 5000 per 1M output tokens, the minimum included. */
export function cost({ input = PROMPT_TOKENS, output }: { input?: number; output: number }): Micro {
  const exact = BigInt(input) * 1000n + BigInt(output) * 5000n;
  return exact < 500_000n ? 500_000n : exact;
}

export const RESERVE = cost({ output: MAX_TOKENS });
export const BALANCE: Micro = 1_000_000_000n;

const REQUEST: TextRequest = {
  model: 'model-a',
  system: undefined,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
  messageCount: 1,
  images: 0,
  maxTokens: MAX_TOKENS,
  stream: true,
};

/** Longer than a busy machine keeps a process waiting. */
const PATIENCE_MS = 40_000;
const TIMEOUTS: TextTimeouts = {
  firstTokenTimeoutMs: PATIENCE_MS,
  idleTimeoutMs: PATIENCE_MS,
  totalTimeoutMs: PATIENCE_MS,
};

export class Stage {
  readonly #folder = mkdtempSync(join(tmpdir(), 'tollgate-text-'));
  #store: Store | undefined;
  #count = 0;

  get store(): Store {
    if (!this.#store) throw new Error('the stage is not open');
    return this.#store;
  }

  async open(): Promise<void> {
    this.#store = await openStore(`sqlite:${join(this.#folder, 'test.db')}`, { inProcess: true });
  }

  async close(): Promise<void> {
    await this.store.close();
    rmSync(this.#folder, { recursive: true });
  }

  async account(balance: Micro = BALANCE): Promise<string> {
    const { id } = await createAccounts({ store: this.store, keyPrefix: 'tg-' }).create('test');
    // The first payment has a minimum; what is above the balance wanted is taken out again.
    const at = Date.now();
    const topup = { kind: 'topup', wallet: id, at, amount: BALANCE, paymentId: id } as const;
    await this.store.ledger.apply([topup]);
    const amount = balance - BALANCE;
    const adjust = { kind: 'adjust', wallet: id, at, amount, adjustId: id, reason: 'test' } as const;
    if (amount !== 0n) await this.store.ledger.apply([adjust]);
    return id;
  }

  async call(options: CallOptions): Promise<CallResult> {
    const account = options.account ?? (await this.account(options.balance));
    this.#count += 1;
    const requestId = `req_${this.#count}`;
    const asked: number[] = [];
    const warnings: object[] = [];
    const events: string[] = [];
    const notes: Record<string, unknown> = {};
    const note = (fields: object) => void Object.assign(notes, fields);
    const warn = (fields: object) => void warnings.push(fields);
    const releaseRequest = () => void events.push('released');
    const onFirst = () => void events.push('first');
    const onAttempt = (upstream: string, { type }: Ending) => void events.push(`${upstream}: ${type}`);
    const { store } = this;
    const ledger = createLedger({
      ...{ store, ownerId: 'me', leaseMs: 60_000, answerWithinMs: PATIENCE_MS },
      log: { warn, error: warn },
    });
    const hold: typeof ledger.hold = (request) => {
      const held = ledger.hold(request);
      options.onHold?.();
      return held;
    };
    const catalog = catalogOf(options, (route) => void asked.push(route));
    const timeouts = { ...TIMEOUTS, ...options.timeouts };
    const engine = createTextEngine({
      catalog: () => catalog,
      paidCalls: createPaidCalls({ ...ledger, hold }),
      timeouts,
      health: options.health ?? createRouteHealth(),
      onAttempt,
    });
    const { signal } = options.controller ?? new AbortController();
    const log = { debug: () => undefined, warn, error: warn, note };
    const context = { requestId, accountId: account, keyId: 'key', signal, onFirst, releaseRequest, log };
    const { output, seen } = outputOf(options);
    const startedAt = performance.now();
    const thrown = await engine.run({ ...REQUEST, ...options.request }, context, output).then(
      () => undefined,
      (error: unknown) => error,
    );
    const ms = performance.now() - startedAt;
    if (getEventListeners(signal, 'abort').length > 0) throw new Error('a listener is left on the signal of the call');
    const charge = await store.ledger.charge(requestId);
    const attempts = await store.attempts.list([requestId]);
    const wallet = (await store.ledger.wallet(account)) as Wallet;
    const told = { thrown, asked, warnings, events, notes };
    return { account, ...seen, text: textOf(seen.parts), ...told, charge, attempts, wallet, ms };
  }

  /** Fails when the ledger does not add up or something is still held. */
  async check(): Promise<void> {
    const report = await verifyLedger(this.store);
    if (!report.ok) throw new Error(`the ledger does not add up: ${JSON.stringify(report.problems)}`);
    for (const { id } of await this.store.accounts.list()) {
      const wallet = await this.store.ledger.wallet(id);
      if (wallet?.held !== 0n) throw new Error(`${wallet?.held} is still held in ${id}`);
    }
  }
}

/** What the catalog says of a model that can do nothing but text. */
export const NO_ABILITIES = {
  vision: false,
  tools: false,
  demands: false,
  json: false,
  schema: false,
  reasoning: false,
} as const;

/** What the vendor of each route charges: a tenth of the price. */
const COST = { currency: 'RUB', input: '100', output: '500' };

function catalogOf(
  { routes, delivery = 'stream', upstreamAdditions, vision, tools = false }: CallOptions,
  onAsk: (route: number) => void,
): Catalog {
  const providers = new Map<string, OpenUpstream>();
  for (const [index, answer] of routes.entries()) {
    const text = (call: TextCall, signal: AbortSignal) => {
      onAsk(index);
      return answer(call, signal) as ReturnType<TextProvider>;
    };
    providers.set(`up-${index}`, { provider: { text, tools }, origin: undefined });
  }
  const names = [...providers.keys()];
  const model = {
    id: 'model-a',
    aliases: [],
    type: 'text',
    provider: 'Test',
    order: 'listed',
    delivery,
    ...(upstreamAdditions !== undefined && { upstreamAdditions }),
    ...NO_ABILITIES,
    tools,
    price: { input: '1000', output: '5000' },
    routes: names.map((upstream) => ({ upstream, model: 'up-model', options: {}, cost: COST })),
  } as const;
  const seeing = vision ? [{ ...model, id: 'sight', vision: true, delivery: vision }] : [];
  return buildCatalog(
    {
      upstreams: Object.fromEntries(names.map((name) => [name, { plugin: 'test', settings: {}, sandbox: false }])),
      payments: {},
      models: [model, ...seeing],
      smart: { lite: [], standard: [], heavy: [] },
      vision: seeing.map(({ id }) => id),
      defaults: { image: [], edit: [] },
      retired: {},
    },
    providers,
  );
}

function outputOf({ live = true, onOpen, onWrite }: CallOptions) {
  const parts: StreamPart[] = [];
  const seen = { parts, opened: 0, ended: 0, beats: 0 };
  const collector = createCollector();
  const sink: TextSink = {
    open() {
      seen.opened += 1;
      onOpen?.();
    },
    push(written) {
      if (seen.opened !== 1 || seen.ended > 0) throw new Error('written outside the answer');
      if (!live) collector.write(written);
      for (const part of written) parts.push(part);
      const wait = onWrite?.(written);
      return wait ? [wait] : [];
    },
    heartbeat() {
      seen.beats += 1;
    },
    close() {
      seen.ended += 1;
      if (!live) collector.reply();
    },
  };
  const output: TextOutput = { live, sink };
  return { output, seen };
}

function textOf(parts: readonly StreamPart[]): string {
  return parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
}

export const START: StreamPart = { type: 'start', id: 'up_1', model: 'up-model' };
export const OPEN: StreamPart = { type: 'block-start', index: 0, block: { type: 'text' } };
export const CLOSE: StreamPart = { type: 'block-end', index: 0 };
export const FINISH: StreamPart = { type: 'finish', reason: 'stop' };
export const delta = (text: string): StreamPart => ({ type: 'block-delta', index: 0, text });
export const usage = (input?: number, output?: number): StreamPart => ({
  type: 'usage',
  ...(input !== undefined && { input }),
  ...(output !== undefined && { output }),
});

/** Yields arrays; an error among them is thrown, a promise awaited, a function called with the signal and awaited. */
export function playing(...steps: readonly unknown[]): Answer {
  return (_call, signal) =>
    (async function* () {
      for (const step of steps) {
        if (step instanceof Error) throw step;
        if (typeof step === 'function') await step(signal);
        else if (step instanceof Promise) await step;
        else yield step;
      }
    })();
}

/** A whole answer. */
export function whole(text: string, counts: { input?: number; output?: number } = {}): Answer {
  const words = text.split(/(?<= )/).map(delta);
  return playing([START, OPEN], ...words.map((word) => [word]), [CLOSE, usage(counts.input, counts.output), FINISH]);
}

export const hang = () => new Promise<never>(() => undefined);
export const never: Answer = playing(hang);

/** What a provider throws, by its shape. */
export function upstreamError(kind: string): Error {
  return Object.assign(new Error(`${kind}: the secret words of an upstream`), { name: 'UpstreamFault', kind });
}
