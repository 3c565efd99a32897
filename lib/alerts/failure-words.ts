// What keeps a route from answering, in the words of people.
import type { User } from '../store/ports/users.ts';
import type { UpstreamFaultKind } from '../upstream/contract/fault.ts';

export type FailureKind = UpstreamFaultKind | 'plugin';

export const FAILURE_WORDS: Readonly<Record<User['language'], Readonly<Record<FailureKind, string>>>> = {
  en: {
    auth: 'our key is refused',
    quota: 'out of money or quota',
    rate: 'rate limit reached',
    request: 'requests are refused',
    missing: 'unknown model, path or parameter',
    timeout: 'no answer in time',
    overloaded: 'overloaded',
    server: 'errors on its side',
    network: 'no connection',
    protocol: 'answers that cannot be read',
    plugin: 'errors in its plugin',
  },
  ru: {
    auth: 'наш ключ не принят',
    quota: 'закончились деньги или квота',
    rate: 'достигнут лимит частоты запросов',
    request: 'запросы отклоняются',
    missing: 'неизвестная модель, путь или параметр',
    timeout: 'нет ответа за отведённое время',
    overloaded: 'провайдер перегружен',
    server: 'ошибки на стороне провайдера',
    network: 'нет соединения',
    protocol: 'ответы не удаётся разобрать',
    plugin: 'ошибки в плагине',
  },
};
