// The playground's answer: the text or image with its cost, and the progress of a video.

import { writeDataUrl } from '../../api/dialects/data-url.ts';
import { type Fault, isFault } from '../../base/faults.ts';
import type { EmbeddingAnswer } from '../../calls/embeddings/engine.ts';
import type { VideoView } from '../../calls/videos/view.ts';
import { getRequestState } from '../../http/request-state.ts';
import type { Job } from '../../money/job-rules.ts';
import { formatRub, type Micro } from '../../money/money.ts';
import { countPrompt } from '../../money/price.ts';
import { type CollectedBlock, type CollectedReply, replyText } from '../../stream/collect.ts';
import { definitionList } from '../components.ts';
import { faultWords } from '../fault-words.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import type { ImageResult, TextEnding } from './call.ts';
import { addTurn, type Conversation, NO_CONVERSATION, parseSum, type Turn } from './conversation.ts';
import type { PlaygroundForm } from './fields.ts';
import { PLAYGROUND, refusal } from './form.ts';
import { WORDS } from './words.ts';

/** The placeholder of an answer; hidden until there is one. */
export function answerSection(
  { language }: OwnerVisit,
  answer?: {
    readonly body: HtmlValue;
    readonly outcome?: Html | undefined;
    readonly asked?: string;
    readonly thoughts?: string;
  },
): Html {
  const words = WORDS[language];
  const { thoughts = '' } = answer ?? {};
  return html`<section id="answer" aria-live="polite"${!answer && html` hidden`}><h2>${words.answer}</h2>
<p id="asked" class="asked">${answer?.asked}</p>
<details id="thoughts"${thoughts === '' && html` hidden`}><summary>${words.thoughts}</summary><div>${thoughts}</div></details>
<div id="reply">${answer?.body}</div>
<div id="outcome">${answer?.outcome}</div></section>`;
}

/** A whole answer, and the conversation with it. */
export function textAnswer(visit: OwnerVisit, input: PlaygroundForm, reply: CollectedReply) {
  const thoughts = reply.blocks.map(({ type, text }) => (type === 'reasoning' ? text : '')).join('\n');
  const { outcome, conversation } = describeTextOutcome(visit, input, reply);
  const answer = answerSection(visit, {
    body: html`${replyText(reply)}${reply.blocks.map((block) => showImage(block, input))}`,
    outcome,
    asked: input.prompt,
    thoughts: thoughts.trim(),
  });
  return { answer, conversation };
}

function showImage(block: CollectedBlock, { prompt }: PlaygroundForm): HtmlValue {
  return block.type === 'image' && html`<img src="${writeDataUrl(block)}" alt="${prompt.slice(0, ALT_MAX)}">`;
}

interface TextOutcome {
  readonly outcome: Html;
  /** With the turn that ended; absent after a failure. */
  readonly conversation?: Conversation;
}

export function describeTextOutcome(visit: OwnerVisit, input: PlaygroundForm, ending: TextEnding): TextOutcome {
  if (isFault(ending)) return { outcome: textOutcome(visit, ending) };
  const turn = createTurn(visit, input, ending as CollectedReply);
  const conversation = addTurn(input.conversation ?? NO_CONVERSATION, turn);
  return { conversation, outcome: textOutcome(visit, ending, { turn, conversation }) };
}

function createTurn({ request }: OwnerVisit, { prompt, imageCount }: PlaygroundForm, reply: CollectedReply): Turn {
  const { id, startedAt } = getRequestState(request);
  return {
    asked: prompt,
    images: imageCount,
    answered: replyText(reply),
    model: reply.model,
    charged: formatRub(reply.billing.charged),
    ms: Math.round(performance.now() - startedAt),
    input: countPrompt(reply.usage),
    output: reply.usage.output ?? 0,
    call: id,
  };
}

interface EndedTurn {
  readonly turn: Turn;
  readonly conversation: Conversation;
}

function textOutcome(visit: OwnerVisit, ending: TextEnding, ended?: EndedTurn): Html {
  const words = WORDS[visit.language];
  if (isFault(ending)) {
    const reason = faultWords(ending, visit.language);
    return html`${refusal(visit, isCharged(ending) ? `${reason} ${words.partly}` : reason)}${definitionList([callRow(visit)])}`;
  }
  const { format } = visit;
  const { model, usage, reason, billing } = ending as CollectedReply;
  const note = reason === 'length' ? words.cut : reason === 'filter' ? words.filtered : undefined;
  return html`${note !== undefined && html`<p class="hint">${note}</p>`}
${definitionList([
  [words.answered, model],
  [words.tokens, `${format.number(countPrompt(usage))}, ${format.number(usage.output ?? 0)}`],
  ...(usage.cacheRead ? [[words.cached, format.number(usage.cacheRead)] as const] : []),
  [words.charged, format.rub(billing.charged)],
  ...(ended ? [[words.time, formatSeconds(visit, ended.turn.ms)] as const] : []),
  ...(ended && isLong(ended.conversation)
    ? [[words.total, format.rub(parseSum(ended.conversation.spent))] as const]
    : []),
  ...leftRows(visit, billing.balance),
  callRow(visit),
])}`;
}

/** Whether the part of a stream that was delivered before the failure is paid; unknown without the store. */
function isCharged({ data }: Fault): boolean {
  return data?.detail.refunded !== true && data?.code !== 'store_unavailable';
}

function isLong({ turns, forgotten }: Conversation): boolean {
  return turns.length + forgotten > 1;
}

function formatSeconds({ language, format }: OwnerVisit, ms: number): string {
  return WORDS[language].took(format.number(Math.round(ms / 100) / 10));
}

/** The turns before the prompt, or before the answer that is shown below them. */
export function conversationSection(
  visit: OwnerVisit,
  { turns, forgotten, spent }: Conversation,
  keptCalls: readonly string[],
): Html {
  const words = WORDS[visit.language];
  const { format } = visit;
  const items = turns.map(({ asked, images, answered, model, charged, ms, input, output, call }) => {
    const facts = [
      model,
      format.rub(parseSum(charged)),
      formatSeconds(visit, ms),
      words.turnTokens(format.number(input), format.number(output)),
    ];
    return html`<li><p class="asked"><strong>${words.you}:</strong> ${asked}${images > 0 && html` <span class="hint">(${words.withImages(format.number(images))}; ${keptCalls.includes(call) ? words.imagesKept : words.imagesGone})</span>`}</p>
<div class="answered">${answered}</div>
<p class="hint">${facts.join(' · ')} · <a href="${linkTo(visit, `/account/calls/${encodeURIComponent(call)}`)}">${words.call}</a></p></li>`;
  });
  const isEmpty = turns.length === 0 && forgotten === 0;
  return html`<section id="conversation"${isEmpty && html` hidden`}><h2>${words.conversation}</h2>
${forgotten > 0 && html`<p class="message">${words.forgotten(format.number(forgotten))}</p>`}
<ol class="turns">${items}</ol>
<p class="hint">${words.total}: ${format.rub(parseSum(spent))}. ${words.kept}</p></section>`;
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
    ...leftRows(visit, paid.balance),
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
    ...leftRows(visit, paid.balance),
    callRow(visit),
  ]);
  return answerSection(visit, { body, outcome });
}

/** The content policy allows media from the page's own origin only. */
export function toLocalPath(url: string): string {
  return new URL(url).pathname;
}

/** Only for visitors who see the wallet. */
function leftRows(visit: OwnerVisit, balance: Micro) {
  if (!mayVisit(visit, '/account/wallet')) return [];
  return [[WORDS[visit.language].left, visit.format.rub(balance)] as const];
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
