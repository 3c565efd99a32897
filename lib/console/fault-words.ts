// Translations of the faults' messages; the English ones are in the fault table.
import type { Fault, FaultCode, FaultDetail } from '../base/faults.ts';
import { defineWords, type Language } from './language.ts';

export function faultWords(reason: Fault, language: Language): string {
  const { data, message } = reason;
  if (!data) return message;
  const { code, detail } = data;
  if (language === 'en') return ENGLISH[code] ?? message;
  const { words, refunded } = OTHERS[language];
  return words[code](detail) + (detail.refunded ? refunded : '');
}

/** Messages that differ between the pages and the API. */
const ENGLISH: Partial<Record<FaultCode, string>> = {
  not_found: 'This page does not exist.',
  invalid_key: 'The key is unknown or revoked.',
  internal: 'Something failed on our side.',
};

const unavailable = () => 'Сервис временно недоступен. Ничего не списано.';

type FaultWords = Readonly<Record<FaultCode, (detail: FaultDetail) => string>>;

const RUSSIAN: FaultWords = {
  invalid_json: () => 'Запрос не разобран: это не JSON.',
  invalid_form: () => 'Форма не разобрана.',
  invalid_field: ({ field, hint }) => `Поле ${field} заполнено неверно: ${hint}.`,
  thread_unsupported: () => 'История здесь не хранится: её присылают целиком.',
  unknown_model: ({ model }) => `Модели ${model} нет.`,
  retired_model: ({ model }) => `Модель ${model} снята.`,
  cannot_edit: ({ model }) => `Модель ${model} рисует, но не правит картинки.`,
  wrong_model_type: ({ model }) => `Модель ${model} делает другое.`,
  image_unreachable: ({ field }) => `Поле ${field}: картинку не удалось получить по открытому адресу https.`,
  image_refused: ({ field }) => `Поле ${field}: сервер картинки её не отдал.`,
  image_too_large: ({ field, hint }) => `Поле ${field}: картинка больше ${hint}.`,
  image_unsupported: ({ field }) => `Поле ${field}: это не PNG, JPEG, GIF или WebP.`,
  image_gone: ({ field }) => `Поле ${field}: ссылка на картинку неизвестна или истекла.`,
  missing_key: () => 'Не прислан ключ.',
  invalid_key: () => 'Ключ неизвестен или отозван.',
  expired_key: ({ hint }) => `Срок ключа истёк: он действовал до ${hint}.`,
  model_not_allowed: ({ model, hint }) => `Этому ключу модель ${model} не разрешена. Ему разрешены ${hint}.`,
  never_topped_up: ({ minimumRub }) => `Кошелёк ещё не пополняли. Первое пополнение — не меньше ${minimumRub} ₽.`,
  insufficient_balance: ({ isReserve, priceRub, balanceRub, heldRub }) =>
    `Не хватает денег: ${isReserve ? 'для вызова удерживается' : 'вызов стоит'} ${priceRub} ₽, а на счёте ${balanceRub} ₽.` +
    (heldRub ? ` Ещё ${heldRub} ₽ удержано идущими вызовами.` : ''),
  play_money: () =>
    'В кошельке деньги тестовых платежей, а настоящие модели за них не работают. Попросите оператора зачесть их или списать.',
  key_budget: ({ field, isReserve, priceRub, budgetRub, resetsAt }) =>
    `Бюджета ключа «${field}» не хватает: ${isReserve ? 'для вызова удерживается' : 'вызов стоит'} ${priceRub} ₽, ` +
    `а бюджет ${budgetRub} ₽${resetsAt ? ` и начнётся заново ${resetsAt}` : ' на всё время'}.`,
  account_suspended: () => 'Аккаунт приостановлен.',
  stale_form: () => 'Форма устарела. Откройте страницу снова.',
  foreign_form: () => 'Форма отправлена с другого сайта.',
  code_needed: () => 'Нужен свежий код из приложения. Вернитесь и введите его.',
  try_later: ({ retryAfterS }) => `Слишком много попыток. Повторите через ${retryAfterS} с.`,
  not_found: () => 'Такой страницы нет.',
  no_such_model: ({ model }) => `Модели ${model} нет.`,
  unknown_video: () => 'У этого аккаунта нет такого видео.',
  method_not_allowed: () => 'Так к этой странице обратиться нельзя.',
  idempotency_running: ({ retryAfterS }) => `Вызов с этим ключом повтора ещё идёт. Повторите через ${retryAfterS} с.`,
  idempotency_done: ({ charge }) => `Вызов с этим ключом повтора списан как ${charge}, а его ответ не сохранён.`,
  idempotency_mismatch: () => 'Этот ключ повтора уже использован для другого запроса.',
  body_timeout: () => 'Запрос не пришёл вовремя.',
  body_too_large: ({ hint }) => `Запрос больше ${hint}.`,
  unsupported_media_type: () => 'Запрос прислан не в том виде.',
  range_not_satisfiable: () => 'В файле нет такой части.',
  headers_too_large: () => 'Заголовки запроса слишком велики.',
  bad_http: () => 'Это не запрос HTTP.',
  rate_limited: ({ retryAfterS }) => `Слишком много запросов с этим ключом. Повторите через ${retryAfterS} с.`,
  internal: () => 'Ошибка на нашей стороне.',
  store_unavailable: ({ unconfirmed }) =>
    unconfirmed ? 'Сервис временно недоступен. Удержанное вернётся само.' : unavailable(),
  result_not_kept: () => 'Не удалось сохранить результат.',
  no_room: unavailable,
  busy: ({ retryAfterS }) => `Сейчас входит слишком много людей. Повторите через ${retryAfterS} с.`,
  images_unavailable: () => 'Картинки временно недоступны. Ничего не списано.',
  video_unavailable: () => 'Видео временно недоступно. Ничего не списано.',
  still_counting: ({ retryAfterS }) => `Эти цифры ещё подсчитываются. Повторите через ${retryAfterS} с.`,
  shutting_down: () => 'Сервис перезапускается.',
  upstream_failed: () => 'Поставщик модели не справился.',
  upstream_refused: () => 'Поставщик модели отказал в этом запросе.',
  upstream_too_long: () => 'Запрос слишком длинный для модели. Сократите его или уменьшите max_tokens.',
  upstream_content: () => 'Правила поставщика модели не допускают такой запрос. Измените его.',
  upstream_picture: () => 'Поставщик модели не смог прочитать картинку. Пришлите другую.',
  upstream_timeout: () => 'Поставщик модели не ответил вовремя.',
  upstream_truncated: () => 'Ответ поставщика модели оборвался.',
  upstream_empty: () => 'Поставщик модели вернул пустой ответ.',
  vision_unavailable: () => 'Модели, которые видят картинки, недоступны.',
};

const OTHERS: Readonly<Record<Exclude<Language, 'en'>, { readonly words: FaultWords; readonly refunded: string }>> = {
  ru: { words: RUSSIAN, refunded: ' Деньги возвращены.' },
};

const WORDS = defineWords({
  en: { bar: 'Sandbox: answers are made up, and no money is real.', home: 'To the account' },
  ru: { bar: 'Песочница: ответы придуманы на месте, деньги ненастоящие.', home: 'В аккаунт' },
});

/** What stands above every page of a sandbox. */
export function sandboxWords(language: Language): string {
  return WORDS[language].bar;
}

/** The way out of an error page. */
export function homeWords(language: Language): string {
  return WORDS[language].home;
}
