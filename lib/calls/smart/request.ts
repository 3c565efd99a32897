// The evidence in a whole request: the last user message decides, an earlier one adds weight, and the system prompt may
// give a standing order.
import { type Reading, readMessage } from './evidence.ts';
import { has, type Instruction, isMechanical } from './instruction.ts';
import { type SmartRequest, viewRequest } from './view.ts';

/** Collects the evidence; `judgeTier` chooses the tier of an earlier message by its evidence. */
export function readRequest(request: SmartRequest, judgeTier: (evidence: ReadonlySet<string>) => string): Set<string> {
  const view = viewRequest(request);
  const order = view.system === '' ? undefined : readOrder(view.system);
  const reading = order === undefined ? readMessage(view.prompt, view.length) : undefined;
  const evidence = new Set(reading?.evidence ?? orderedEvidence(order!, view.length));
  if (view.turns > 1) evidence.add('turns.2');
  if (view.turns > 4) evidence.add('turns.5');
  if (reading === undefined || view.earlier.length === 0) return evidence;
  const before = view.earlier.map((text) => readMessage(text, text.length)).find(isSubstantial);
  if (before === undefined) return evidence;
  const tier = judgeTier(before.evidence);
  for (const place of listFollowUpPlaces(reading)) evidence.add(`after.${tier}-${place}`);
  return evidence;
}

const SUBSTANTIAL_WORDS = 3;

function isSubstantial({ words, evidence }: Reading): boolean {
  return words >= SUBSTANTIAL_WORDS && !evidence.has('greeting.bare');
}

const LEANING_WORDS = 7;
const OWN_WORDS = 20;

/** How a message continues an earlier one: its length and form, and whether it depends on it. */
function listFollowUpPlaces({ words, lead, evidence, instruction }: Reading): string[] {
  const [sentence] = [...instruction.asking, ...instruction.context];
  const pointing = sentence?.hits.some(({ concept, at }) => concept === 'follow' && at <= 2) === true;
  const size = words <= LEANING_WORDS ? 'short' : words <= OWN_WORDS ? 'middle' : 'long';
  const form = lead === 'bare' ? 'told' : sentence?.lead.question !== undefined ? 'asked' : 'ordered';
  const places = [size, `${size}-${form}`];
  if (pointing) places.push('pointing');
  if (isMechanical(lead)) places.push('handled');
  if (evidence.has('greeting.bare') || evidence.has('greeting.ask')) places.push('greeting');
  if (lead === 'change' || lead === 'complete') places.push('changed');
  return places;
}

const CONDITIONS = new Set(['if', 'when', 'unless', 'если', 'когда']);
const ORDER_SENTENCES = 6;
const ROLES = new Set(['ты', 'вы']);
const ROLE_DISTANCE = 5;

/** The mechanical work that a system prompt orders for every message; roles and abilities are no orders. */
function readOrder(system: string): string | undefined {
  const { asking, context }: Instruction = readMessage(system, system.length).instruction;
  for (const sentence of [...asking, ...context].slice(0, ORDER_SENTENCES)) {
    const { task, command } = sentence.lead;
    if (task === undefined || !isMechanical(task.concept)) continue;
    if (sentence.tokens.slice(0, task.at).some(({ word }) => CONDITIONS.has(word) || word === 'can')) continue;
    const role = (has(sentence, 'persona') || ROLES.has(sentence.tokens[0]!.word)) && task.at <= ROLE_DISTANCE;
    if (role || (command && (has(sentence, 'label', 'content', 'deictic', 'micro') || asking.length === 1)))
      return task.concept;
  }
  return undefined;
}

function orderedEvidence(task: string, length: number): string[] {
  const own = ['ask', 'head', 'handled', 'short'].map((place) => `${task}.${place}`);
  return [...own, `payload.${task}`, ...(length > 1500 ? ['length.1500'] : [])];
}
