// `npm run bench -- --fields`: the cost of checking the fields of a chat-style body by our table, and by an equal
// joi schema, with and without its messages.
import Joi from 'joi';
import { parseChatRequest } from '../../lib/api/dialects/chat/request.ts';
import { chatFields } from '../../lib/api/dialects/chat/schema.ts';
import { checkFields } from '../../lib/api/dialects/fields.ts';

/** The CPU of a whole call in docs/performance.md. */
const CALL_MICROS = 395;
const ROUNDS = 9;
const ROUND_MS = 150;

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
const tokens = Joi.number().integer().positive().unsafe().allow(null);
const record = Joi.object().unknown(true);
const fields = {
  model: Joi.string().required(),
  messages: Joi.array().min(1).required(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  stream: Joi.boolean().allow(null),
  tools: Joi.array().allow(null),
  tool_choice: Joi.any(),
  parallel_tool_calls: Joi.boolean().allow(null),
  response_format: record.allow(null),
  reasoning_effort: Joi.valid(...efforts, null),
  stop: Joi.alternatives(Joi.string(), Joi.array()).allow(null),
};
const block = Joi.object({ type: Joi.string().required(), text: Joi.string().allow('') }).unknown(true);
const message = Joi.object({
  role: Joi.valid('user', 'assistant', 'system', 'developer', 'tool', 'function').required(),
  content: Joi.alternatives(Joi.string().allow(''), Joi.array().items(block)).allow(null),
}).unknown(true);

const options = { convert: false, abortEarly: true } as const;
const topSchema = Joi.object(fields).unknown(true).prefs(options);
const wholeSchema = Joi.object({ ...fields, messages: Joi.array().items(message).min(1).required() })
  .unknown(true)
  .prefs(options);

const turns = (count: number, content: (at: number) => unknown) =>
  Array.from({ length: count }, (_, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content: content(at) }));
const typical = {
  model: 'gpt-x-mini',
  stream: true,
  max_tokens: 500,
  temperature: 0.7,
  messages: [{ role: 'system', content: 'You are a helpful assistant.' }, ...turns(5, () => 'What is the capital?')],
};
const large = {
  ...typical,
  messages: turns(201, () => [
    { type: 'text', text: 'A paragraph of some length. '.repeat(10) },
    { type: 'text', text: 'And another.' },
  ]),
};

const WAYS: Readonly<Record<string, (body: unknown) => void>> = {
  'table of fields': (body) => void checkFields(chatFields, body),
  'joi, the same fields': (body) => assertValid(topSchema, body),
  'table and messages, read': (body) => void parseChatRequest(body),
  'joi, fields and messages, not read': (body) => assertValid(wholeSchema, body),
};

function assertValid(schema: Joi.ObjectSchema, body: unknown): void {
  const { error } = schema.validate(body);
  if (error) throw error;
}

function measure(check: (body: unknown) => void, body: unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round += 1) {
    let times = 0;
    const before = process.cpuUsage();
    const until = performance.now() + ROUND_MS;
    while (performance.now() < until) for (let at = 0; at < 20; at += 1, times += 1) check(body);
    const { user } = process.cpuUsage(before);
    best = Math.min(best, user / times);
  }
  return best;
}

for (const [name, body] of Object.entries({ typical, large })) {
  console.log(`\n${name} body, ${body.messages.length} messages, ${JSON.stringify(body).length} bytes`);
  for (const [way, check] of Object.entries(WAYS)) {
    const micros = measure(check, body);
    const share = ((100 * micros) / CALL_MICROS).toFixed(1);
    console.log(
      `${way.padEnd(36)}${micros.toFixed(2).padStart(9)} µs${share.padStart(7)} % of a call of ${CALL_MICROS} µs`,
    );
  }
}
