// Checks of a plugin without network: it answers by itself, in the grammar, and stops when aborted.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EmbedCall, ImageCall, Provider, TextCall, VideoCall } from '../contract/provider.ts';
import { createProvider } from '../host/settings.ts';
import { describeMedia, observeEmbed, observeImage, observeStart, observeText, type Place } from './outcome.ts';
import { withIdleLimit } from './patience.ts';
import type { Check, Subject } from './subject.ts';

const TEXT: TextCall = {
  model: 'standard',
  system: [{ type: 'text', text: 'Be short.' }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello, who is there?' }] }],
  maxTokens: 1024,
  options: {},
};

const EMBED: EmbedCall = { model: 'standard', inputs: ['Hello, who is there?', 'A red square'], options: {} };

const IMAGE: ImageCall = { model: 'standard', prompt: 'A red square', images: [], options: {} };

const VIDEO: VideoCall = {
  model: 'standard',
  prompt: 'A red square turns',
  seconds: 5,
  size: { width: 1280, height: 720 },
  aspect: '16:9',
  resolution: '720p',
  options: {},
};

/** It needs neither an address nor a key. */
const PLACE: Place = { origin: 'http://127.0.0.1:9', key: 'no key at all' };

const ENDED_WITHIN_MS = 100;
const POLLS_MAX = 500;
const POLL_MS = 10;

export function localChecks({ plugin }: Subject): readonly Check[] {
  const open = () => createProvider({ plugin, upstream: 'check', settings: {}, log: { warn() {} } }).provider;
  const provider = open();
  const checks: [group: string, name: string, run: () => Promise<void>][] = [];
  if (provider.text) {
    checks.push(
      ['calls', 'end with text, a finish and usage', () => answers(open())],
      ['calls', 'are cut at the limit of tokens', () => isCut(open())],
      ['calls', 'end at once on abort', () => endsOnAbort(open())],
    );
  }
  if (provider.embed) checks.push(['embeddings', 'are vectors, the same every time', () => checkVectors(open())]);
  if (provider.image) checks.push(['images', 'are images', () => checkImages(open())]);
  if (provider.video) checks.push(['videos', 'come to their end in another process', () => checkVideo(open(), open())]);
  return checks.map(([group, name, run]) => ({ group, name, run }));
}

type Text = NonNullable<Provider['text']>;

async function answers(provider: Provider): Promise<void> {
  const text = provider.text?.bind(provider) as Text;
  const { text: answer, finish, usage, fault } = await observeText((signal) => text(TEXT, signal));
  assert.equal(fault, undefined);
  assert.notEqual(finish, undefined);
  assert(answer.length > 0 && (usage.input ?? 0) > 0 && (usage.output ?? 0) > 0, JSON.stringify(usage));
}

async function isCut(provider: Provider): Promise<void> {
  const text = provider.text?.bind(provider) as Text;
  const { finish, usage } = await observeText((signal) => text({ ...TEXT, maxTokens: 3 }, signal));
  assert.equal(finish, 'length');
  assert(usage.output !== null && usage.output <= 3, 'more output than allowed');
}

async function endsOnAbort(provider: Provider): Promise<void> {
  const controller = new AbortController();
  const iterator = (provider.text as Text).call(provider, TEXT, controller.signal)[Symbol.asyncIterator]();
  await iterator.next();
  controller.abort(new Error('aborted by the check'));
  await withIdleLimit(ENDED_WITHIN_MS, async (late) => {
    while (!(await iterator.next().catch(() => ({ done: true }))).done) {
      assert(!late.aborted, 'the call goes on after its abort');
    }
  });
}

async function checkVectors(provider: Provider): Promise<void> {
  const embed = provider.embed?.bind(provider) as NonNullable<Provider['embed']>;
  const observe = () => observeEmbed((signal) => embed(EMBED, signal), EMBED);
  const [first, second] = [await observe(), await observe()];
  assert.equal(first.fault, undefined, first.detail);
  assert.deepEqual(first.vectors, second.vectors);
}

async function checkImages(provider: Provider): Promise<void> {
  const image = provider.image?.bind(provider) as NonNullable<Provider['image']>;
  const { images, fault } = await observeImage((signal) => image(IMAGE, signal), PLACE);
  assert.equal(fault, undefined);
  assert(images.length > 0);
}

async function checkVideo(one: Provider, other: Provider): Promise<void> {
  const { ref, fault } = await observeStart((signal) => video(one).start(VIDEO, signal), PLACE);
  assert(ref, `the job was not started: ${fault}`);
  const signal = AbortSignal.timeout(2 * POLL_MS * POLLS_MAX);
  for (let polls = 0; polls < POLLS_MAX; polls += 1) {
    const state = await video(other).poll(JSON.parse(JSON.stringify(ref)), signal);
    assert.notEqual(state.status, 'failed');
    if (state.status === 'completed') return void describeMedia(state.result, PLACE);
    await sleep(POLL_MS, undefined, { signal });
  }
  assert.fail(`the job is not completed after ${POLLS_MAX} polls`);
}

function video(provider: Provider): NonNullable<Provider['video']> {
  return provider.video as NonNullable<Provider['video']>;
}
