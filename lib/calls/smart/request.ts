// The evidence in a whole request: the last user message decides, an earlier one adds weight, and the system prompt may
// give a standing order.
import { type Findings, findEvidence, type Message, readMessage } from './evidence.ts';
import { has, isMechanical, readInstruction } from './instruction.ts';
import { listReached } from './shape.ts';
import { type SmartRequest, viewRequest } from './view.ts';

/** The parts of a request to be scored. */
export interface RequestParts {
  readonly message: Message;
  /** Findings if the last message were the given one, in its request. */
  readonly find: (message: Message, carried?: readonly string[]) => Findings;
  /** Findings if the message is only material for a standing order of the system prompt. */
  readonly ordered: Findings | undefined;
}

/** `judgeTier` chooses the tier of an earlier message by its findings. */
export function readRequest(request: SmartRequest, judgeTier: (findings: Findings) => string): RequestParts {
  const view = viewRequest(request);
  const around = [
    ...listReached('turns', TURNS, view.turns),
    ...listReached('volume', VOLUMES, view.volume),
    ...(request.json ? ['json.field'] : []),
  ];
  const before = view.earlier.map((text) => findEvidence(readMessage(text))).find(isSubstantial);
  const tier = before && judgeTier(before);
  const order = readOrder(view.system);
  return {
    message: readMessage(view.prompt, view.length),
    find(message, carried = []) {
      const found = findEvidence(message);
      if (tier !== undefined) found.evidence.add(`after.${tier}-${found.evidence.has(LEANING) ? 'short' : 'long'}`);
      for (const name of [...around, ...carried]) found.evidence.add(name);
      return found;
    },
    ordered: order && { evidence: new Set([...order, ...around]), wordings: [], endsInPayload: true },
  };
}

/** What the weights are fitted to. */
export function readFindings(request: SmartRequest, judgeTier: (findings: Findings) => string): Findings {
  const { message, find, ordered } = readRequest(request, judgeTier);
  return ordered ?? find(message);
}

export const TURNS = [2, 3, 5, 10, 20, 40];
/** Characters of a whole request. */
export const VOLUMES = [4_000, 12_000, 40_000, 120_000, 400_000];

/** So short a message depends on an earlier one. */
const LEANING = 'words.12';

function isSubstantial({ evidence }: Findings): boolean {
  return !evidence.has('words.2') && !(evidence.has('bare.head') && evidence.has('greeting.ask'));
}

const ORDER_SENTENCES = 6;
const ROLES = new Set(['ты', 'вы']);
const ROLE_DISTANCE = 5;

/** The mechanical work that a system prompt orders for every message; roles and abilities are no orders. */
function readOrder(system: string): readonly string[] | undefined {
  const { asking } = readInstruction(readMessage(system).sentences);
  for (const sentence of asking.slice(0, ORDER_SENTENCES)) {
    const { task, command } = sentence.lead;
    if (task === undefined || !isMechanical(task.concept)) continue;
    if (sentence.hits.some(({ concept, at }) => concept === 'condition' && at < task.at)) continue;
    const role = (has(sentence, 'persona') || ROLES.has(sentence.tokens[0]!.word)) && task.at <= ROLE_DISTANCE;
    if (role || (command && (has(sentence, 'label', 'content', 'deictic', 'micro') || asking.length === 1)))
      return [`${task.concept}.head`, 'payload.given'];
  }
  return undefined;
}
