// Calls with images: their shapes on the wire, and a catalog with two vision models.
import { ask } from './client.ts';
import { chatCatalog } from './gateway.ts';

export const inline = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
export const part = (url: string) => ({ type: 'image_url', image_url: { url } });
export const linked = (url: string) => ({ type: 'image', source: { type: 'url', url } });
export const text = { type: 'text', text: 'What is this?' };

/** A call with a single message with this content. */
export const looking = (content: readonly object[], more: object = {}) => ({
  ...ask('', more),
  messages: [{ role: 'user', content }],
});

/** `model-a` is requested, at 1000 and 5000 RUB a million; `eye-a` answers, then `eye-b`. */
export function visionCatalog(url: string, vision: readonly string[] = ['eye-a', 'eye-b']): object {
  const { models, ...rest } = chatCatalog(url) as { models: readonly { id: string }[] };
  const eye = (id: string) => ({
    ...models[0],
    id,
    aliases: [],
    vision: true,
    routes: [{ upstream: 'up', model: `up-${id}` }],
    price: { input: '9', output: '9' },
  });
  return { ...rest, models: [...models, eye('eye-a'), eye('eye-b')], vision, smart: { lite: 'model-a' } };
}
