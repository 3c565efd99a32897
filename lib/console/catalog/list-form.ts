// The form of the catalog page for the lists of models that answer for `smart`, for images, and where none is named.
import type { Catalog } from '../../catalog/catalog.ts';
import {
  type LayerPart,
  MODEL_LISTS,
  type ModelList,
  readModelList,
  setModelLists,
} from '../../catalog/layer-edits.ts';
import type { Model } from '../../catalog/model.ts';
import { codeField } from '../code-field.ts';
import { field, foldAway, form, table } from '../components.ts';
import type { Form, Refusal } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { isRefused, typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';

const WORDS = defineWords({
  en: {
    title: 'Models for smart, images and defaults',
    list: 'Used for',
    models: 'Models',
    answers: 'Answers now',
    none: 'none',
    lists: {
      'smart.lite': 'smart: simple tasks (lite)',
      'smart.standard': 'smart: everyday tasks (standard)',
      'smart.heavy': 'smart: hard tasks (heavy)',
      vision: 'Calls with images, for models that do not understand them',
      'defaults.image': 'Images, if a request names no model',
      'defaults.edit': 'Edits of images, if a request names no model',
    },
    change: 'Change these lists',
    text: 'Names of models in order of preference, separated by commas. The first that is available answers. An empty field leaves the list to the files of the catalog.',
    save: 'Save the lists',
    unknown: (name: string) => `There is no model ${name}.`,
    wrong: {
      text: (name: string) => `${name} is not a text model.`,
      vision: (name: string) => `${name} does not understand images.`,
      image: (name: string) => `${name} does not make images.`,
      edit: (name: string) => `${name} does not edit images.`,
    },
    many: (most: string) => `A list has at most ${most} models.`,
  },
  ru: {
    title: 'Модели для smart, картинок и по умолчанию',
    list: 'Для чего',
    models: 'Модели',
    answers: 'Отвечает',
    none: 'нет',
    lists: {
      'smart.lite': 'smart: простые задачи (lite)',
      'smart.standard': 'smart: обычные задачи (standard)',
      'smart.heavy': 'smart: сложные задачи (heavy)',
      vision: 'Запросы с картинками — за модели, которые картинок не понимают',
      'defaults.image': 'Создание картинок, если модель не указана',
      'defaults.edit': 'Правка картинок, если модель не указана',
    },
    change: 'Изменить эти списки',
    text: 'Названия моделей по порядку предпочтения, через запятую. Отвечает первая доступная. Если поле пустое, действует список из файлов каталога.',
    save: 'Сохранить списки',
    unknown: (name: string) => `Модели ${name} нет.`,
    wrong: {
      text: (name: string) => `${name} — не текстовая модель.`,
      vision: (name: string) => `${name} не понимает картинок.`,
      image: (name: string) => `${name} не создаёт картинок.`,
      edit: (name: string) => `${name} не правит картинок.`,
    },
    many: (most: string) => `В списке не больше ${most} моделей.`,
  },
});

export const CATALOG_PATH = '/admin/catalog';
const CHANGE = 'lists';
const MODELS_MAX = 20;

/** The lists as they are in force, and the form that changes them. */
export function modelLists(visit: UserVisit, { version, part }: { version: number; part: LayerPart }): Html {
  const { services, language } = visit;
  const words = WORDS[language];
  const catalog = services.catalog();
  const { file } = services.catalogParts();
  const rows = MODEL_LISTS.map((list) => [
    words.lists[list],
    readModelList(file, list).join(', ') || words.none,
    findAnswering(catalog, list)?.id ?? words.none,
  ]);
  const columns = [words.list, words.models, words.answers].map((title) => ({ title }));
  const typed = typedFields(visit, { change: CHANGE });
  const fields = MODEL_LISTS.map((list) =>
    field({ ...typed(list, readModelList(part, list).join(', ')), label: words.lists[list], optional: true }),
  );
  const inputs = html`<input type="hidden" name="change" value="${CHANGE}"><input type="hidden" name="seen" value="${version}"><p class="hint">${words.text}</p>
${fields}${codeField(visit, CHANGE)}`;
  return html`<h2>${words.title}</h2>${table(words.title, columns, rows)}
${foldAway(words.change, form(visit, { action: CATALOG_PATH, button: words.save, fields: inputs }), isRefused(visit, { change: CHANGE }))}`;
}

function findAnswering({ smart, vision, defaults }: Catalog, list: ModelList): Model | undefined {
  if (list === 'vision') return vision[0];
  if (list === 'defaults.image') return defaults.image;
  if (list === 'defaults.edit') return defaults.edit;
  return smart?.models[list.slice('smart.'.length) as keyof typeof smart.models];
}

/** The part with the lists that were sent, or what is wrong with one. */
export function changeModelLists(visit: UserVisit, part: LayerPart, sent: Form): { next: LayerPart } | Refusal {
  const read = new Map<ModelList, readonly string[]>();
  for (const list of MODEL_LISTS) {
    const names = readNames(visit, list, sent.text(list));
    if ('text' in names) return { ...names, field: list };
    read.set(list, names.ids);
  }
  return { next: setModelLists(part, (list) => read.get(list) ?? []) };
}

function readNames(visit: UserVisit, list: ModelList, typed: string): { readonly ids: readonly string[] } | Refusal {
  const { services, language, format } = visit;
  const words = WORDS[language];
  const { byName } = services.catalog();
  const ids = new Set<string>();
  for (const name of typed.split(/[,;\n]/).map((part) => part.trim())) {
    if (name === '') continue;
    const model = byName.get(name);
    if (!model) return { text: words.unknown(name) };
    const wrong = findMisfit(model, list);
    if (wrong) return { text: words.wrong[wrong](name) };
    ids.add(model.id);
  }
  return ids.size > MODELS_MAX ? { text: words.many(format.number(MODELS_MAX)) } : { ids: [...ids] };
}

/** What the list needs and the model is not or cannot; undefined if it fits. */
function findMisfit(model: Model, list: ModelList): 'text' | 'vision' | 'image' | 'edit' | undefined {
  if (list === 'defaults.image') return model.type === 'image' ? undefined : 'image';
  if (list === 'defaults.edit') return model.type === 'image' && model.edits ? undefined : 'edit';
  if (model.type !== 'text') return 'text';
  return list === 'vision' && !model.vision ? 'vision' : undefined;
}
