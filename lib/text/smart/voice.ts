// Who speaks in a sentence and of whom: the writer of himself, to the assistant, or of a thing.
import type { Sentence } from './sentences.ts';

const ME: ReadonlySet<string> = new Set(
  'i my we our me я мне мой моя мое мои мою моей моего моему моих моим меня мы нам нас наш наша наше наши нашу нашей нашего'.split(
    ' ',
  ),
);
const YOU: ReadonlySet<string> = new Set('you u ты вы тебя тебе вас вам'.split(' '));

export function isPersonal({ tokens }: Sentence): boolean {
  return tokens.some((token) => !token.quoted && ME.has(token.word));
}

/** `Can you hear me?`, `ты умеешь шутить?` */
export function addressesYou({ tokens }: Sentence): boolean {
  return tokens.some((token) => YOU.has(token.word));
}

/** `I want this in capitals: …` is a command, `my cat is ill: …` is not. */
export function speaksOfSelf({ tokens, hits }: Sentence): boolean {
  const colon = tokens.findIndex((token) => token.word === ':');
  const wants = hits.some((hit) => hit.concept === 'give' && hit.at <= 2);
  const before = colon === -1 ? tokens : tokens.slice(0, colon);
  return before.some((token, at) => ME.has(token.word) && !(wants && at === 0) && token.word !== 'me');
}
