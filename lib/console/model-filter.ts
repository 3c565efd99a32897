// The filter by model of lists of calls, which suggests the models on sale by their ids and aliases.
import { field } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    alias: (name: string, id: string) => `${name} is another name of ${id}.`,
    show: 'Show its calls',
  },
  ru: {
    alias: (name: string, id: string) => `${name} — другое название модели ${id}.`,
    show: 'Показать её запросы',
  },
});

export function modelFilterField({ services }: Visit, label: string, value: string | undefined): Html {
  const onSale = services.catalog().models.filter(({ routes }) => routes.length > 0);
  const options = onSale.flatMap(({ id, aliases }) => [
    html`<option value="${id}">`,
    ...aliases.map((alias) => html`<option value="${id}">${alias}</option>`),
  ]);
  return html`${field({ name: 'model', label, value, optional: true, list: 'models' })}
<datalist id="models">${options}</datalist>`;
}

/** Leads from an alias to its model. The list itself may have calls of a former model whose id was this name. */
export function aliasNote({ services, language, path, query }: Visit, name: string | undefined): Html | undefined {
  const id = name === undefined ? undefined : services.catalog().byName.get(name)?.id;
  if (name === undefined || id === undefined || id === name) return undefined;
  const words = WORDS[language];
  const there = new URLSearchParams([...query].filter(([key]) => key !== 'lang'));
  there.set('model', id);
  return html`<p>${words.alias(name, id)} <a href="${path}?${there.toString()}">${words.show}</a></p>`;
}
