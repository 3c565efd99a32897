// The playground's form, with the price of the call and the same call as code.

import { isFault } from '../../base/faults.ts';
import { IMAGE_SIZES } from '../../calls/images/request.ts';
import { chooseCatalog } from '../../catalog/catalog.ts';
import { TEXT_MINIMUM } from '../../money/price.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import { capRows } from '../cap-rows.ts';
import { fullKeyName } from '../charge-query.ts';
import { definitionList, field, fileField, foldAway, message, select, textArea } from '../components.ts';
import { faultWords } from '../fault-words.ts';
import { bonusText, fundsRows, getSpendable } from '../funds.ts';
import { type Html, html } from '../html.ts';
import type { KeyOwner } from '../key-owners.ts';
import { describeTextPrice } from '../token-price.ts';
import { linkTo, mayVisit, type OwnerVisit } from '../visit.ts';
import { CONVERSATION_FIELD, NO_CONVERSATION, writeConversation } from './conversation.ts';
import { findMistake, IMAGE_FIELD, KEPT_FIELD, PLAY_KINDS, type PlaygroundForm } from './fields.ts';
import { type Quote, quoteCall } from './quote.ts';
import { listSamples } from './samples.ts';
import { WORDS } from './words.ts';

export const PLAYGROUND = '/account/playground';
/** Half the form limit: Russian characters take six bytes each when sent. */
const PROMPT_MAX = 8000;
const SYSTEM_MAX = 3000;
const IMAGE_TYPES = 'image/png,image/jpeg,image/gif,image/webp';

export function kindLinks(visit: OwnerVisit, { kind }: PlaygroundForm): Html {
  const words = WORDS[visit.language];
  const links = PLAY_KINDS.map((name) => {
    const current = name === kind && html` aria-current="page"`;
    return html`<li><a href="${linkTo(visit, `${PLAYGROUND}?kind=${name}`)}"${current}>${words.kinds[name]}</a></li>`;
  });
  return html`<nav class="kinds" aria-label="${words.kind}"><ul>${links}</ul></nav>`;
}

export interface PayingKeys {
  /** The first is chosen unless another was. */
  readonly keys: readonly KeyRow[];
  readonly owners: readonly KeyOwner[];
}

/** The visitor's own keys come before those of the account and of others, whose caps and usage they count in. */
export function sortOwnFirst({ signedIn }: OwnerVisit, keys: readonly KeyRow[]): readonly KeyRow[] {
  const rank = ({ createdBy }: KeyRow) => (createdBy === signedIn.user.id ? 0 : createdBy === null ? 1 : 2);
  return keys.toSorted((one, other) => rank(one) - rank(other));
}

/** Enter in a field only shows the price; only the button sends. */
export async function playgroundForm(
  visit: OwnerVisit,
  input: PlaygroundForm,
  { keys, owners }: PayingKeys,
): Promise<Html> {
  const words = WORDS[visit.language];
  const { csrf } = visit;
  const { imageCount } = input;
  const isText = input.kind === 'text';
  const turns = writeConversation(input.conversation ?? NO_CONVERSATION);
  const live = input.kind === 'text' && html` data-live="${linkTo(visit, `${PLAYGROUND}/text`)}"`;
  const chosen = html`${select(
    { name: 'key', label: words.key, chosen: input.key },
    keys.map((key) => [key.id, fullKeyName(key, owners)]),
  )}
${select(
  { name: 'model', label: words.model, chosen: input.model },
  input.models.map((id) => [id, id]),
)}`;
  const options = html`<div id="choices">${choices(visit, input)}</div>`;
  const settings = html`${chosen}${options}`;
  return html`<form method="post" enctype="multipart/form-data" action="${linkTo(visit, PLAYGROUND)}" id="play"${live} data-images="${input.imagesMax}" data-lost="${words.lost}" data-stopped="${words.stopped}">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="kind" value="${input.kind}">
<input type="hidden" name="images" value="${imageCount}">
${
  isText &&
  html`<input type="hidden" name="${CONVERSATION_FIELD}" value="${turns}">
<input type="hidden" name="${KEPT_FIELD}" value="">`
}
${isText ? html`${foldAway(`${words.settings}: ${input.model}`, settings, turns === '')}${systemField(visit, input)}` : chosen}
${textArea({ name: 'prompt', label: words.prompt, value: input.prompt, rows: 5, max: PROMPT_MAX })}
${input.imagesMax > 0 && imageField(visit, input)}
${!isText && options}
${await renderPrice(visit, input, keys)}
<p class="buttons"><button name="do" value="price" class="quiet">${words.priceButton}</button>
<button name="do" value="send">${words.send}</button>
<button type="button" id="stop" class="quiet" hidden>${words.stop}</button>
${
  isText &&
  html`<button name="do" value="download" class="quiet" formnovalidate>${words.download}</button>
<a class="button quiet" id="anew" href="${linkTo(visit, PLAYGROUND)}">${words.anew}</a>`
}</p>
</form>`;
}

/** Folded away until it is used. */
function systemField({ language }: OwnerVisit, { system }: PlaygroundForm): Html {
  const words = WORDS[language];
  const area = { name: 'system', label: words.instructions, value: system, rows: 3, max: SYSTEM_MAX, optional: true };
  return foldAway(words.system, textArea({ ...area, hint: words.systemHint }), system !== '');
}

