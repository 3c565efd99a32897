// The part of a form that sets up an authenticator app: QR code, key and first code.
import { totpUrl } from '../users/totp.ts';
import { field } from './components.ts';
import { type Html, html } from './html.ts';
import { defineWords } from './language.ts';
import type { Visit } from './visit.ts';

const WORDS = defineWords({
  en: {
    required: 'Two-step sign-in',
    optional: 'Two-step sign-in (optional)',
    scan: 'Scan this QR code with an authenticator app, then enter the code it shows.',
    image: 'QR code',
    secret: 'Or enter this key in the app',
    code: 'Code from the app',
  },
  ru: {
    required: 'Двухэтапный вход',
    optional: 'Двухэтапный вход (по желанию)',
    scan: 'Отсканируйте QR-код в приложении-аутентификаторе и введите код, который оно покажет.',
    image: 'QR-код',
    secret: 'Или введите в приложении этот ключ',
    code: 'Код из приложения',
  },
});

interface EnrolmentParts {
  readonly secret: string;
  readonly email: string;
  /** Whether the app is required. */
  readonly must: boolean;
  readonly error: string | undefined;
}

export async function enrolment({ language }: Visit, { secret, email, must, error }: EnrolmentParts): Promise<Html> {
  const words = WORDS[language];
  // Loaded on demand: few pages need it.
  const { toString: drawCode } = await import('qrcode');
  const svg = await drawCode(totpUrl(secret, email), { type: 'svg', margin: 2 });
  const source = `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}`;
  return html`<fieldset><legend>${must ? words.required : words.optional}</legend>
<p>${words.scan}</p>
<img class="code" src="${source}" alt="${words.image}" width="180" height="180">
<p>${words.secret}: <code>${secret}</code></p>
<input type="hidden" name="secret" value="${secret}">
${field({ name: 'code', label: words.code, inputmode: 'numeric', autocomplete: 'one-time-code', optional: !must, error })}
</fieldset>`;
}
