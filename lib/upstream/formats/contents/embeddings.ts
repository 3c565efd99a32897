// Embeddings in the contents format: several contents of one request, each with its vector.
import type { EmbeddingsFormat, Host, Vector } from '../../contract/provider.ts';
import { readFields } from '../../host/fields.ts';
import { readCount } from '../../host/token-counts.ts';
import { readVector } from '../embeddings/format.ts';

export function createContentsEmbeddings({ fault }: Pick<Host, 'fault'>): EmbeddingsFormat {
  return {
    /** Each content names the model once more, with its collection. */
    body: ({ model, inputs, dimensions }) => ({
      requests: inputs.map((text) => ({
        model: model.includes('/') ? model : `models/${model}`,
        content: { parts: [{ text }] },
        ...(dimensions !== undefined && { outputDimensionality: dimensions }),
      })),
    }),
    read(reply) {
      const { embeddings, usageMetadata, error } = readFields(reply);
      if (error) throw fault.ofComplaint(reply, true);
      if (!Array.isArray(embeddings)) {
        throw fault.ofComplaint(reply) ?? fault.make('protocol', 'a reply without a list of embeddings');
      }
      const vectors = embeddings.map((entry: unknown) => readVector(readFields(entry).values));
      if (vectors.includes(undefined)) throw fault.make('protocol', 'an embedding is not a vector');
      const inputTokens = readCount(readFields(usageMetadata).promptTokenCount);
      return { vectors: vectors as Vector[], ...(inputTokens !== undefined && { inputTokens }) };
    },
  };
}
