// What counts as the URL of an image. Nothing is fetched here; the checks of the text come before the parser, whose work
// on a long host of other letters grows with the square of its length.

const SCHEME = 'https://';
const URL_CHARACTERS_MAX = 2048;
/** Of a host's name in DNS. */
const HOST_CHARACTERS_MAX = 253;
const END_OF_HOST = /[/?#\\]/;

/** Whether a text is an https URL that something could be fetched from. */
export function isImageUrl(text: string): boolean {
  if (text.length > URL_CHARACTERS_MAX || text.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return false;
  const rest = text.slice(SCHEME.length);
  const end = rest.search(END_OF_HOST);
  if ((end === -1 ? rest.length : end) > HOST_CHARACTERS_MAX) return false;
  const url = URL.parse(text);
  // In ASCII a host of other letters is longer.
  return url !== null && url.hostname.length <= HOST_CHARACTERS_MAX;
}
