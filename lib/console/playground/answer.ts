// The playground's answer: the text or image with its cost, and the progress of a video.

import { isFault } from '../../base/faults.ts';
import type { EmbeddingAnswer } from '../../calls/embeddings/engine.ts';
import type { VideoView } from '../../calls/videos/view.ts';
import { getRequestState } from '../../http/request-state.ts';
import type { Job } from '../../money/job-rules.ts';
import { countPrompt } from '../../money/price.ts';
import { type CollectedReply, replyText } from '../../stream/collect.ts';
import { definitionList } from '../components.ts';
import { faultWords } from '../fault-words.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import type { ImageResult, TextEnding } from './call.ts';
import type { PlaygroundForm } from './fields.ts';
import { PLAYGROUND, refusal } from './form.ts';
import { WORDS } from './words.ts';

/** The placeholder of an answer; hidden until there is one. */
export function answerSection(
  { language }: OwnerVisit,
  answer?: { readonly body: HtmlValue; readonly outcome?: Html },
): Html {
  return html`<section id="answer" aria-live="polite"${!answer && html` hidden`}><h2>${WORDS[language].answer}</h2>
<div id="reply">${answer?.body}</div>
<div id="outcome">${answer?.outcome}</div></section>`;
}

export function textAnswer(visit: OwnerVisit, reply: CollectedReply): Html {
  return answerSection(visit, { body: replyText(reply), outcome: textOutcome(visit, reply) });
}

export function textOutcome(visit: OwnerVisit, ending: TextEnding): Html {
  const words = WORDS[visit.language];
  if (isFault(ending))
    return html`${refusal(visit, faultWords(ending, visit.language))}${definitionList([callRow(visit)])}`;
  const { format } = visit;
  const { model, usage, reason, billing } = ending as CollectedReply;
  const note = reason === 'length' ? words.cut : reason === 'filter' ? words.filtered : undefined;
  return html`${note !== undefined && html`<p class="hint">${note}</p>`}
${definitionList([
  [words.answered, model],
  [words.tokens, `${format.number(countPrompt(usage))}, ${format.number(usage.output ?? 0)}`],
  ...(usage.cacheRead ? [[words.cached, format.number(usage.cacheRead)] as const] : []),
  [words.charged, format.rub(billing.charged)],
  [words.left, format.rub(billing.balance)],
  callRow(visit),
])}`;
}

/** Of a vector's numbers. */
const NUMBERS_SHOWN = 8;

export function embeddingAnswer(visit: OwnerVisit, { vectors, tokens, paid }: EmbeddingAnswer): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const vector = [...(vectors[0] ?? [])];
  const shown = vector.slice(0, NUMBERS_SHOWN).map(String);
  const body = `[${[...shown, ...(vector.length > NUMBERS_SHOWN ? ['…'] : [])].join(', ')}]`;
  const outcome = definitionList([
    [words.dimensions, format.number(vector.length)],
    [words.inputTokens, format.number(tokens)],
    [words.charged, format.rub(paid.charged)],
    [words.left, format.rub(paid.balance)],
    callRow(visit),
  ]);
  return answerSection(visit, { body, outcome });
}

const ALT_MAX = 200;

export function imageAnswer(visit: OwnerVisit, { prompt }: PlaygroundForm, { url, paid }: ImageResult): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const path = toLocalPath(url);
  const body = html`<a href="${path}"><img src="${path}" alt="${prompt.slice(0, ALT_MAX)}"></a>
<p><a href="${path}">${words.file}</a> <span class="hint">${words.keep}</span></p>`;
  const outcome = definitionList([
    [words.charged, format.rub(paid.charged)],
    [words.left, format.rub(paid.balance)],
    callRow(visit),
  ]);
  return answerSection(visit, { body, outcome });
}

/** The content policy allows media from the page's own origin only. */
function toLocalPath(url: string): string {
  return new URL(url).pathname;
}

function callRow(visit: OwnerVisit, id = getRequestState(visit.request).id) {
  const words = WORDS[visit.language];
  return [words.call, html`<a href="${linkTo(visit, `/account/calls/${id}`)}">${id}</a>`] as const;
}

/** `data-again` tells the script to poll again. */
export function videoSection(visit: OwnerVisit, { id, charge }: Job, view: VideoView): Html {
  const words = WORDS[visit.language];
  const { status, progress, url, error } = view;
  const path = url === null ? undefined : toLocalPath(url);
  const isOver = status === 'completed' || status === 'failed';
  return html`<section id="video" aria-live="polite"${!isOver && html` data-again`}>
${definitionList([
  [words.status, words.statuses[status as keyof typeof words.statuses]],
  [words.progress, words.percent(visit.format.number(progress))],
  callRow(visit, charge),
])}
${
  path !== undefined &&
  html`<p><video controls preload="metadata" src="${path}"></video></p>
<p><a href="${path}">${words.file}</a> <span class="hint">${words.keep}</span></p>`
}
${status === 'failed' && refusal(visit, words.refunded(error ?? ''))}
${!isOver && html`<p><a class="button" href="${linkTo(visit, `${PLAYGROUND}/video?id=${id}`)}">${words.again}</a></p>`}
</section>
<p><a href="${linkTo(visit, `${PLAYGROUND}?kind=video`)}">${words.another}</a></p>`;
}
