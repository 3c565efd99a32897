// Translations of the faults' messages; the English ones are in the fault table.
import type { Fault, FaultCode, FaultDetail } from '../base/faults.ts';
import { writeAmount } from '../money/written-amount.ts';
import { defineWords, type Language } from './language.ts';

export function faultWords(reason: Fault, language: Language): string {
  const { data, message } = reason;
  if (!data) return message;
  const { code, detail } = data;
  if (language === 'en') {
    const own = ENGLISH[code];
    return own === undefined ? message : own + (detail.refunded ? ' Charge refunded.' : '');
  }
  const { words, refunded } = OTHERS[language];
  return words[code](withRussianAmounts(detail)) + (detail.refunded ? refunded : '');
}

function withRussianAmounts(detail: FaultDetail): FaultDetail {
  const entries = Object.entries(detail).map(([name, value]) => {
    return [name, typeof value === 'string' && name.endsWith('Rub') ? writeAmount(value, 'ru') : value];
  });
  return Object.fromEntries(entries);
}

/** Messages that differ between the pages and the API. */
const ENGLISH: Partial<Record<FaultCode, string>> = {
  not_found: 'This page does not exist.',
  invalid_key: 'The key is unknown or revoked.',
  internal: 'Something went wrong on our side.',
  account_suspended: 'This account is suspended. Ask the operator of this service.',
  vision_unavailable: 'No model that understands images is available now.',
};

function toRussianSize(size = ''): string {
  return size.replace('MiB', 'МБ').replace('KiB', 'КБ');
}

