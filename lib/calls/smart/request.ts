// The evidence in a whole request: the last user message decides, an earlier one adds weight, and the system prompt may
// give a standing order.
import { type Findings, type Reading, readMessage } from './evidence.ts';
import { has, type Instruction, isMechanical, type LinesRead } from './instruction.ts';
import { type SmartRequest, viewRequest } from './view.ts';

/** The parts of a request to be scored. */
export interface RequestParts {
  readonly prompt: string;
  /** Findings if the prompt were the given text, in its request. */
  readonly readPrompt: (text: string) => Findings;
  /** Findings if the prompt is only material for a standing order of the system prompt. */
  readonly ordered: Findings | undefined;
}

/** `judgeTier` chooses the tier of an earlier message by its findings. */
export function readRequest(request: SmartRequest, judgeTier: (findings: Findings) => string): RequestParts {
  const view = viewRequest(request);
  const around = [
    ...TURNS.filter((least) => view.turns >= least).map((least) => `turns.${least}`),
    ...VOLUMES.filter((least) => view.volume >= least).map((least) => `volume.${least}`),
    ...(request.json ? ['json.field'] : []),
  ];
  const before = view.earlier.map((text) => readMessage(text, text.length)).find(isSubstantial);
  const tier = before && judgeTier(before);
  const known: LinesRead = new Map();
  const order = view.system === '' ? undefined : readOrder(view.system);
  return {
    prompt: view.prompt,
    readPrompt(text) {
      const reading = readMessage(text, view.length - view.prompt.length + text.length, known);
      const size = reading.words <= LEANING_WORDS ? 'short' : 'long';
      const follow = tier === undefined ? [] : [`after.${tier}-${size}`];
      return { ...reading, evidence: new Set([...reading.evidence, ...around, ...follow]) };
    },
    ordered:
      order === undefined
        ? undefined
        : { ...readMessage('', 0), evidence: new Set([...listOrderEvidence(order), ...around]) },
  };
}

/** What the weights are fitted to. */
export function readFindings(request: SmartRequest, judgeTier: (findings: Findings) => string): Findings {
  const { prompt, readPrompt, ordered } = readRequest(request, judgeTier);
  return ordered ?? readPrompt(prompt);
}

export const TURNS = [2, 3, 5, 10, 20, 40];
/** Characters of a whole request. */
export const VOLUMES = [4_000, 12_000, 40_000, 120_000, 400_000];

const SUBSTANTIAL_WORDS = 3;
/** A shorter message depends on an earlier one. */
const LEANING_WORDS = 12;

function isSubstantial({ words, evidence }: Reading): boolean {
  return words >= SUBSTANTIAL_WORDS && !evidence.has('greeting.bare');
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

function listOrderEvidence(task: string): string[] {
  return [`${task}.head`, `${task}.short`, `payload.${task}`];
}
