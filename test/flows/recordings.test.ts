// Every recording of every shipped adapter through the whole gateway: the right text, ending and charge, in both
// dialects, streaming and not.
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { estimateTokens } from '../../lib/calls/text/tokens.ts';
import { textCost } from '../../lib/money/price.ts';
import { TOKENS_PER_IMAGE, TOKENS_PER_IMAGE_LEAST } from '../../lib/stream/image-tokens.ts';
import { loadRecordings, type Recording, type TextRecording } from '../../lib/upstream/check/recording.ts';
import { type Pacing, type Replay, startReplay } from '../../lib/upstream/check/replay.ts';
import { settingsAt } from '../../lib/upstream/check/stage.ts';
import type { ProviderPlugin } from '../../lib/upstream/contract/provider.ts';
import {
  CHAT,
  DIALECTS,
  joinText,
  MESSAGES,
  parseEvents,
  RESPONSES,
  type Reply,
  readResponseText,
  send,
} from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { longer } from '../../testkit/long.ts';

const PROVIDERS = fileURLToPath(new URL('../../providers/', import.meta.url));
/** Cuts at all places with the same remainder share an answer, each chunk in its own turn. */
const STRIDES = 8;
/** So much that every token shows above the minimum charge. */
const PRICE = { input: 1_000_000_000_000n, output: 3_000_000_000_000n };

interface Suite {
  readonly plugin: ProviderPlugin;
  readonly recordings: readonly TextRecording[];
}

const suites: readonly Suite[] = await Promise.all(
  readdirSync(PROVIDERS)
    .map((name) => ({ name, recordings: loadRecordings(`${PROVIDERS}${name}`).filter(isOfWords) }))
    .filter(({ recordings }) => recordings.length > 0)
    .map(async ({ name, recordings }) => ({
      plugin: (await import(`${PROVIDERS}${name}/index.ts`)).default,
      recordings,
    })),
);

/** Images come to the gateway in other shapes than to an adapter. */
function isOfWords(recording: Recording): recording is TextRecording {
  if (recording.kind !== 'text') return false;
  return recording.call.messages.every(({ content }) => content.every(({ type }) => type === 'text'));
}