/** What the pages can lead to; any other requirement is left out, because it is in English. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [/^must be from (\d+) to (\d+) for model `(.+)`$/, 'для модели $3 нужно число от $1 до $2'],
  [/^must be (\d+) for model `(.+)`$/, 'для модели $2 подходит только $1'],
  [/^must be one of (.+)$/, 'подходит одно из: $1'],
  [/^this model offers (?:only )?(.+)$/, 'у этой модели есть только $1'],
];

function toRussianHint(hint = ''): string {
  const known = HINTS.find(([pattern]) => pattern.test(hint));
  return known ? `: ${hint.replace(known[0], known[1])}` : '';
}

const describeLeft = (leftRub?: string) => (leftRub ? ` Из него осталось ${leftRub}\u00a0₽.` : '');

const unavailable = () => 'Сервис временно недоступен. Деньги не списаны.';

type FaultWords = Readonly<Record<FaultCode, (detail: FaultDetail) => string>>;

const RUSSIAN: FaultWords = {
  invalid_json: () => 'Не удалось прочитать запрос: это не JSON.',
  invalid_form: () => 'Не удалось прочитать форму.',
  invalid_field: ({ field, hint }) => `Поле ${field} заполнено неверно${toRussianHint(hint)}.`,
  thread_unsupported: () => 'История разговора здесь не хранится: отправляйте её целиком.',
  response_not_stored: () => 'Ответы здесь не хранятся: отправляйте разговор целиком.',
  unknown_model: ({ model }) => `Модель ${model} не найдена.`,
  retired_model: ({ model }) => `Модель ${model} больше не поддерживается.`,
  cannot_edit: ({ model }) => `Модель ${model} создаёт картинки, но не редактирует их.`,
  wrong_model_type: ({ model }) => `Модель ${model} для этого не предназначена.`,
  image_unreachable: ({ field }) => `Поле ${field}: не удалось загрузить картинку с публичного https-адреса.`,
  image_refused: ({ field }) => `Поле ${field}: сервер не отдал картинку по этой ссылке.`,
  image_too_large: ({ field, hint }) => `Поле ${field}: картинка больше ${toRussianSize(hint)}.`,
  image_unsupported: ({ field }) => `Поле ${field}: это не PNG, JPEG, GIF или WebP.`,
  image_gone: ({ field }) => `Поле ${field}: ссылка на картинку неизвестна или устарела.`,
  missing_key: () => 'В запросе нет ключа.',
  invalid_key: () => 'Ключ неизвестен или отозван.',
  expired_key: ({ hint }) => `Срок действия ключа истёк ${hint}.`,
  model_not_allowed: ({ model, hint }) => `Модель ${model} этому ключу не разрешена. Разрешены: ${hint}.`,
  never_topped_up: ({ minimumRub }) => `Кошелёк ещё не пополняли. Первый платёж — не меньше ${minimumRub}\u00a0₽.`,
  insufficient_balance: ({ isReserve, isLeast, priceRub, balanceRub, heldRub }) =>
    `Недостаточно денег: ${priceRub ? `${isReserve ? 'для запроса нужен резерв' : 'запрос стоит'}${isLeast ? ' не меньше' : ''} ${priceRub}\u00a0₽, а ` : ''}` +
    `на балансе ${balanceRub}\u00a0₽.` +
    (heldRub ? ` Ещё ${heldRub}\u00a0₽ в резерве под выполняющиеся запросы.` : ''),
  play_money: () =>
    'В кошельке деньги тестовых платежей: настоящие модели ими не оплатить. Попросите оператора засчитать их или списать.',
  key_budget: ({ field, isReserve, priceRub, budgetRub, resetsAt, leftRub }) =>
    `Бюджета ключа «${field}» не хватает: ${isReserve ? 'для запроса нужен резерв' : 'запрос стоит'} ${priceRub}\u00a0₽, ` +
    `а бюджет ${budgetRub}\u00a0₽${resetsAt ? `, он обновится ${resetsAt}` : ' и не обновляется'}.${describeLeft(leftRub)}`,
  user_budget: ({ field, isReserve, priceRub, budgetRub, resetsAt, leftRub }) =>
    `Бюджета ${field ? `пользователя «${field}»` : 'запросов без имени пользователя'} не хватает: ` +
    `${isReserve ? 'для запроса нужен резерв' : 'запрос стоит'} ${priceRub}\u00a0₽, ` +
    `а бюджет ${budgetRub}\u00a0₽${resetsAt ? `, он обновится ${resetsAt}` : ' и не обновляется'}.${describeLeft(leftRub)}`,
  member_budget: ({ isReserve, priceRub, budgetRub, resetsAt, leftRub }) =>
    `Лимита участника, которому принадлежит ключ, не хватает: ${isReserve ? 'для запроса нужен резерв' : 'запрос стоит'} ` +
    `${priceRub}\u00a0₽, а лимит ${budgetRub}\u00a0₽${resetsAt ? `, он обновится ${resetsAt}` : ' и не обновляется'}.${describeLeft(leftRub)} ` +
    'Увеличить его может владелец аккаунта.',
  run_budget: ({ field, isReserve, priceRub, budgetRub, leftRub }) =>
    `Бюджета запуска «${field}» не хватает: ${isReserve ? 'для запроса нужен резерв' : 'запрос стоит'} ${priceRub}\u00a0₽, ` +
    `а бюджет ${budgetRub}\u00a0₽ на 24 часа с первого запроса.${describeLeft(leftRub)}`,
  call_budget: ({ isReserve, priceRub, budgetRub }) =>
    `${isReserve ? 'Для запроса нужен резерв' : 'Запрос стоит'} ${priceRub}\u00a0₽, а \`max_cost_rub\` разрешает только ${budgetRub}\u00a0₽.`,
  account_suspended: () => 'Аккаунт приостановлен. Обратитесь к оператору сервиса.',
  member_suspended: () => 'Доступ пользователя, которому принадлежит ключ, приостановлен.',
  role_not_allowed: () => 'Ваша роль в этом аккаунте не даёт доступа к этой странице. Обратитесь к владельцу аккаунта.',
  address_not_allowed: ({ hint }) => `Этим ключом нельзя пользоваться с адреса ${hint}.`,
  too_many_calls: ({ hint }) =>
    `Слишком много одновременных запросов: не больше ${hint}. Повторите, когда один из них завершится.`,
  key_scope: ({ hint }) => `У ключа управления нет права ${hint}.`,
  stale_form: () => 'Форма устарела. Откройте страницу заново.',
  foreign_form: () => 'Форма отправлена с другого сайта.',
  code_needed: () => 'Нужен новый код из приложения. Вернитесь и введите его.',
  try_later: ({ retryAfterS }) => `Слишком много попыток. Повторите через ${retryAfterS}\u00a0с.`,
  not_found: () => 'Страница не найдена.',
  no_such_model: ({ model }) => `Модель ${model} не найдена.`,
  unknown_video: () => 'У этого аккаунта нет такого видео.',
  no_such_object: ({ hint }) => `Не найдено: ${hint}.`,
  method_not_allowed: () => 'Эта страница не поддерживает такой запрос.',
  idempotency_running: ({ retryAfterS }) =>
    `Запрос с этим ключом идемпотентности ещё выполняется. Повторите через ${retryAfterS}\u00a0с.`,
  idempotency_done: ({ charge }) =>
    `Запрос с этим ключом идемпотентности уже оплачен (${charge}), но его ответ не сохранён.`,
  idempotency_lost: () =>
    'Запрос с этим ключом идемпотентности прервался, и неизвестно, изменил ли он что-нибудь. Проверьте и отправьте его с другим ключом.',
  change_refused: ({ hint, reads }) => `${reads ? 'Ответить нельзя' : 'Ничего не изменено'}: ${hint}.`,
  idempotency_mismatch: () => 'Этот ключ идемпотентности уже использован для другого запроса.',
  body_timeout: () => 'Запрос передавался слишком долго.',
  body_too_large: ({ hint }) => `Запрос больше ${toRussianSize(hint)}.`,
  unsupported_media_type: () => 'Этот формат запроса не поддерживается.',
  no_websockets: ({ hint }) => `WebSocket не поддерживается. Отправьте ${hint} с \`stream: true\`.`,
  range_not_satisfiable: () => 'В файле нет запрошенной части.',
  headers_too_large: () => 'Заголовки запроса слишком велики.',
  bad_http: () => 'Это не HTTP-запрос.',
  rate_limited: ({ retryAfterS }) => `Слишком много запросов с этим ключом. Повторите через ${retryAfterS}\u00a0с.`,
  internal: () => 'Ошибка на нашей стороне.',
  store_unavailable: ({ unconfirmed }) =>
    unconfirmed ? 'Сервис временно недоступен. Резерв вернётся автоматически.' : unavailable(),
  change_unconfirmed: () => 'Изменение не подтверждено. Повторите запрос с тем же ключом идемпотентности.',
  result_not_kept: () => 'Не удалось сохранить результат.',
  no_room: unavailable,
  no_room_for_answer: () => 'Сейчас доставляется слишком много больших ответов. Повторите позже.',
  busy: ({ retryAfterS }) => `Слишком много одновременных входов. Повторите через ${retryAfterS}\u00a0с.`,
  images_unavailable: () => 'Генерация картинок временно недоступна. Деньги не списаны.',
  video_unavailable: () => 'Генерация видео временно недоступна. Деньги не списаны.',
  still_counting: ({ retryAfterS }) => `Данные ещё подсчитываются. Повторите через ${retryAfterS}\u00a0с.`,
  shutting_down: () => 'Сервис перезапускается.',
  upstream_failed: () => 'Модель не ответила: сбой у провайдера.',
  upstream_refused: () => 'Провайдер модели отклонил этот запрос.',
  upstream_too_long: () => 'Запрос слишком длинный для модели. Сократите его или уменьшите max_tokens.',
  upstream_content: () => 'Правила провайдера не допускают такой запрос. Измените его.',
  upstream_picture: () => 'Провайдер модели не смог прочитать картинку, или она слишком большая. Отправьте другую.',
  upstream_timeout: () => 'Провайдер модели не ответил вовремя.',
  upstream_truncated: () => 'Ответ модели оборвался.',
  upstream_image: () => 'Модель прислала повреждённую или слишком большую картинку.',
  upstream_empty: () => 'Модель вернула пустой ответ.',
  no_summary: () => 'Модель не написала сводку разговора.',
  vision_unavailable: () => 'Модели, которые распознают картинки, сейчас недоступны.',
};

const OTHERS: Readonly<Record<Exclude<Language, 'en'>, { readonly words: FaultWords; readonly refunded: string }>> = {
  ru: { words: RUSSIAN, refunded: ' Деньги возвращены.' },
};

const WORDS = defineWords({
  en: {
    bar: 'Sandbox: answers are simulated, and no money is real.',
    realBar: 'Besides the models of the sandbox there are real ones here: calls to them cost real money.',
    home: 'Go to your account',
  },
  ru: {
    bar: 'Песочница: ответы и деньги ненастоящие.',
    realBar: 'Кроме моделей песочницы здесь есть настоящие: запросы к ним стоят настоящих денег.',
    home: 'Перейти в аккаунт',
  },
});

/** Of a service that may have the sandbox. */
export interface SandboxState {
  readonly sandbox: boolean;
  /** Whether a real upstream was added beside it. */
  readonly isReal: () => boolean;
}

/** The banner on every page of a sandbox. */
export function sandboxWords(language: Language, { isReal }: Pick<SandboxState, 'isReal'>): string {
  return isReal() ? WORDS[language].realBar : WORDS[language].bar;
}

/** The link on an error page. */
export function homeWords(language: Language): string {
  return WORDS[language].home;
}
