// Adds models of an upstream, for an operator: which of the vendor's, at which cost and markup, with a preview before saving.
import { fault } from '../../base/faults.ts';
import { findKnownCost, findKnownOptions } from '../../catalog/known-costs.ts';
import { addModels, type LayerModel, type LayerPart, listRoutes, setRoutes } from '../../catalog/layer-edits.ts';
import type { ModelEntry } from '../../catalog/schema.ts';
import type { VendorModel } from '../../upstream/contract/provider.ts';
import { nameUpstream, PluginRun, runPlugin } from '../../upstream/host/plugin-run.ts';
import { audit } from '../audit.ts';
import { abilityFields, costFields, currencyField, sizeFields } from '../catalog/model-fields.ts';
import {
  type ChosenModels,
  readChosen,
  readNewModels,
  refuseModels,
  SELLABLE,
  type Sellable,
} from '../catalog/model-form.ts';
import { MODEL_WORDS } from '../catalog/model-words.ts';
import { priceTable } from '../catalog/price-table.ts';
import {
  changesTable,
  describeRefusal,
  isPreviewed,
  newWarnings,
  previewMark,
  refusedMessage,
  SAVED,
} from '../catalog/save-words.ts';
import { UPSTREAM_WORDS } from '../catalog/upstream-words.ts';
import { codeField } from '../code-field.ts';
import { checkbox, field, form, message, select, stepForm, textArea } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { type Answer, type Page, page } from '../page.ts';
import { refusalMessage, wrongField } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { findUpstream } from './admin-upstream.ts';

const LIST_MS = 20_000;
const SHOWN_MAX = 300;
const MARKUP = '1.3';

export const adminUpstreamModels = page({
  path: '/admin/upstreams/{name}/models',
  who: 'operator',
  get: async (visit) => ({ to: `/admin/upstreams/${encodeURIComponent((await findUpstream(visit)).name)}` }),
  post(visit, sent) {
    switch (sent.text('step')) {
      case 'list':
        return listPage(visit, sent);
      case 'prices':
        return choose(visit, sent);
      case 'preview':
      case 'save':
        return decide(visit, sent);
      default:
        throw fault('stale_form');
    }
  },
});

const getPath = (name: string) => `/admin/upstreams/${encodeURIComponent(name)}/models`;

/** Undefined if the vendor has no list; rejects with its fault. */
async function listModels({ services }: UserVisit, name: string): Promise<readonly VendorModel[] | undefined> {
  const provider = services.catalogParts().upstreams.get(name)?.provider;
  if (!provider?.models) return undefined;
  const abort = new AbortController();
  const run = new PluginRun(nameUpstream(name), (reason) => abort.abort(reason));
  try {
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(LIST_MS)]);
    return await runPlugin(run, async () => provider.models?.(signal));
  } finally {
    run.end();
  }
}

async function listPage(visit: UserVisit, sent: Form, problem?: Html): Promise<Page> {
  const { language } = visit;
  const words = MODEL_WORDS[language];
  const { noList, listFailed } = UPSTREAM_WORDS[language];
  const { name } = await findUpstream(visit);
  let notice: Html | undefined;
  let found: readonly VendorModel[] = [];
  try {
    const listed = await listModels(visit, name);
    if (!listed) notice = html`<p>${noList}</p>`;
    found = (listed ?? []).filter(({ id }) => id.toLowerCase().includes(sent.text('filter').toLowerCase()));
  } catch (error) {
    notice = message('error', html`${listFailed} <code>${(error as Error).message}</code>`);
  }
  const body = html`${problem}${notice}
${chooseForm(visit, { name, found, sent })}`;
  return { title: words.choose(name), body };
}

/** What models do in the contract of a provider. */
const ENDPOINTS = { text: 'text', embedding: 'embed', image: 'image' } as const satisfies Record<Sellable, string>;

/** Those that the upstream can serve; all while it is off. */
function listTypes({ services }: UserVisit, name: string): readonly Sellable[] {
  const provider = services.catalogParts().upstreams.get(name)?.provider;
  return SELLABLE.filter((type) => !provider || provider[ENDPOINTS[type]] !== undefined);
}

