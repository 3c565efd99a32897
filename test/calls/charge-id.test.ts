// The id of a charge, as people and programs name it.
import { expect } from 'chai';
import { isCallId, readChargeId } from '../../lib/calls/charge-id.ts';

const DIGITS = '01a22fc7fe1b62f6c34ee0066d62aaa2';

describe('the id of a charge', () => {
  for (const text of [
    `req_${DIGITS}`,
    ` req_${DIGITS}\n`,
    `chatcmpl_req_${DIGITS}`,
    `msg_req_${DIGITS}`,
    `resp_req_${DIGITS}`,
    `fc_req_${DIGITS}_0`,
    `vid_${DIGITS}`,
    `x-request-id: req_${DIGITS}, sent at 12:00`,
  ])
    it(`is read from ${JSON.stringify(text)}`, () => {
      expect(readChargeId(text)).to.equal(`req_${DIGITS}`);
      expect(isCallId(readChargeId(text))).to.equal(true);
    });

  for (const text of ['req_0f3b', `req_${DIGITS}0`, `hold_${DIGITS}`, `freq_${DIGITS}`, 'Acme', ''])
    it(`is ${JSON.stringify(text)} as it is`, () => {
      expect(readChargeId(` ${text} `)).to.equal(text);
      expect(isCallId(text)).to.equal(false);
    });
});
