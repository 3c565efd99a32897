// Texts of any characters for tests of properties.
import fc from 'fast-check';

/** Any character, for `fc.string({ unit })`: its own unit `binary` lists them all first, which takes two seconds. */
export const ANY_CHARACTER = fc
  .oneof(fc.nat({ max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
