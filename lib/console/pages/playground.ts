// The playground: one call for text, a vector, an image or a video, with its price shown before sending. Its input is neither
// stored nor logged.

import { fault, toFault } from '../../base/faults.ts';
import { describeVideo, findVideo } from '../../calls/videos/view.ts';
import { noteFault } from '../../http/reply.ts';
import { type RequestImage, releaseImages } from '../../media/reference.ts';
import { faultWords } from '../fault-words.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { readKeyOwners } from '../key-owners.ts';
import { isActive } from '../latest-keys.ts';
import { type Answer, type Page, page } from '../page.ts';
import {
  answerSection,
  conversationSection,
  describeTextOutcome,
  embeddingAnswer,
  imageAnswer,
  textAnswer,
  videoSection,
} from '../playground/answer.ts';
import {
  generateImage,
  generateText,
  makeEmbedding,
  refuseLongForm,
  startVideo,
  streamText,
  type TextEnding,
} from '../playground/call.ts';
import { type Conversation, NO_CONVERSATION, writeConversation, writeTranscript } from '../playground/conversation.ts';
import { findMistake, IMAGE_FIELD, type PlaygroundForm, readPlaygroundForm } from '../playground/fields.ts';
import { kindLinks, PLAYGROUND, playgroundForm, refusal, samples, sortOwnFirst } from '../playground/form.ts';
import { readFormImages } from '../playground/images.ts';
import { recentMedia } from '../playground/recent-media.ts';
import { WORDS } from '../playground/words.ts';
import { isVisibleVideo, listVisibleKeys } from '../visible-keys.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';

const WRITTEN = { written: true } as const;
const NO_IMAGES = { imageCount: 0, keptCalls: [], keptCount: 0 } as const;

export const playground = page({
  path: PLAYGROUND,
  who: 'account',
  get: (visit) => {
    const { query, language } = visit;
    const input = readPlaygroundForm(visit, (name) => query.get(name) ?? undefined);
    const prompt = query.has('prompt') ? input.prompt : WORDS[language].example[input.kind];
    return playgroundPage(visit, { ...input, prompt });
  },
  imageField: IMAGE_FIELD,
  beforeForm: (visit) => refuseUnread(visit),
  post(visit, form) {
    const input = readSubmittedForm(visit, form);
    if (form.text('do') === 'download') return downloadConversation(visit, input);
    if (form.text('do') !== 'send') return playgroundPage(visit, input);
    return tryCall(visit, { input, form }, (images) => send(visit, input, images));
  },
});

/** For the page's script: the answer as events; a refusal as a page that explains it. */
export const playgroundText = page({
  path: `${PLAYGROUND}/text`,
  who: 'account',
  formOn: PLAYGROUND,
  imageField: IMAGE_FIELD,
  beforeForm: (visit) => refuseUnread(visit),
  post(visit, form) {
    const input: PlaygroundForm = { ...readSubmittedForm(visit, form), kind: 'text' };
    return tryCall(visit, { input, form }, async (images) => {
      await streamText(visit, input, {
        inputImages: images,
        describeOutcome: (ending) => describeForScript(visit, input, ending),
      });
      return WRITTEN;
    });
  },
});

export const playgroundVideo = page({
  path: `${PLAYGROUND}/video`,
  who: 'account',
  async get(visit) {
    const { services, account, query, language } = visit;
    const job = await findVideo(services.store, { id: query.get('id') ?? '', account: account.id });
    if (!(await isVisibleVideo(visit, job))) throw fault('unknown_video');
    const body = videoSection(visit, job, describeVideo(job, services.results));
    return { title: WORDS[language].video, body };
  },
});

function readSubmittedForm(visit: OwnerVisit, form: Form): PlaygroundForm {
  const input = readPlaygroundForm(visit, (name) => (form.has(name) ? form.secret(name) : undefined));
  return form.files.length > 0 ? { ...input, imageCount: form.files.length - input.keptCount } : input;
}

async function send(visit: OwnerVisit, input: PlaygroundForm, images: readonly RequestImage[]): Promise<Answer> {
  switch (input.kind) {
    case 'text': {
      const reply = await generateText(visit, input, images);
      if (!reply) return WRITTEN;
      const { answer, conversation } = textAnswer(visit, input, reply);
      const next = { ...input, ...NO_IMAGES, prompt: '', conversation };
      return playgroundPage(visit, next, { answer, shown: input.conversation });
    }
    case 'embedding': {
      const made = await makeEmbedding(visit, input);
      return made ? playgroundPage(visit, input, { answer: embeddingAnswer(visit, made) }) : WRITTEN;
    }
    case 'image': {
      const image = await generateImage(visit, input, images);
      return image ? playgroundPage(visit, input, { answer: imageAnswer(visit, input, image) }) : WRITTEN;
    }
    case 'video': {
      const started = await startVideo(visit, input, images);
      return started ? { to: linkTo(visit, `${PLAYGROUND}/video?id=${started.id}`) } : WRITTEN;
    }
  }
}

