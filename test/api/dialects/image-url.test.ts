import { expect } from 'chai';
import { isImageUrl } from '../../../lib/api/dialects/image-url.ts';

describe('image url', () => {
  const label = 'a'.repeat(62);
  const name = (characters: number) => `${`${label}.`.repeat(4)}`.slice(0, characters - 2).padEnd(characters, 'b');

  const good = [
    'https://x.example/a.png',
    'HTTPS://X.EXAMPLE/A.PNG',
    'https://x.example:8443?a=b',
    'https://картинки.рф/кот.png',
    `https://${name(253)}/a.png`,
    `https://x.example/${'a'.repeat(2048 - 18)}`,
  ];
  for (const url of good) {
    it(`is ${url.slice(0, 40)} of ${url.length} characters`, () => {
      expect(isImageUrl(url)).to.equal(true);
    });
  }

  const bad = [
    '',
    'https://',
    'https:x.example/a.png',
    ' https://x.example/a.png',
    'http://x.example/a.png',
    'ftp://x.example/a.png',
    'data:image/png;base64,aGk=',
    'https://[/a.png',
    `https://${name(254)}/a.png`,
    `https://${'я'.repeat(240)}.рф/a.png`,
    `https://x.example/${'a'.repeat(2049 - 18)}`,
  ];
  for (const url of bad) {
    it(`is not ${url.slice(0, 40)} of ${url.length} characters`, () => {
      expect(isImageUrl(url)).to.equal(false);
    });
  }
});
