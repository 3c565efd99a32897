// One model of the catalog, for an operator: its price, its aliases, whether it is sold, the cost of routes that pages have
// added and, if pages have added it, what it can do; previewed before it is saved.
import { fault } from '../../base/faults.ts';
import type { Draft } from '../../catalog/editor.ts';
import {
  changeModel,
  type LayerModel,
  type LayerPart,
  listRoutes,
  removeModel,
  resetModel,
  setAbilities,
  setRoutes,
} from '../../catalog/layer-edits.ts';
import { describeNotice } from '../../catalog/loss.ts';
import type { Model } from '../../catalog/model.ts';
import type { ModelEntry } from '../../catalog/schema.ts';
import { audit } from '../audit.ts';
import { abilityFields, costFields, currencyField, sizeFields } from '../catalog/model-fields.ts';
import {
  EXTRA_PRICE_FIELDS,
  nameFactField,
  PRICE_FIELDS,
  type PriceField,
  readAbilities,
  readChange,
  readRoutes,
  readSizes,
  refuseModels,
  SELLABLE,
  type Sellable,
  type TypedForm,
} from '../catalog/model-form.ts';
import { MODEL_WORDS, type ModelProblem } from '../catalog/model-words.ts';
import { priceTable } from '../catalog/price-table.ts';
import { describeWarning } from '../catalog/problem-words.ts';
import {
  changesTable,
  describeRefusal,
  failureMessage,
  isPreviewed,
  newWarnings,
  previewMark,
  refusedMessage,
  SAVED,
  savedMessage,
} from '../catalog/save-words.ts';
import { catalogBar } from '../catalog-bar.ts';
import { codeField } from '../code-field.ts';
import { checkbox, definitionList, field, form, message, select, stepForm } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { type Answer, type Page, page } from '../page.ts';
import { refusalMessage, wrongField } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { describeSource } from './admin-upstreams.ts';

export const adminModel = page({
  path: '/admin/catalog/model',
  who: 'operator',
  get: (visit) => modelPage(visit),
  post(visit, sent) {
    switch (sent.text('step')) {
      case 'preview':
      case 'save':
        return decide(visit, sent);
      case 'remove':
        return save(visit, sent, { next: removeModel, action: 'model.remove' });
      case 'reset':
        return save(visit, sent, {
          next: resetModel,
          action: 'model.change',
        });
      default:
        throw fault('stale_form');
    }
  },
});

export const getModelPath = (id: string) => `/admin/catalog/model?id=${encodeURIComponent(id)}`;

interface Looked extends Draft {
  readonly id: string;
  readonly entry: ModelEntry;
  /** Its place in the catalog, as `models[0]`. */
  readonly place: string;
  readonly model: Model | undefined;
}

async function findModel({ query, services }: UserVisit): Promise<Looked> {
  const draft = await services.catalogEditor.read();
  const id = query.get('id') ?? '';
  const { models } = services.catalogParts().file;
  const at = models.findIndex((model) => model.id === id);
  const entry = models[at];
  if (!entry) throw fault('not_found');
  return { ...draft, id, entry, place: `models[${at}]`, model: services.catalog().byName.get(id) };
}

/** A model that pages have added. */
function findOwn(part: LayerPart, id: string): LayerModel | undefined {
  return part.models?.find((model) => model.id === id);
}

