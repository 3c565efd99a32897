// The playground: one call for text, a picture or a video, with its price shown before it is sent. Its input is neither
// stored nor logged.

import { toFault } from '../../base/faults.ts';
import { describeVideo, findVideo } from '../../calls/videos/view.ts';
import { noteFault } from '../../http/reply.ts';
import { type RequestImage, releaseImages } from '../../media/reference.ts';
import { faultWords } from '../fault-words.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { type Answer, type Page, page } from '../page.ts';
import { answerPlace, imageAnswer, textAnswer, textOutcome, videoPlace } from '../playground/answer.ts';
import { askImage, askText, refuseLongForm, startVideo, streamText } from '../playground/call.ts';
import { kindLinks, PLAYGROUND, playForm, refusal, samples } from '../playground/form.ts';
import { readPictures } from '../playground/pictures.ts';
import { mistakeIn, PICTURE_FIELD, type PlaygroundForm, readWish } from '../playground/wish.ts';
import { WORDS } from '../playground/words.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { isActive } from './key-limits.ts';

const WRITTEN = { written: true } as const;

export const playground = page({
  path: PLAYGROUND,
  who: 'owner',
  get: (visit) => {
    const { services, query, language } = visit;
    const wish = readWish(services, (name) => query.get(name) ?? undefined);
    const prompt = query.has('prompt') ? wish.prompt : WORDS[language].example[wish.kind];
    return playPage(visit, { ...wish, prompt });
  },
  pictures: PICTURE_FIELD,
  beforeForm: (visit) => unread(visit),
  post(visit, form) {
    const wish = wishOf(visit, form);
    if (form.text('do') !== 'send') return playPage(visit, wish);
    return attempt(visit, { wish, form }, (pictures) => send(visit, wish, pictures));
  },
});

/** For the page's script: the answer as events; a refusal as a page that explains it. */
export const playgroundText = page({
  path: `${PLAYGROUND}/text`,
  who: 'owner',
  pictures: PICTURE_FIELD,
  beforeForm: (visit) => unread(visit),
  post(visit, form) {
    const wish: PlaygroundForm = { ...wishOf(visit, form), kind: 'text' };
    return attempt(visit, { wish, form }, async (pictures) => {
      await streamText(visit, wish, { pictures, show: (ending) => textOutcome(visit, ending) });
      return WRITTEN;
    });
  },
});

export const playgroundVideo = page({
  path: `${PLAYGROUND}/video`,
  who: 'owner',
  async get(visit) {
    const { services, account, query, language } = visit;
    const job = await findVideo(services.store, { id: query.get('id') ?? '', account: account.id });
    const body = videoPlace(visit, job, describeVideo(job, services.results));
    return { title: WORDS[language].video, body };
  },
});

function wishOf({ services }: OwnerVisit, form: Form): PlaygroundForm {
  const wish = readWish(services, (name) => (form.has(name) ? form.secret(name) : undefined));
  return form.files.length > 0 ? { ...wish, pictures: form.files.length } : wish;
}

async function send(visit: OwnerVisit, wish: PlaygroundForm, pictures: readonly RequestImage[]): Promise<Answer> {
  switch (wish.kind) {
    case 'text': {
      const reply = await askText(visit, wish, pictures);
      return reply ? playPage(visit, wish, { answer: textAnswer(visit, reply) }) : WRITTEN;
    }
    case 'image': {
      const made = await askImage(visit, wish, pictures);
      return made ? playPage(visit, wish, { answer: imageAnswer(visit, wish, made) }) : WRITTEN;
    }
    case 'video': {
      const begun = await startVideo(visit, wish, pictures);
      return begun ? { to: linkTo(visit, `${PLAYGROUND}/video?id=${begun.id}`) } : WRITTEN;
    }
  }
}

/** Faults that a top-up fixes. */
const WALLET_FAULTS: ReadonlySet<string | undefined> = new Set(['never_topped_up', 'insufficient_balance']);

/** A refusal is shown on the page with the form still filled in. */
async function attempt(
  visit: OwnerVisit,
  { wish, form }: { readonly wish: PlaygroundForm; readonly form: Form },
  work: (pictures: readonly RequestImage[]) => Promise<Answer>,
): Promise<Answer> {
  const { language } = visit;
  const tell = (body: Html, status: number, again = wish) =>
    playPage(visit, again, { answer: answerPlace(visit, { body }), status });
  // A page that is shown again has lost the chosen files, and nobody meant to pay for a call without them.
  if (wish.pictures > 0 && form.files.length === 0)
    return tell(refusal(visit, WORDS[language].mistakes.again), 400, { ...wish, pictures: 0 });
  const mistake = mistakeIn(wish);
  if (mistake) return tell(refusal(visit, WORDS[language].mistakes[mistake]), 400);
  let pictures: readonly RequestImage[] = [];
  try {
    pictures = readPictures(form);
    return await work(pictures);
  } catch (error) {
    const { body, status } = refused(visit, error);
    return tell(body, status);
  } finally {
    releaseImages(pictures);
  }
}

function refused(visit: OwnerVisit, error: unknown) {
  const reason = toFault(error);
  noteFault(visit.request, reason);
  const link = WALLET_FAULTS.has(reason.data?.code) ? 'toWallet' : undefined;
  return { body: refusal(visit, faultWords(reason, visit.language), link), status: reason.output.statusCode };
}

/** A form that was not read cannot be shown again. */
async function unread(visit: OwnerVisit): Promise<Page | undefined> {
  try {
    await refuseLongForm(visit);
    return undefined;
  } catch (error) {
    const { body, status } = refused(visit, error);
    const back = html`<p><a href="${linkTo(visit, PLAYGROUND)}">${WORDS[visit.language].another}</a></p>`;
    return { title: WORDS[visit.language].title, body: html`${answerPlace(visit, { body })}${back}`, status };
  }
}

interface Shown {
  readonly answer?: Html;
  readonly status?: number;
}

async function playPage(visit: OwnerVisit, wish: PlaygroundForm, { answer, status = 200 }: Shown = {}): Promise<Page> {
  const words = WORDS[visit.language];
  const rows = await visit.services.store.keys.list(visit.account.id);
  const keys = rows.filter((key) => isActive(visit, key));
  const main = async () =>
    html`${await playForm(visit, wish, keys)}${answer ?? answerPlace(visit)}${samples(visit, wish)}`;
  const lack =
    keys.length === 0
      ? html`<p>${words.noKeys} <a href="${linkTo(visit, '/account/keys')}">${words.toKeys}</a></p>`
      : wish.models.length === 0 && html`<p>${words.noModels}</p>`;
  const body = html`${kindLinks(visit, wish)}${lack || (await main())}`;
  return { title: words.title, body, status };
}
