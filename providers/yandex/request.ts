// Settings of YandexGPT, and the request for one text call.
import type { AccountSettings, Host, TextCall } from '../../lib/upstream/contract/provider.ts';

export interface Settings extends AccountSettings {
  /** The origin alone. */
  readonly baseUrl: string;
  /** The folder that is billed: models are named within it. */
  readonly folder: string;
}

/** A model is `yandexgpt/latest`; a tuned one is named by its full URI. The models see no pictures. */
export function bodyOf(
  { model, system, messages, maxTokens }: TextCall,
  folder: string,
  textOf: Host['textOf'],
): string {
  const first = system ? [{ role: 'system', text: textOf(system) }] : [];
  return JSON.stringify({
    modelUri: model.includes('://') ? model : `gpt://${folder}/${model}`,
    // As text, like every 64-bit number of this API.
    completionOptions: { stream: true, maxTokens: `${maxTokens}` },
    messages: [...first, ...messages.map(({ role, content }) => ({ role, text: textOf(content) }))],
  });
}