describe('recordings through the gateway', () => {
  let replay: Replay;
  let gateway: TestGateway;
  let account: TestAccount;

  before(async () => {
    replay = await startReplay();
    gateway = await startGateway({ catalog: buildCatalog(replay.origin) });
    account = await gateway.account('999999999');
  });
  after(async () => {
    await gateway.checkMoney();
    await gateway.stop();
    await replay.close();
  });

  for (const { plugin, recordings } of suites) {
    describe(plugin.name, () => {
      for (const [at, recording] of recordings.entries()) {
        for (const path of DIALECTS) {
          for (const stream of [false, true]) {
            // In `npm test` every fourth goes one of its six ways.
            const way = 2 * DIALECTS.indexOf(path) + (stream ? 1 : 0);
            if (longer(at % (8 * DIALECTS.length) !== 4 * way, false)) continue;
            it(`${recording.name}: ${path.slice('/api/v1/'.length)}${stream ? ', streaming' : ''}`, () =>
              check(recording, { path, stream, model: modelId(plugin, at) }));
          }
        }
      }
    });
  }

  for (const { plugin, recordings } of suites) {
    describe(`${plugin.name}, however its bytes are cut into reads`, () => {
      for (const [at, recording] of recordings.entries()) {
        if (longer(at % 40 !== 0, false)) continue;
        const model = modelId(plugin, at);
        it(`${recording.name}: the same text, ending and charge`, async () => {
          const places = Array.from({ length: recording.reply.body.length }, (_, place) => place);
          const ways: Pacing[] = [{ cuts: places, together: true }];
          for (let stride = 0; stride < STRIDES; stride += longer(STRIDES, 1)) {
            ways.push({ cuts: places.filter((place) => place % STRIDES === stride) });
          }
          for (const pacing of ways) {
            for (const stream of [true, false]) await check(recording, { path: CHAT, stream, model }, pacing);
          }
        }).timeout(60_000);

        if (recording.expect.finish === undefined || fails(recording) || recording.reply.end === 'reset') continue;
        it(`${recording.name}: the same answer or a failure where it is cut short`, async () => {
          const { length } = recording.reply.body;
          for (let cut = 1; cut < length; cut += Math.ceil(length / longer(10, 25)))
            await checkCutShort(recording, model, cut);
        }).timeout(60_000);
      }
    });
  }

  /** Without its finish it is refunded; with it, it is the whole answer or lacks what came after. */
  async function checkCutShort(recording: TextRecording, model: string, length: number): Promise<void> {
    const { text = '', finish = 'other' } = recording.expect;
    replay.play({ before: recording.before, reply: recording.reply, pacing: { length } });
    const body = buildBody(recording, { path: CHAT, stream: false, model });
    const reply = await send(gateway.url + CHAT, { key: account.key, body });
    const charge = await gateway.store.ledger.charge(String(reply.headers['x-request-id']));
    if (reply.status === 502) {
      expect(reply.json.error.message).to.contain('Charge refunded');
      expect(charge?.charged).to.equal(0n);
      return;
    }
    const [choice] = reply.json.choices;
    expect(text.startsWith(choice.message.content), `${length} bytes: ${choice.message.content}`).to.equal(true);
    expect(choice.finish_reason, `${length} bytes`).to.equal(STOPS[finish]?.[1]);
    expect((charge?.charged ?? 0n) > 0n).to.equal(true);
  }

  async function check(
    recording: TextRecording,
    way: Way & { readonly model: string },
    pacing: Pacing = {},
  ): Promise<void> {
    replay.play({ before: recording.before, reply: recording.reply, pacing });
    const reply = await send(gateway.url + way.path, { key: account.key, body: buildBody(recording, way) });
    checkReply(recording, reply, way);
    const charge = await gateway.store.ledger.charge(String(reply.headers['x-request-id']));
    const wanted = wantedCharge(recording, way);
    if (wanted === 'something') expect((charge?.charged ?? 0n) >= 500_000n).to.equal(true);
    else expect(charge?.charged, inspect(charge)).to.equal(wanted);
  }
});

function modelId({ name }: ProviderPlugin, at: number): string {
  return `m-${name}-${at}`;
}

function buildCatalog(origin: string): object {
  const routes = suites.flatMap(({ plugin, recordings }) =>
    recordings.map(({ settings, options, call }, at) => ({
      id: modelId(plugin, at),
      plugin,
      settings,
      options,
      asked: call.model ?? 'm',
    })),
  );
  const upstreams = routes.map(({ id, plugin, settings }) => {
    return [id, { plugin: plugin.name, settings: settingsAt(origin, plugin, settings, 'recorded-key') }];
  });
  const models = routes.map(({ id, options, asked }) => ({
    id,
    type: 'text',
    provider: 'Test',
    routes: [{ upstream: id, model: asked, options }],
    price: { input: '1000000', output: '3000000' },
    // Their prompts were longer than what is sent here.
    upstreamAdditions: 1_000_000,
  }));
  return { upstreams: Object.fromEntries(upstreams), models };
}

interface Way {
  readonly path: string;
  readonly stream: boolean;
}

function buildBody({ call }: TextRecording, { path, stream, model }: Way & { model: string }): object {
  const system = call.system === undefined ? [] : [{ role: 'system', content: call.system }];
  const rest = { model, stream, max_tokens: call.maxTokens };
  if (path === MESSAGES) return { ...rest, messages: call.messages, ...(call.system && { system: call.system }) };
  return { ...rest, messages: [...system, ...call.messages] };
}

