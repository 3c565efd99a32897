// The conversation of the playground. It is stored nowhere: its turns travel in a field of the form, and the oldest are
// left out when they no longer fit.
import joi from 'joi';
import { formatRub, type Micro, parseRub } from '../../money/money.ts';

export interface Turn {
  readonly asked: string;
  /** How many images were attached. They stay in the browser, which may send them again. */
  readonly images: number;
  readonly answered: string;
  readonly model: string;
  /** In roubles. */
  readonly charged: string;
  readonly ms: number;
  readonly input: number;
  readonly output: number;
  /** The id of the call. */
  readonly call: string;
}

export interface Conversation {
  readonly turns: readonly Turn[];
  /** How many older turns were left out. */
  readonly forgotten: number;
  /** The sum of all turns in roubles, also of those left out. */
  readonly spent: string;
}

export const NO_CONVERSATION: Conversation = { turns: [], forgotten: 0, spent: '0' };

/** The form's field. */
export const CONVERSATION_FIELD = 'turns';

/** Of the field: half of what a form may have, and a page shows it twice. */
export const CONVERSATION_BYTES_MAX = 32 * 1024;

const count = joi.number().integer().min(0).required();
const text = joi.string().allow('').required();
const rub = joi
  .string()
  .pattern(/^\d{1,12}(\.\d{1,6})?$/)
  .required();

const SCHEMA = joi.object({
  turns: joi
    .array()
    .items(
      joi.object({
        asked: text,
        images: count,
        answered: text,
        model: text,
        charged: rub,
        ms: count,
        input: count,
        output: count,
        call: joi.string().max(100).required(),
      }),
    )
    .required(),
  forgotten: count,
  spent: rub,
});

/** Undefined if somebody changed the field into something else. */
export function readConversation(field: string): Conversation | undefined {
  if (field === '') return NO_CONVERSATION;
  if (Buffer.byteLength(field) > CONVERSATION_BYTES_MAX) return undefined;
  try {
    const { value, error } = SCHEMA.validate(JSON.parse(field), { convert: false });
    return error ? undefined : value;
  } catch {
    return undefined;
  }
}

export function writeConversation(conversation: Conversation): string {
  return conversation.turns.length === 0 && conversation.forgotten === 0 ? '' : JSON.stringify(conversation);
}

/** Adds a turn; leaves out the oldest that no longer fit. */
export function addTurn({ turns, forgotten, spent }: Conversation, turn: Turn): Conversation {
  const sum = formatRub(parseSum(spent) + parseSum(turn.charged));
  const all = [...turns, turn];
  let room = CONVERSATION_BYTES_MAX - countBytes({ turns: [], forgotten: forgotten + all.length, spent: sum });
  let from = all.length;
  for (; from > 0; from -= 1) {
    // With its comma.
    room -= countBytes(all[from - 1]) + 1;
    if (room < 0) break;
  }
  return { turns: all.slice(from), forgotten: forgotten + from, spent: sum };
}

function countBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

export function parseSum(roubles: string): Micro {
  return parseRub(roubles) ?? 0n;
}

interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Those that are sent again. An answer without text would be refused by some models. */
function listSentTurns({ turns }: Conversation): readonly Turn[] {
  return turns.filter(({ answered }) => answered.trim() !== '');
}

/** Two messages for each turn that is sent again. */
export function listMessages(conversation: Conversation): readonly Message[] {
  return listSentTurns(conversation).flatMap(({ asked, answered }) => [
    { role: 'user' as const, content: asked },
    { role: 'assistant' as const, content: answered },
  ]);
}

/** How many images are sent again with each turn that is sent again; `keptCalls` are the calls whose images are. */
export function countKeptImages(conversation: Conversation, keptCalls: readonly string[]): readonly number[] {
  return listSentTurns(conversation).map(({ call, images }) => (keptCalls.includes(call) ? images : 0));
}

interface TranscriptTitles {
  readonly you: string;
  readonly system: string;
}

/** As a text file. */
export function writeTranscript({ turns }: Conversation, system: string, titles: TranscriptTitles): string {
  const part = (title: string, content: string) => `## ${title}\n\n${content}\n`;
  const parts = turns.flatMap(({ asked, answered, model }) => [part(titles.you, asked), part(model, answered)]);
  return [...(system.trim() === '' ? [] : [part(titles.system, system)]), ...parts].join('\n');
}