async function decide(visit: UserVisit, sent: Form): Promise<Answer> {
  const { services, language } = visit;
  const { preview, saveText } = MODEL_WORDS[language];
  const { id, entry, part } = await findModel(visit);
  const own = findOwn(part, id);
  const before = { aliases: part.overrides?.[id]?.aliases ? [] : entry.aliases, isOwn: own !== undefined };
  const change = readChange({ sent, language }, { type: entry.type, before });
  const refuse = async (notice: Html) => ({ ...(await modelPage(visit, { notice, sent })), status: 400 });
  const facts = readFacts({ sent, language }, { part, id, entry });
  const refuseAt = async (problem: ModelProblem) => {
    const refused = { ...refuseModels({ sent, language }, problem), sent };
    return { ...(await modelPage({ ...visit, refused }, { sent })), status: 400 };
  };
  if (typeof change === 'string') return refuseAt(change);
  if (typeof facts === 'string') return refuseAt(facts);
  const next = changeModel(facts, id, change);
  if (isPreviewed(sent, next)) {
    return save(visit, sent, { next: () => next, action: 'model.change' });
  }
  const tried = await services.catalogEditor.tryPart(next);
  if ('problem' in tried) return refuse(refusedMessage(language, tried.problem));
  const notice = html`<h2>${preview}</h2><p>${saveText}</p>${newWarnings(visit, tried.catalog)}${priceTable(visit, tried.catalog, [id])}${changesTable(visit, part, next)}`;
  return modelPage(visit, { notice, sent, mark: previewMark(next) });
}

interface Facts {
  readonly part: LayerPart;
  readonly id: string;
  readonly entry: ModelEntry;
}

/** The part with what a form says of the routes from pages and, of a model from pages, of what it can do. */
function readFacts({ sent, language }: TypedForm, { part, id, entry }: Facts): LayerPart | ModelProblem {
  const type = SELLABLE.find((each) => each === entry.type);
  if (!type || !sent.has(nameFactField('currency', 0))) return part;
  const routes = readRoutes({ sent, language }, type, listRoutes(part, id));
  if (typeof routes === 'string') return routes;
  const isOwn = findOwn(part, id) !== undefined;
  if (isOwn && routes.length === 0) return 'route';
  const routed = setRoutes(part, id, routes);
  if (!isOwn || type !== 'text') return routed;
  const sizes = readSizes(sent, 0);
  return typeof sizes === 'string' ? sizes : setAbilities(routed, id, { ...sizes, ...readAbilities(sent) });
}

interface Saving {
  readonly next: (part: LayerPart, id: string) => LayerPart;
  readonly action: 'model.change' | 'model.remove';
}

async function save(visit: UserVisit, sent: Form, { next, action }: Saving): Promise<Answer> {
  const { services, signedIn } = visit;
  const { id, part } = await findModel(visit);
  const saved = await services.catalogEditor.save({
    seen: Number(sent.text('seen')),
    part: next(part, id),
    user: signedIn.user.id,
    note: `${action} ${id}`,
  });
  if (saved.status !== 'saved') {
    const notice = describeRefusal(visit, saved);
    return { ...(await modelPage(visit, { notice, ...(sent.text('step') === 'save' && { sent }) })), status: 400 };
  }
  await audit(visit, { action, target: id, detail: { version: saved.version } });
  return { to: action === 'model.remove' ? `/admin/catalog?${SAVED}` : `${getModelPath(id)}&${SAVED}` };
}

interface Shown {
  readonly notice?: Html;
  readonly sent?: Form;
  /** Of what has been previewed, which may be saved. */
  readonly mark?: Html;
}

async function modelPage(visit: UserVisit, shown: Shown = {}): Promise<Page> {
  const { services, language } = visit;
  const words = MODEL_WORDS[language];
  const looked = await findModel(visit);
  const { id, entry, place, version, part } = looked;
  const routes = entry.routes.map(({ upstream, model }) => `${upstream}: ${model}`).join(', ');
  const facts = definitionList([
    [words.type, words.types[entry.type] ?? entry.type],
    [words.from, describeSource(visit, place)],
    [words.routes, routes === '' ? words.none : routes],
  ]);
  const seen = html`<input type="hidden" name="seen" value="${version}">`;
  const own = findOwn(part, id);
  const step = own ? 'remove' : 'reset';
  const isChanged = own !== undefined || part.overrides?.[id] !== undefined;
  const undo = form(visit, {
    action: getModelPath(id),
    button: own ? words.remove : words.reset,
    danger: own !== undefined,
    confirm: own ? `${words.remove}? ${words.removeText}` : undefined,
    fields: html`<input type="hidden" name="step" value="${step}">${seen}${codeField(visit, step)}`,
  });
  const body = html`${refusalMessage(visit)}${shown.notice}${savedMessage(visit)}${catalogBar(visit)}${await failureMessage(visit)}
${shown.mark && html`<h2>${words.now}</h2>`}${facts}
${lossMessages(visit, id)}
${priceTable(visit, services.catalog(), [id])}
<h2>${words.change}</h2>
${changeForm(visit, looked, { seen, ...shown })}
${isChanged && undo}`;
  return { title: `${words.title} ${id}`, body };
}

