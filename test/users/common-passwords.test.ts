// Passwords that anybody would try, however they are dressed up, and some that nobody would.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { findPasswordProblem, PASSWORD_LENGTH_MAX, PASSWORD_LENGTH_MIN } from '../../lib/users/password.ts';
import { cpuMs } from '../../testkit/event-loop-ticks.ts';
import { itTimed } from '../../testkit/timed.ts';

const list = readFileSync(new URL('../../lib/users/data/common-passwords.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('# '));

describe('common passwords', () => {
  it('are listed: more than 10,000 of sufficient length, in the form in which they are compared', () => {
    const long = list.filter((word) => [...word].length >= PASSWORD_LENGTH_MIN);
    expect(new Set(long).size).to.be.above(10_000);
    expect(new Set(list).size).to.equal(list.length);
    for (const word of list) expect(word, word).to.equal(word.normalize('NFKC').toLowerCase().trim());
  });

  it('are all rejected, also in upper case', () => {
    const long = list.filter((word) => [...word].length >= PASSWORD_LENGTH_MIN);
    const some = long.filter((_, at) => at % 40 === 0 || at === long.length - 1);
    for (const word of some)
      expect([findPasswordProblem(word), findPasswordProblem(word.toUpperCase())], word).to.deep.equal(COMMON_TWICE);
  });

  for (const password of [
    ...['Password123!', 'qwerty123456', 'iloveyou2024', 'letmein12345', 'admin123456', 'Welcome2024!', 'summer2024!!'],
    ...[
      'P@ssw0rd_2024',
      'p4ssw0rd!!',
      '$ecret2024!',
      '1234qwerty!',
      'dragon01011990',
      'dragon19900101',
      'monkey!2024!',
    ],
    ...['i love you 2024', 'pass-word-123', 'passwordpassword', 'adminadmin1', 'qwe123qwe123', 'Basketball1!'],
    ...['Пароль12345', 'парольпароль1', 'Наташа1990!', 'йцукен123456', 'мамочка2020!', 'Солнышко_2024'],
    // Russian words on a Latin keyboard, and the other way round.
    ...['gfhjkm12345', 'Ghbdtn2024!', 'cjkysirj123', 'зфыыцщкв123', 'йцукенйцукен1'],
    ...['tollgate2024!', 'ann.lee2024!!', 'ANN.LEE@Example.com1', 'example123456'],
    'password99999999',
    '99!monkey2024',
  ]) {
    it(`${password} is one`, () => {
      expect(findPasswordProblem(password, ['Ann.Lee@Example.com'])).to.equal('common');
    });
  }

  for (const password of [
    ...[
      'tulip-rain-oak',
      'rain and tulips',
      'zebra-kettle-4821',
      'dragon-of-the-north',
      'мой дядя самых честных правил',
    ],
    ...[
      'k3f9x0qzp2',
      'u8Yh2lpo9!q',
      'xK9#mPq2vL',
      'dragon93847261x',
      'password73920184',
      '93847261dragon',
      'жук-лампа-7',
      '雨と花と石と鳥と山と',
    ],
  ]) {
    it(`${password} is none`, () => {
      expect(findPasswordProblem(password, ['Ann.Lee@Example.com'])).to.equal(undefined);
    });
  }

  itTimed('are detected quickly even in the longest password', () => {
    for (const unit of ['a1!', '1!?-', 'ab', 'я1', 'pass word ']) {
      const before = cpuMs();
      findPasswordProblem(unit.repeat(PASSWORD_LENGTH_MAX).slice(0, PASSWORD_LENGTH_MAX), ['ann@example.com']);
      expect(cpuMs() - before, unit).to.be.below(200);
    }
  });
});

const COMMON_TWICE = ['common', 'common'];
