// What clients of each dialect hear of an answer with calls of tools.
import { type Call, joinText, type ToolDialect } from './tool-wire.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
type Json = any;

/** What a client of each dialect got. */
export interface Heard {
  readonly text: string;
  readonly calls: readonly Call[];
  readonly reason: string;
}

export const LISTENERS: Readonly<
  Record<ToolDialect, { reply(body: Json): Heard; stream(events: readonly { readonly data: Json }[]): Heard }>
> = {
  message: {
    reply: ({ content, stop_reason: reason }) => ({
      text: joinText(content.filter(({ type }: Json) => type === 'text')),
      calls: content.flatMap((block: Json) =>
        block.type === 'tool_use' ? [{ id: block.id, name: block.name, json: JSON.stringify(block.input) }] : [],
      ),
      reason,
    }),
    stream(events) {
      const blocks: { type: string; text: string; id: string; name: string; isOpen: boolean }[] = [];
      let reason = '';
      for (const { data } of events) {
        const open = blocks[data.index];
        if (data.type === 'content_block_start') {
          if (data.index !== blocks.length || blocks.some(({ isOpen }) => isOpen)) throw new Error('blocks overlap');
          blocks.push({ text: '', ...data.content_block, isOpen: true });
        } else if (data.type === 'content_block_delta') {
          if (!open?.isOpen) throw new Error('a delta outside its block');
          open.text += open.type === 'text' ? data.delta.text : data.delta.partial_json;
        } else if (data.type === 'content_block_stop' && open) open.isOpen = false;
        else if (data.type === 'message_delta') reason = data.delta.stop_reason;
      }
      return {
        text: blocks.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
        calls: blocks.flatMap(({ type, id, name, text }) => (type === 'tool_use' ? [{ id, name, json: text }] : [])),
        reason,
      };
    },
  },
  responses: {
    reply: ({ output, status: reason }) => ({
      text: output.map(({ content = [] }: Json) => joinText(content)).join(''),
      calls: output.flatMap((item: Json) =>
        item.type === 'function_call' ? [{ id: item.call_id, name: item.name, json: item.arguments }] : [],
      ),
      reason,
    }),
    stream(events) {
      const items: { type: string; text: string; id: string; name: string; isOpen: boolean }[] = [];
      for (const { data } of events) {
        const open = items[data.output_index];
        if (data.type === 'response.output_item.added') {
          const { type, call_id: id, name } = data.item;
          if (data.output_index !== items.length || items.some(({ isOpen }) => isOpen))
            throw new Error('items overlap');
          items.push({ type, text: '', id, name, isOpen: true });
        } else if (data.type.endsWith('.delta')) {
          if (!open?.isOpen) throw new Error('a delta outside its item');
          open.text += data.delta;
        } else if (data.type === 'response.output_item.done' && open) {
          const { arguments: json = joinText(data.item.content) } = data.item;
          if (json !== open.text) throw new Error('an item is not the sum of its deltas');
          open.isOpen = false;
        }
      }
      return {
        text: items.map(({ type, text }) => (type === 'message' ? text : '')).join(''),
        calls: items.flatMap(({ type, id, name, text }) =>
          type === 'function_call' ? [{ id, name, json: text }] : [],
        ),
        reason: events.at(-1)?.data.response.status,
      };
    },
  },
  chat: {
    reply: ({ choices: [{ message, finish_reason: reason }] }) => ({
      text: message.content ?? '',
      calls: (message.tool_calls ?? []).map((call: Json) => ({
        id: call.id,
        name: call.function.name,
        json: call.function.arguments,
      })),
      reason,
    }),
    stream(events) {
      let text = '';
      let reason = '';
      const calls: { id: string; name: string; json: string }[] = [];
      for (const { data } of events) {
        const [choice] = data === '[DONE]' ? [] : data.choices;
        if (!choice) continue;
        text += choice.delta.content ?? '';
        reason = choice.finish_reason ?? reason;
        for (const { index, id, function: called } of choice.delta.tool_calls ?? []) {
          calls[index] ??= { id, name: called.name, json: '' };
          (calls[index] as { json: string }).json += called.arguments;
        }
      }
      return { text, calls, reason };
    },
  },
};
