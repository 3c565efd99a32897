// Vectors of Yandex: one text a request, numbers of 64 bits as text.
import type { EmbeddingsFormat, Host } from '../../lib/upstream/contract/provider.ts';

/** A model is `text-search-doc/latest`; a tuned one is named by its full URI. */
export function createYandexEmbeddings(folder: string, { fault, fields }: Host): EmbeddingsFormat {
  return {
    body: ({ model, inputs: [text], dimensions }) => ({
      modelUri: model.includes('://') ? model : `emb://${folder}/${model}`,
      text,
      ...(dimensions !== undefined && { dim: `${dimensions}` }),
    }),
    read(reply) {
      const { embedding, numTokens, error } = fields(reply);
      if (error) throw fault.ofComplaint(reply, true);
      if (!Array.isArray(embedding))
        throw fault.ofComplaint(reply) ?? fault.make('protocol', 'a reply without a vector');
      return { vectors: [embedding], inputTokens: Number(numTokens) };
    },
  };
}