interface Found {
  readonly name: string;
  readonly found: readonly VendorModel[];
  readonly sent: Form;
}

function chooseForm(visit: UserVisit, { name, found, sent }: Found): Html {
  const { services, language, format } = visit;
  const words = MODEL_WORDS[language];
  const routes = services.catalogParts().file.models.flatMap((model) => model.routes);
  const sold = new Set(routes.filter(({ upstream }) => upstream === name).map(({ model }) => model));
  const shown = found.slice(0, SHOWN_MAX);
  const ticked = new Set(sent.all('model'));
  const boxes = shown.map(({ id }) => {
    const note = sold.has(id) && html` <span class="hint">${words.onSale}</span>`;
    return html`<li><label><input type="checkbox" name="model" value="${id}"${ticked.has(id) && html` checked`}> <code>${id}</code></label>${note}</li>`;
  });
  const fields = html`<input type="hidden" name="step" value="prices"><input type="hidden" name="filter" value="${sent.text('filter')}">
${found.length > 0 && html`<p class="hint">${words.found(format.number(shown.length), format.number(found.length))}</p><ul class="ticks">${boxes}</ul>`}
${textArea({ name: 'more', label: words.more, hint: words.moreHint, value: sent.text('more'), rows: 3, max: 4000, optional: true })}
${select(
  { name: 'type', label: words.type, chosen: sent.text('type') || 'text' },
  listTypes(visit, name).map((type) => [type, words.types[type] ?? type]),
)}${codeField(visit, 'choose')}`;
  return form(visit, { action: getPath(name), button: words.next, fields });
}

async function choose(visit: UserVisit, sent: Form): Promise<Page> {
  const chosen = readChosen(sent, listTypes(visit, (await findUpstream(visit)).name));
  if (typeof chosen !== 'string') return pricePage(visit, { chosen, sent });
  const problem = message('error', MODEL_WORDS[visit.language].problems[chosen]);
  return { ...(await listPage(visit, sent, problem)), status: 400 };
}

interface Priced {
  readonly chosen: ChosenModels;
  readonly sent: Form;
  readonly notice?: Html;
  /** What has been previewed, which may be saved. */
  readonly preview?: { readonly shown: Html; readonly mark: Html };
}

async function pricePage(visit: UserVisit, priced: Priced): Promise<Page> {
  const words = MODEL_WORDS[visit.language];
  const { name, version } = await findUpstream(visit);
  const body = html`${refusalMessage(visit)}${priced.notice}${priced.preview?.shown}<p class="hint">${words.pricesText}</p>
${priceForm(visit, name, version, priced)}`;
  return { title: words.costsTitle(name), body };
}

function priceForm(visit: UserVisit, name: string, version: number, { chosen, sent, preview }: Priced): Html {
  const { services, language, format } = visit;
  const words = MODEL_WORDS[language];
  const { type, models } = chosen;
  const { file, plugins } = services.catalogParts();
  const known = models.map((model) => findKnownCost(file, { upstream: name, model }, plugins));
  const again = (field: string, first: string) => (sent.has(field) ? sent.text(field) : first);
  const rows = models.map((model, at) => {
    return html`<fieldset><legend><code>${model}</code></legend><input type="hidden" name="model" value="${model}">
${field({ name: `id-${at}`, label: words.id, value: again(`id-${at}`, model), ...wrongField(visit, `id-${at}`) })}${costFields(visit, { type, at, cost: known[at], sent })}${type === 'text' && sizeFields(visit, at, sent)}</fieldset>`;
  });
  const currency = sent.has('currency') ? sent.text('currency') : known.find(Boolean)?.currency;
  const decided = sent.has('markup') ? sent : undefined;
  const isTaken = models.some((model, at) => findEntry(file.models, { id: again(`id-${at}`, model), type }));
  const join = html`${checkbox({ name: 'join', label: words.join, checked: sent.has('join') })}<p class="hint">${words.joinHint}</p>`;
  const fields = html`<input type="hidden" name="seen" value="${version}"><input type="hidden" name="type" value="${type}">${preview?.mark}
${rows}
${isTaken && join}
${currencyField(visit, currency)}
${field({ name: 'markup', label: words.markup, hint: words.markupHint, value: again('markup', format.decimalTyped(MARKUP)), inputmode: 'decimal', ...wrongField(visit, 'markup') })}
${field({ name: 'maker', label: words.maker, hint: words.makerHint, value: again('maker', ''), ...wrongField(visit, 'maker') })}
${type === 'text' && abilityFields(visit, decided, { tools: true })}${codeField(visit, 'prices')}`;
  const steps = [['preview', words.preview] as const, ...(preview ? [['save', words.save] as const] : [])];
  return stepForm(visit, { action: getPath(name), fields, steps });
}

