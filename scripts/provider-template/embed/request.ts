// The upstream request for vectors, and its reply.
import type { EmbeddingsFormat, Host } from '../../../lib/upstream/contract/provider.ts';

export function createFormat({ fault, fields }: Host): EmbeddingsFormat {
  return {
    body: ({ model, inputs, dimensions }) => ({ model, texts: inputs, ...(dimensions && { length: dimensions }) }),
    read(reply) {
      const { vectors, tokens, error } = fields(reply);
      if (error !== undefined) throw fault.ofComplaint({ error }, true);
      if (!Array.isArray(vectors)) throw fault.make('protocol', 'a reply without vectors');
      // In the order of the texts. Without a count the gateway estimates the tokens.
      return { vectors, ...(typeof tokens === 'number' && { inputTokens: tokens }) };
    },
  };
}