/** Prices of the model that a cost has passed, so that it is sold below cost now. */
function lossMessages({ services, language }: UserVisit, id: string): readonly Html[] {
  const kept = services.catalog().losses.filter(({ model, outcome }) => model === id && outcome === 'kept');
  return kept.map((loss) => message('error', describeWarning(language, describeNotice(loss))));
}

interface Changing extends Shown {
  readonly seen: Html;
}

function changeForm(visit: UserVisit, { id, entry, part }: Looked, { seen, sent, mark }: Changing): Html {
  const words = MODEL_WORDS[visit.language];
  const own = findOwn(part, id);
  const price = (own ? entry.price : part.overrides?.[id]?.price) as Readonly<Record<string, unknown>> | undefined;
  const type = SELLABLE.find((each) => each === entry.type);
  const kinds = [...(own && price ? [] : ['own']), 'markup', ...(type ? ['written'] : [])];
  const kindNow = price === undefined ? 'own' : 'markup' in price ? 'markup' : 'written';
  const { decimalTyped } = visit.format;
  const again = (name: string, first: string) => sent?.text(name) ?? first;
  const againDecimal = (name: string, first: unknown) =>
    again(name, typeof first === 'string' ? decimalTyped(first) : '');
  const extras = EXTRA_PRICE_FIELDS.filter((name) => name !== 'audio' || ('audio' in entry && entry.audio));
  const priceField = (name: PriceField, hint?: string) => {
    const value = againDecimal(name, price?.[name]);
    return field({
      name,
      label: words.prices[name],
      hint,
      value,
      inputmode: 'decimal',
      optional: true,
      ...wrongField(visit, name),
    });
  };
  const written = html`${(type ? PRICE_FIELDS[type] : []).map((name) => priceField(name))}${type === 'text' && extras.map((name) => priceField(name, words.extrasHint))}`;
  const routes = type ? listRoutes(part, id) : [];
  const routeForms = routes.map(({ upstream, model, cost }, at) => {
    const currency = nameFactField('currency', at);
    const chosen = sent?.has(currency) ? sent.text(currency) : cost?.currency;
    const drop = checkbox({ name: `drop-${at}`, label: words.drop, checked: sent?.has(`drop-${at}`) === true });
    return html`<fieldset><legend>${words.route(upstream, model)}</legend>${costFields(visit, { type: type as Sellable, at, cost, sent })}
${currencyField(visit, chosen, currency)}${(!own || routes.length > 1) && drop}</fieldset>`;
  });
  const facts = html`${routeForms}${own?.type === 'text' && html`${sizeFields(visit, 0, sent, own)}${abilityFields(visit, sent, own)}`}`;
  const fields = html`${seen}${mark}
${select(
  { name: 'kind', label: words.kind, chosen: again('kind', kindNow) },
  kinds.map((kind) => [kind, words.kinds[kind] ?? kind]),
)}
${field({ name: 'factor', label: words.factor, hint: words.factorHint, value: againDecimal('factor', price?.markup), inputmode: 'decimal', optional: true, ...wrongField(visit, 'factor') })}
${written}${type === 'text' && html`<p class="hint">${words.writtenHint}</p>`}
${field({ name: 'aliases', label: words.aliases, hint: words.aliasesHint, value: again('aliases', entry.aliases.join(', ')), optional: true, ...wrongField(visit, 'aliases') })}
${facts}
${checkbox({ name: 'off', label: words.off, checked: sent ? sent.has('off') : entry.off === true })}${codeField(visit, 'change')}`;
  const steps = [['preview', words.preview] as const, ...(mark ? [['save', words.save] as const] : [])];
  return stepForm(visit, { action: getModelPath(id), fields, steps });
}