function findEntry(models: readonly ModelEntry[], wanted: Pick<LayerModel, 'id' | 'type'>): ModelEntry | undefined {
  return models.find(({ id, type }) => id === wanted.id && type === wanted.type);
}

/** Adds models, or a route to those that are `known` by the same name. */
function placeModels(
  part: LayerPart,
  models: readonly LayerModel[],
  known: readonly ModelEntry[],
): LayerPart | 'served' {
  const fresh = models.filter((model) => !findEntry(known, model));
  let next = fresh.length > 0 ? addModels(part, fresh) : part;
  for (const model of models) {
    const entry = findEntry(known, model);
    if (!entry) continue;
    const isServed = model.routes.some((route) =>
      entry.routes.some(({ upstream, model: name }) => upstream === route.upstream && name === route.model),
    );
    if (isServed) return 'served';
    next = setRoutes(next, model.id, [...listRoutes(next, model.id), ...model.routes]);
  }
  return next;
}

async function decide(visit: UserVisit, sent: Form): Promise<Answer> {
  const { services, language, signedIn } = visit;
  const { problems, saveText, preview: previewTitle } = MODEL_WORDS[language];
  const { name, part } = await findUpstream(visit);
  const chosen = readChosen(sent, listTypes(visit, name));
  if (typeof chosen === 'string') throw fault('stale_form');
  const refuse = async (notice: Html) => ({ ...(await pricePage(visit, { chosen, sent, notice })), status: 400 });
  const { file, plugins } = services.catalogParts();
  const findKnown = (model: string) => ({
    cost: findKnownCost(file, { upstream: name, model }, plugins),
    options: findKnownOptions(file, { upstream: name, model }, plugins),
  });
  const models = readNewModels({ sent, language }, chosen, { upstream: name, findKnown });
  if (typeof models === 'string') {
    const refused = { ...refuseModels({ sent, language }, models), sent };
    return { ...(await pricePage({ ...visit, refused }, { chosen, sent })), status: 400 };
  }
  const known = sent.has('join') ? file.models : [];
  const next = placeModels(part, models, known);
  if (next === 'served') return refuse(message('error', problems[next]));
  const ids = models.map(({ id }) => id);
  if (!isPreviewed(sent, next)) {
    const tried = await services.catalogEditor.tryPart(next);
    if ('problem' in tried) return refuse(refusedMessage(language, tried.problem));
    const shown = html`<h2>${previewTitle}</h2><p>${saveText}</p>${newWarnings(visit, tried.catalog)}${priceTable(visit, tried.catalog, ids)}${changesTable(visit, part, next)}`;
    return pricePage(visit, { chosen, sent, preview: { shown, mark: previewMark(next) } });
  }
  const joined = models.filter((model) => findEntry(known, model)).map(({ id }) => id);
  const added = ids.filter((id) => !joined.includes(id));
  const action = added.length > 0 ? 'model.add' : 'route.add';
  const note = `${action} ${ids.join(', ')}`.slice(0, 500);
  const saved = await services.catalogEditor.save({
    seen: Number(sent.text('seen')),
    part: next,
    user: signedIn.user.id,
    note,
  });
  if (saved.status !== 'saved') return refuse(describeRefusal(visit, saved));
  const detail = {
    ...(added.length > 0 && { models: added, markup: sent.text('markup') }),
    ...(joined.length > 0 && { routes: joined }),
  };
  await audit(visit, { action, target: name, detail });
  return { to: `/admin/catalog?${SAVED}` };
}
