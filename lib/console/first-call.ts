// A first API call as a shell command.
import { TEXT_MINIMUM } from '../money/price.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: { least: (minimum: string) => `A text call costs at least ${minimum}.` },
  ru: { least: (minimum: string) => `Запрос к текстовой модели стоит не меньше ${minimum}.` },
});

/** `key` is the key itself or a placeholder. */
export function firstCallSample({ services, language, format }: OwnerVisit, key: string): Html {
  const model =
    services.catalog().models.find(({ type, routes }) => type === 'text' && routes.length > 0)?.id ?? 'smart';
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] });
  const curl = `curl ${services.publicUrl()}/api/v1/chat/completions \\
  -H 'authorization: Bearer ${key}' \\
  -H 'content-type: application/json' \\
  -d '${body}'`;
  return html`<pre tabindex="0"><code data-copy>${curl}</code></pre>
<p class="hint">${WORDS[language].least(format.rub(TEXT_MINIMUM))}</p>`;
}
