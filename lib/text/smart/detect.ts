// The signals of one user message: what it asks for, how hard its subject is, how much it gives and wants.
import { Collector, MECHANICAL_SIGNALS, WORK_SIGNALS } from './collector.ts';
import { detectLength, detectThought } from './depth.ts';
import { settleDoubts } from './doubt.ts';
import { detectGivenText } from './given.ts';
import { detectQuestions } from './questions.ts';
import { hasCode, type Scene } from './scene.ts';
import { detectCode, detectMathematics } from './subjects.ts';
import { detectTrifles } from './trifles.ts';
import { isVague, readWorks } from './work.ts';

export function detectSignals(scene: Scene): Collector {
  const signals = new Collector();
  const works = readWorks(scene);
  for (const work of works) signals.add(work.signal, isVague(work) ? 0.5 : 1);
  detectQuestions(scene, works, signals);
  detectGivenText(scene, works, signals);
  detectCode(scene, works, signals);
  detectMathematics(scene, signals);
  detectThought(scene, signals);
  detectLength(scene, works, signals);
  detectTrifles(scene, signals);
  settle(signals);
  settleDoubts(scene, works, signals);
  if (scene.gap) fillGap(scene, signals);
  return signals;
}

const FIGURES_MIN = 5;

/** What the examples speak of is no request; a sum or a program to be filled in is work all the same. */
function fillGap(scene: Scene, signals: Collector): void {
  const figured = signals.strengthOf('math') > 0.5 || scene.figures.numbers >= FIGURES_MIN;
  if (hasCode(scene) || figured || signals.has('code', 'debug', 'proof', 'logic')) return;
  if (signals.strengthOf('compose') === 1) return;
  signals.drop('math', 'word_problem');
  signals.drop(...WORK_SIGNALS, 'long_form', 'expert', 'criteria', 'many_parts', 'chat');
  signals.add('lookup');
}

/** What one signal says about another: a question answered at length is no mere fact. */
function settle(signals: Collector): void {
  if (signals.has('greeting')) signals.drop('fact', 'define', 'closed', 'explain', 'advice', 'chat');
  const works = signals.has(...WORK_SIGNALS);
  if (works) signals.drop('fact', 'define', 'closed', 'chat', 'fragment', 'list');
  if (signals.has('code', 'debug', 'review', 'design', 'analysis', 'proof', 'math', 'long_form')) {
    signals.drop('fact', 'define', 'closed', 'list', 'small_output');
  }
  if (works) {
    signals.weaken('brief', 0.5);
    for (const name of MECHANICAL_SIGNALS) signals.weaken(name, 0.3);
  }
  if (signals.has('summarize')) signals.drop('extract');
  if (signals.has('explain', 'compare')) signals.drop('small_output');
  if (signals.has('detailed') && signals.has('fact', 'define')) {
    signals.drop('fact', 'define');
    signals.add('explain');
  }
  if (signals.has('code', 'debug', 'review')) signals.drop('choice', 'compose', 'advice', 'explain', 'fix');
}
