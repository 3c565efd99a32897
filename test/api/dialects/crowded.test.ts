// Requests of as many small things as a body may have: reading one must not hold up all others.
import { expect } from 'chai';
import { FORMATS, type FormatName } from '../../../lib/api/formats.ts';
import { isFault } from '../../../lib/base/faults.ts';
import { itTimed } from '../../../testkit/timed.ts';

const COUNT = 25_000;
/** It takes a tenth of that; one that looks through all for each takes ten times as much. */
const MS_MAX = 2000;

const list = <T>(make: (at: number) => T, count = COUNT): readonly T[] =>
  Array.from({ length: count }, (_, at) => make(at));
const user = { role: 'user', content: 'hi' };
const call = (id: string, name: string) => ({ id, function: { name } });
const define = (name: string) => ({ type: 'tool_definition', definition: { name } });

const BODIES: Readonly<Record<string, readonly [FormatName, object]>> = {
  'tools that a conversation adds': [
    'message',
    {
      messages: [user, { role: 'system', content: list((at) => ({ type: 'tool_addition', tool: define(`t${at}`) })) }],
    },
  ],
  'tools that a conversation removes': [
    'message',
    {
      tools: list((at) => ({ name: `t${at}` })),
      messages: [user, { role: 'system', content: list((at) => ({ type: 'tool_removal', tool: { name: `t${at}` } })) }],
    },
  ],
  'tools of an item': [
    'responses',
    { input: [user, { type: 'additional_tools', tools: list((at) => ({ type: 'function', name: `t${at}` })) }] },
  ],
  'results that name no tool of a call': [
    'chat',
    {
      messages: [
        user,
        { role: 'assistant', tool_calls: list((at) => call(`c${at}`, 'f')) },
        ...list(() => ({ role: 'function', name: 'g', content: 'r' })),
      ],
    },
  ],
  'results that name their tools from the last to the first': [
    'chat',
    {
      messages: [
        user,
        { role: 'assistant', tool_calls: list((at) => call(`c${at}`, `f${at}`)) },
        ...list((at) => ({ role: 'function', name: `f${COUNT - 1 - at}`, content: 'r' })),
      ],
    },
  ],
  'calls with one id': [
    'chat',
    {
      messages: [
        user,
        { role: 'assistant', tool_calls: list(() => call('c', 'f')) },
        ...list(() => ({ role: 'tool', tool_call_id: 'c', content: 'r' })),
      ],
    },
  ],
};

/** How long it takes to read the request or to refuse it. */
function time(format: FormatName, body: object): number {
  const from = performance.now();
  try {
    FORMATS[format].parse({ model: 'm', ...body });
  } catch (error) {
    if (!isFault(error)) throw error;
  }
  return performance.now() - from;
}

describe('a crowded request', () => {
  for (const [name, [format, body]] of Object.entries(BODIES)) {
    itTimed(`is read or refused quickly: ${name}`, () => expect(time(format, body)).to.be.below(MS_MAX)).timeout(
      60_000,
    );
  }
});
