// How much thought and text is asked for: reasoning, criteria, expertise, parts, length.
import { type Collector, MECHANICAL_SIGNALS, WORK_SIGNALS } from './collector.ts';
import { type Scene, wantsProof } from './scene.ts';
import { speaksOfSelf } from './voice.ts';
import type { Work } from './work.ts';

export function detectThought(scene: Scene, signals: Collector): void {
  const { asked, told } = scene;
  if (asked.has('reasoning')) signals.add('reasoning');
  if (wantsProof(scene)) signals.add('proof');
  if (told.has('expert')) signals.add('expert', (told.get('expert') ?? 0) / 2);
  const strategic = asked.get('strategy') ?? 0;
  if (strategic > 0 && !signals.has('compose', 'logic')) signals.add('strategy', 0.5);
  if (strategic > 1) signals.add('strategy', strategic / 3);
  if (strategic > 2 && signals.has('strategy')) signals.add('criteria', strategic / 6);
  const weighing = signals.has('analysis', 'compare', 'design', 'strategy', 'advice', 'review', 'explain');
  const parts = countParts(scene);
  const criteria = asked.get('criteria') ?? 0;
  if (weighing && criteria > 0) signals.add('criteria', (criteria + parts / 3) / 2);
  const aspects = countAspects(scene);
  if (signals.has('analysis', 'compare', 'design', 'strategy') && aspects >= 2) signals.add('criteria', aspects / 4);
  if (signals.has('analysis') && isSlight(scene, signals, parts)) signals.weaken('analysis', 0.6);
  if (parts >= 4 && !signals.has(...MECHANICAL_SIGNALS)) signals.add('many_parts', (parts - 3) / 5);
}

const SLIGHT_WORDS = 14;

/** `Rate my poem`, `analyse this joke`: judged, but not by much. */
function isSlight({ instruction, told }: Scene, signals: Collector, parts: number): boolean {
  if (signals.has('criteria', 'strategy', 'expert', 'code_topic') || told.has('detailed') || parts >= 3) return false;
  return instruction.words <= SLIGHT_WORDS;
}

/** Commas after the colon of what is asked: the sides it is to be looked at from. */
function countAspects({ instruction }: Scene): number {
  let aspects = 0;
  for (const sentence of instruction.asking) {
    const { tokens } = sentence;
    if (speaksOfSelf(sentence)) continue;
    const colon = tokens.findIndex((token) => token.word === ':');
    if (colon === -1) continue;
    for (let at = colon; at < tokens.length; at++) if (tokens[at]!.word === ',' && !tokens[at]!.quoted) aspects++;
  }
  return aspects;
}

/** Commas and bullets of what is asked: the parts an answer has to cover. */
function countParts({ instruction }: Scene): number {
  let parts = 0;
  for (const sentence of instruction.asking) {
    if (sentence.bullet) parts++;
    for (const token of sentence.tokens) if (token.word === ',' && !token.quoted) parts++;
  }
  for (const sentence of instruction.context) if (sentence.bullet) parts++;
  return parts;
}

const LONG_WORDS = 900;
const EVERYDAY_WORDS = 350;
const LONG_INPUT = 1500;
const MANY_ITEMS = 20;

export function detectLength(scene: Scene, works: readonly Work[], signals: Collector): void {
  const { askedWords, askedItems, told, length } = scene;
  const mechanical = signals.has(...MECHANICAL_SIGNALS) && !signals.has(...WORK_SIGNALS);
  if (!mechanical && askedWords > EVERYDAY_WORDS) {
    signals.add('long_output', (askedWords - EVERYDAY_WORDS) / (LONG_WORDS - EVERYDAY_WORDS));
  }
  if (!mechanical && askedItems >= MANY_ITEMS) signals.add('long_output', askedItems / 60);
  const shortened = askedWords > 0 && askedWords <= EVERYDAY_WORDS;
  if (works.some((work) => work.long) && !shortened) signals.add('long_output', 0.8);
  if (shortened) signals.drop('long_form');
  if (told.has('detailed') && !mechanical) signals.add('detailed');
  if (told.has('json')) signals.add('json');
  if (length > LONG_INPUT) signals.add('long_input', length / 8000);
}