function imageField({ language, format }: OwnerVisit, { kind, imageCount, imagesMax }: PlaygroundForm): Html {
  const words = WORDS[language];
  const input = { name: IMAGE_FIELD, label: words.images[kind], accept: IMAGE_TYPES, multiple: imagesMax > 1 };
  const again =
    imageCount > 0 && html`<p class="message" id="again">${words.imagesAgain(format.number(imageCount))}</p>`;
  return html`${fileField({ ...input, hint: words.imagesHint })}${again}`;
}

/** The fields that depend on kind and model. */
function choices({ language }: OwnerVisit, input: PlaygroundForm): Html | undefined {
  const words = WORDS[language];
  switch (input.kind) {
    case 'text':
      return field({ name: 'max_tokens', label: words.max_tokens, value: input.max_tokens, inputmode: 'numeric' });
    case 'embedding':
      return field({
        name: 'dimensions',
        label: words.dimensions,
        value: input.dimensions,
        inputmode: 'numeric',
        hint: words.dimensionsHint,
        optional: true,
      });
    case 'image':
      return select(
        { name: 'size', label: words.size, chosen: input.size },
        [...IMAGE_SIZES.keys()].map((size) => [String(size), String(size)]),
      );
    case 'video': {
      const { seconds = [], resolutions = [], aspects = [] } = input.videoOptions ?? {};
      const choice = (name: 'seconds' | 'resolution' | 'aspect', offered: readonly (string | number)[]) =>
        offered.length > 0 &&
        select(
          { name, label: words[name], all: words.open, chosen: input[name] },
          offered.map((value) => [String(value), String(value)]),
        );
      return html`${choice('seconds', seconds)}${choice('resolution', resolutions)}${choice('aspect', aspects)}`;
    }
  }
}

async function renderPrice(visit: OwnerVisit, input: PlaygroundForm, keys: readonly KeyRow[]): Promise<Html> {
  const { language, services, account } = visit;
  const words = WORDS[language];
  const wallet = await services.store.ledger.wallet(account.id);
  const funds = mayVisit(visit, '/account/wallet') ? wallet && fundsRows(visit, wallet) : await capRows(visit);
  const section = (body: Html) =>
    html`<section id="price" aria-label="${words.price}" aria-live="polite">${body}</section>`;
  const mistake = findMistake(input);
  if (mistake) return section(html`<p class="message">${words.mistakes[mistake]}</p>`);
  try {
    const { limits } = keys.find(({ id }) => id === input.key) ?? keys[0] ?? {};
    const rows = quoteRows(visit, await quoteCall(chooseCatalog(services.catalog(), visit.account), input, limits));
    const isEmpty = wallet !== undefined && getSpendable(wallet) <= 0n;
    const empty = wallet && bonusText(visit, wallet) ? words.waiting : words.empty;
    return section(html`${definitionList([...rows, ...(funds ?? [])])}
${isEmpty && refusal(visit, empty, 'toWallet')}
${(input.kind === 'text' || input.kind === 'embedding') && html`<p class="hint">${words.heldHint}</p>`}`);
  } catch (error) {
    if (!isFault(error)) throw error;
    return section(html`<p class="message">${faultWords(error, language)}</p>`);
  }
}

function quoteRows(visit: OwnerVisit, { amount, model, price, tokenPrice, terms }: Quote) {
  const { format } = visit;
  const words = WORDS[visit.language];
  const sum = html`<strong class="big">${format.rub(amount)}</strong>`;
  if (price) {
    return [
      [words.held, sum],
      [words.answers, model],
      [words.tokenPrice, describeTextPrice(visit, price).join('; ')],
      [words.minimum, format.rub(TEXT_MINIMUM)],
    ] as const;
  }
  if (tokenPrice !== undefined) {
    return [
      [words.held, sum],
      [words.tokenPrice, words.perMillion(format.rubExact(tokenPrice))],
      [words.minimum, format.rub(TEXT_MINIMUM)],
    ] as const;
  }
  if (terms?.price.unit !== 'second') return [[words.cost, sum]] as const;
  const { unitPrice, option } = terms.price;
  const each = `${format.rub(unitPrice)}${option === null ? '' : ` (${option})`}`;
  return [
    [words.cost, sum],
    [words.sum, words.perSecond(format.number(terms.asked.seconds), each)],
  ] as const;
}

export function samples({ language, services }: OwnerVisit, input: PlaygroundForm): Html {
  const words = WORDS[language];
  const hasTurns = (input.conversation?.turns.length ?? 0) > 0;
  const texts = listSamples(
    { ...input, conversation: NO_CONVERSATION },
    { base: services.publicUrl(), key: words.samplesKey },
  ).map(
    ({
      language: name,
      isResponses,
      program,
    }) => html`<h3>${words.languages[name]}${isResponses && ', Responses API'}</h3>
<pre tabindex="0"><code data-copy>${program}</code></pre>`,
  );
  const hint = html`<p class="hint">${words.samplesHint}${input.imageCount > 0 && html` ${words.samplesImages}`}${hasTurns && html` ${words.samplesAlone}`}</p>`;
  return html`<section id="samples">${foldAway(words.samples, html`${hint}${texts}`)}</section>`;
}

/** The messages about invalid fields. */
export function refusal(visit: OwnerVisit, text: string, link?: 'toWallet'): Html {
  const more =
    link &&
    mayVisit(visit, '/account/wallet') &&
    html` <a href="${linkTo(visit, '/account/wallet')}">${WORDS[visit.language][link]}</a>`;
  return message('error', html`${text}${more}`);
}
