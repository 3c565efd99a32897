// Secrets in web addresses: a password, and parameters that vendors read keys, tokens and signatures from.

const SECRET_NAME = /key|token|secret|pass|pwd|auth|credential|^(?:sig|signature|code)$/i;
const HIDDEN = '***';

/** As they are written in the address, and as they are meant; none of a text that is no address. */
export function listAddressSecrets(text: string): readonly string[] {
  const url = URL.parse(text);
  if (!url) return [];
  const parameters = url.search.slice(1).split('&').map(splitParameter);
  const written = parameters.flatMap(([name, value]) => (SECRET_NAME.test(decodeText(name)) ? [value] : []));
  const found = [url.password, ...written].filter((secret) => secret !== '');
  return [...new Set(found.flatMap((secret) => [secret, decodeText(secret)]))];
}

/** Whether there is more than a place in the address. */
export function hasAddressSecrets(url: URL): boolean {
  return url.username !== '' || url.password !== '' || listSecretNames(url).length > 0;
}

/** An address as it may be shown. */
export function hideAddressSecrets(text: string): string {
  const url = URL.parse(text);
  if (!url) return /[@?#]/.test(text) ? HIDDEN : text;
  const names = listSecretNames(url);
  if (!hasAddressSecrets(url) && url.hash === '') return text;
  for (const name of names) url.searchParams.set(name, HIDDEN);
  if (url.username !== '' || url.password !== '') url.username = HIDDEN;
  url.password = '';
  if (url.hash !== '') url.hash = HIDDEN;
  return url.href;
}

function listSecretNames({ searchParams }: URL): readonly string[] {
  return [...searchParams.keys()].filter((name) => SECRET_NAME.test(name));
}

function splitParameter(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** As a query is read; what is not encoded well stays as it is. */
function decodeText(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
