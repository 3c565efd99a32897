// A first API call as shell commands, in the two formats that most SDKs speak.
import { TEXT_MINIMUM } from '../money/price.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { OwnerVisit } from './visit.ts';

const WORDS = defineWords({
  en: {
    responses: 'The same in the Responses API, which Codex and the Agents SDK use:',
    least: (minimum: string) => `A text call costs at least ${minimum}.`,
  },
  ru: {
    responses: 'То же через Responses API, которым пользуются Codex и Agents SDK:',
    least: (minimum: string) => `Запрос к текстовой модели стоит не меньше ${minimum}.`,
  },
});

/** `key` is the key itself or a placeholder. */
export function firstCallSample({ services, language, format }: OwnerVisit, key: string): Html {
  const model =
    services.catalog().models.find(({ type, routes }) => type === 'text' && routes.length > 0)?.id ?? 'smart';
  const words = WORDS[language];
  const write = (path: string, body: object) => {
    const curl = `curl ${services.publicUrl()}${path} \\
  -H 'authorization: Bearer ${key}' \\
  -H 'content-type: application/json' \\
  -d '${JSON.stringify(body)}'`;
    return html`<pre tabindex="0"><code data-copy>${curl}</code></pre>`;
  };
  return html`${write('/api/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello!' }] })}
<p>${words.responses}</p>
${write('/api/v1/responses', { model, input: 'Hello!' })}
<p class="hint">${words.least(format.rub(TEXT_MINIMUM))}</p>`;
}