const STOPS: Readonly<Record<string, readonly [string, string]>> = {
  stop: ['end_turn', 'stop'],
  length: ['max_tokens', 'length'],
  filter: ['refusal', 'content_filter'],
  tool: ['end_turn', 'stop'],
  other: ['end_turn', 'stop'],
};

/** An answer without text, images and output tokens is a failure, whatever its ending. */
function fails({ expect: { fault, text = '', images = [], usage } }: TextRecording): boolean {
  return fault !== undefined || (text === '' && images.length === 0 && !usage?.output);
}

/** All but messages also deliver reasoning. */
function deliversAny({ expect: { text = '', reasoning = '', images = [] } }: TextRecording, path: string): boolean {
  return text !== '' || images.length > 0 || (path !== MESSAGES && reasoning !== '');
}

function checkReply(recording: TextRecording, reply: Reply, { path, stream }: Way): void {
  const { text = '', finish = 'other' } = recording.expect;
  const [stopReason, finishReason] = STOPS[finish] as readonly [string, string];
  if (!stream) {
    expect(reply.status, reply.text).to.equal(fails(recording) ? 502 : 200);
    if (fails(recording)) expect(reply.json.error.message).to.contain('Charge refunded');
    else if (path === MESSAGES) {
      expect(reply.json.content.map((block: { text?: string }) => block.text ?? '').join('')).to.equal(text);
      expect(reply.json.stop_reason).to.equal(stopReason);
    } else if (path === RESPONSES) {
      expect(readResponseText(reply.json)).to.equal(text);
      const isRefused = finish === 'filter' && reply.text.includes('"type":"refusal"');
      const isCut = finish === 'length' || (finish === 'filter' && !isRefused);
      expect(reply.json.status).to.equal(isCut ? 'incomplete' : 'completed');
    } else {
      expect(reply.json.choices[0].message.content).to.equal(text);
      expect(reply.json.choices[0].finish_reason).to.equal(finishReason);
    }
    return;
  }
  expect(reply.status).to.equal(200);
  const events = parseEvents(reply.text);
  expect(joinText(events)).to.equal(text);
  const failure = events.map(({ data }) => data?.response?.error ?? data?.error).find((error) => error);
  expect(failure !== undefined, reply.text).to.equal(fails(recording));
  const refunded = failure?.message.includes('Charge refunded');
  if (failure) expect(refunded).to.equal(!deliversAny(recording, path));
}

function wantedCharge(recording: TextRecording, { path, stream }: Way): bigint | 'something' {
  const { call, expect: wanted } = recording;
  const { text = '', reasoning = '', images = [], usage } = wanted;
  if (fails(recording) && (!stream || !deliversAny(recording, path))) return 0n;
  if (wanted.fault !== undefined && !usage) return 'something';
  const texts = [
    call.system?.map(({ text: said }) => said).join('\n\n') ?? '',
    ...call.messages.flatMap(({ content }) => content.map((part) => (part.type === 'text' ? part.text : ''))),
  ];
  const bytes = texts.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
  const messages = call.messages.length + (path !== MESSAGES && call.system !== undefined ? 1 : 0);
  const { audio = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0 } = usage ?? {};
  const prompt = (usage?.input ?? 0) + audio + cacheRead + cacheWrite + cacheWrite1h;
  const input = prompt > 0 ? prompt : Math.ceil(bytes / 4) + 4 * messages;
  const drawn = TOKENS_PER_IMAGE * images.length;
  const produced = Math.ceil(estimateTokens(reasoning + text)) + drawn;
  const counted = usage?.output ?? 0;
  // Where a count is too low to have them.
  const least = estimateTokens(text) / 2 + TOKENS_PER_IMAGE_LEAST * images.length;
  const reported = counted > 0 && counted - (usage?.reasoning ?? 0) < least ? counted + drawn : counted;
  const output = reported > 0 ? (wanted.fault ? Math.max(reported, produced) : reported) : produced;
  return textCost(PRICE, { input, output: Math.min(output, call.maxTokens) });
}