/** Faults that a top-up fixes. */
const WALLET_FAULTS: ReadonlySet<string | undefined> = new Set(['never_topped_up', 'insufficient_balance']);

/** A refusal is shown on the page with the form still filled in. */
async function tryCall(
  visit: OwnerVisit,
  { input, form }: { readonly input: PlaygroundForm; readonly form: Form },
  work: (images: readonly RequestImage[]) => Promise<Answer>,
): Promise<Answer> {
  const { language } = visit;
  const refuse = (body: Html, status: number, again = input) =>
    playgroundPage(visit, again, { answer: answerSection(visit, { body }), status });
  // Browsers drop chosen files when the page is shown again; a call without them must not be charged.
  if (input.imageCount < 0 || input.imageCount + input.keptCount !== form.files.length)
    return refuse(refusal(visit, WORDS[language].mistakes.again), 400, { ...input, ...NO_IMAGES });
  const mistake = findMistake(input);
  if (mistake) return refuse(refusal(visit, WORDS[language].mistakes[mistake]), 400);
  let images: readonly RequestImage[] = [];
  try {
    images = readFormImages(form);
    return await work(images);
  } catch (error) {
    const { body, status } = describeRefusal(visit, error);
    return refuse(body, status);
  } finally {
    releaseImages(images);
  }
}

function describeRefusal(visit: OwnerVisit, error: unknown) {
  const reason = toFault(error);
  noteFault(visit.request, reason);
  const link = WALLET_FAULTS.has(reason.data?.code) ? 'toWallet' : undefined;
  return { body: refusal(visit, faultWords(reason, visit.language), link), status: reason.output.statusCode };
}

/** A form that was not read cannot be shown again. */
async function refuseUnread(visit: OwnerVisit): Promise<Page | undefined> {
  try {
    await refuseLongForm(visit);
    return undefined;
  } catch (error) {
    const { body, status } = describeRefusal(visit, error);
    const back = html`<p><a href="${linkTo(visit, PLAYGROUND)}">${WORDS[visit.language].another}</a></p>`;
    return { title: WORDS[visit.language].title, body: html`${answerSection(visit, { body })}${back}`, status };
  }
}

/** What the page's script puts into the page. */
function describeForScript(visit: OwnerVisit, input: PlaygroundForm, ending: TextEnding) {
  const { outcome, conversation } = describeTextOutcome(visit, input, ending);
  return { html: outcome.text, ...(conversation && { turns: writeConversation(conversation) }) };
}

async function downloadConversation(visit: OwnerVisit, input: PlaygroundForm): Promise<Answer> {
  const words = WORDS[visit.language];
  const { conversation } = input;
  if (!conversation || conversation.turns.length === 0) {
    const answer = answerSection(visit, {
      body: refusal(visit, conversation ? words.nothing : words.mistakes.conversation),
    });
    return playgroundPage(visit, input, { answer, status: 400 });
  }
  return {
    type: 'text/markdown; charset=utf-8',
    name: 'conversation.md',
    content: writeTranscript(conversation, input.system, words),
  };
}

interface PageState {
  /** The conversation above the answer. */
  readonly shown?: Conversation | undefined;
  readonly answer?: Html;
  readonly status?: number;
}

async function playgroundPage(
  visit: OwnerVisit,
  input: PlaygroundForm,
  { answer, status = 200, shown = input.conversation }: PageState = {},
): Promise<Page> {
  const words = WORDS[visit.language];
  const rows = await listVisibleKeys(visit);
  const owners = await readKeyOwners(visit, rows);
  const active = rows.filter((key) => isActive(visit, key));
  const keys = sortOwnFirst(visit, active);
  const isText = input.kind === 'text';
  const answered = answer ?? answerSection(visit);
  const main = (made: Html) =>
    html`${isText ? [conversationSection(visit, shown ?? NO_CONVERSATION, input.keptCalls), answered, made] : [made, answered]}${samples(visit, input)}`;
  const lack =
    keys.length === 0
      ? html`<p>${words.noKeys} <a href="${linkTo(visit, '/account/keys')}">${words.toKeys}</a></p>`
      : input.models.length === 0 && html`<p>${words.noModels}</p>`;
  const isMedia = input.kind === 'image' || input.kind === 'video';
  const body = html`${kindLinks(visit, input)}${lack || main(await playgroundForm(visit, input, { keys, owners }))}
${isMedia && (await recentMedia(visit))}`;
  return { title: words.title, body, status };
}
