// Settings of YandexGPT, and the request one text call becomes.
import type { AccountSettings, TextCall, TextMessage } from '../../lib/plugin/contract.ts';

export interface Settings extends AccountSettings {
  /** The origin alone. */
  readonly baseUrl: string;
  /** The folder that pays: models are named within it. */
  readonly folder: string;
}

/** A model is `yandexgpt/latest`; a tuned one is named by its whole URI. */
export function bodyOf({ model, system, messages, maxTokens }: TextCall, folder: string): string {
  return JSON.stringify({
    modelUri: model.includes('://') ? model : `gpt://${folder}/${model}`,
    // As text, like every 64-bit number of this API.
    completionOptions: { stream: true, maxTokens: `${maxTokens}` },
    messages: [...(system === undefined ? [] : [{ role: 'system', text: system }]), ...messages.map(messageOf)],
  });
}

/** The models see no pictures. */
function messageOf({ role, content }: TextMessage): object {
  return { role, text: content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n') };
}
